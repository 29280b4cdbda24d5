"""Tests that strategy files of version 0.2 still play, with deprecation warnings.

`samples/strategies_0_2` has the output of `cardsharp new` of 0.2 for each game.
"""

import importlib
from pathlib import Path

import pytest
from support.cli import Cli

from cardsharp.games.euchre import cards
from cardsharp_tools.executors import deprecated_names

SAMPLES = Path(__file__).parents[1] / "samples" / "strategies_0_2"


@pytest.mark.parametrize("game", ["deadmansdraw", "blef", "euchre"])
def test_a_strategy_file_of_0_2_plays(game: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of version 0.2 plays a duel; the lab stops at the first failure of a file."""
    duel = ["lab", "duel", "--game", game, str(SAMPLES / f"{game}.py"), "random", "-n", "1"]
    duel += ["--workers", "1"]
    monkeypatch.setenv("CARDSHARP_NATIVE", "0")
    result = cli(*duel)
    assert result.code == 0, result.err


def test_an_old_import_path_warns_with_the_new_module_name() -> None:
    deprecated_names.install()
    with pytest.warns(
        DeprecationWarning, match=r"is called cardsharp\.games\.euchre\S* since 0\.3\.0"
    ):
        old_module = importlib.import_module("cardsharp.euchre.cards")
    assert old_module.parse is cards.parse_card
