"""Probes and profiles of the lab."""

from collections import Counter

from support.lab_solver import Solver

from cardsharp.deadmansdraw.cards import SERVER_DECK
from workbench.deadmansdraw.lab import probes
from workbench.lab import probe as probing
from workbench.lab.plan import Plan
from workbench.lab.profile import ALL, DecisionTimes, profile


def test_a_probe_is_a_position_that_can_be_played() -> None:
    """No card twice, and every right answer is legal; an Oracle's card lies in the pile."""
    names = Counter(probe.name for probe in probes())
    assert names.most_common(1)[0][1] == 1
    for probe in probes():
        position = probe.position()
        table = [*probe.own, *probe.other, *probe.area, *probe.discard, *probe.unseen]
        offered = [card for card in probe.offered if card not in probe.unseen]
        assert len({*table, *offered}) == len(table) + len(offered), probe.name
        assert set(table) <= set(SERVER_DECK)
        legal = {str(action) for action in position.legal_actions()}
        assert set(probe.right) <= legal, probe.name
        assert len(legal) > 1, probe.name


def test_the_right_answers_are_right() -> None:
    """By perfect play over every order of the unseen cards and every pick: the only best ones."""
    for probe in probes():
        values = Solver().values(probe.position())
        best = max(values.values())
        assert {a for a, value in values.items() if best - value < 1e-9} == set(probe.right), probe


def test_the_probes_tell_players_apart() -> None:
    """A player by points gambles where a match is won, and the champion never counts cards."""
    wrong = {name: _wrong(name) for name in ("steady", "champion", "captain")}
    assert "a won match is not risked for more points" in wrong["steady"]
    assert "the one unseen card busts" not in wrong["steady"]
    assert wrong["captain"] == set()
    assert len(wrong["steady"]) < len(wrong["champion"])


def _wrong(name: str) -> set[str]:
    found = probing.probe(Plan(first=name, second="champion", pairs=0))
    return {answer.name for answer in found.answers if not answer.is_right}


def test_figures_are_mean_95th_percentile_and_maximum() -> None:
    assert DecisionTimes.of([float(n) for n in range(1, 101)]) == DecisionTimes(
        100, 50.5, 96.0, 100.0
    )


def test_a_profile_looks_at_choices_of_all_kinds() -> None:
    told: list[int] = []
    found = profile(Plan(first="champion", second="third", pairs=60), lambda: told.append(1))
    assert found.milliseconds[ALL].number == len(told) == 60
    kinds = set(found.milliseconds) - {ALL}
    assert {"draw or stop", "Oracle"} <= kinds
    assert "Kraken" not in kinds, "a Kraken leaves no choice"
    assert sum(found.milliseconds[kind].number for kind in kinds) == 60
