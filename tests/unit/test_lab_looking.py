"""Probes and profiles of the lab."""

from collections import Counter

from support.lab_solver import Solver

from cardsharp.deadmansdraw.cards import SERVER_DECK
from workbench.deadmansdraw.lab import probes


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
