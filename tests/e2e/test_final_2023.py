"""The final of 2023 comes with the program: 55 : 51 in 18 turns, by our rules as by its arena's."""

import pytest
from support.cli import Cli


def test_the_final_is_shown_without_any_log(cli: Cli) -> None:
    assert "both seats, 55 : 51, in 18 turns" in cli("show", "final-2023").out
    assert "Turn 3 was not decided by us but by Pathormous" in cli("why", "final-2023", "3").err


@pytest.mark.parametrize("columns", [60, 80])
def test_narrow_terminals_break_names_and_lose_no_figure(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = cli("show", "final-2023").out.splitlines()
    assert max(map(len, shown)) <= columns
    assert [line.split()[-1] for line in shown[-6:-2:2]] == ["55", "51"]
    assert "\N{HORIZONTAL ELLIPSIS}" not in cli("analyse", "final-2023").out


def test_its_analysis_adds_up_to_its_result(cli: Cli) -> None:
    """Each of its decisions is judged on the position that our rules make of the events."""
    found = cli("analyse", "final-2023", "--json").json()["analysis"]
    first, second = found["players"]
    assert found["result"] == 1.0
    total = found["start"] + found["luck"] + found["misjudged"] + first["skill"] - second["skill"]
    assert total == pytest.approx(1.0)
