"""Probes, calibration and pictures of the lab."""

import xml.etree.ElementTree as ET
from collections import Counter

import pytest
from support.lab_solver import Solver

from cardsharp.deadmansdraw.cards import SERVER_DECK
from cardsharp.errors import ConfigError
from workbench.lab.calibration import Bin, Calibration, calibrate
from workbench.lab.probe import ask, probes
from workbench.lab.profile import ALL, Figures, profile

SVG = "{http://www.w3.org/2000/svg}"


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
    return {answer.probe.name for answer in ask(name) if not answer.is_right}


def test_the_calibration_error_weighs_bins_by_their_turns() -> None:
    found = Calibration(3, (Bin(30, 0.25, 0.35), Bin(10, 0.75, 0.70)))
    assert found.error == pytest.approx((30 * 0.10 + 10 * 0.05) / 40)


def test_points_are_no_win_probability() -> None:
    with pytest.raises(ConfigError, match="no win probability"):
        calibrate("steady", "champion", matches=1, seed=1, workers=1)


def test_the_picture_is_svg_with_a_dot_for_each_bin() -> None:
    found = Calibration(3, (Bin(30, 0.25, 0.35), Bin(10, 0.75, 0.70)))
    root = ET.fromstring(found.picture("a <name> & more"))  # noqa: S314 (our own text)
    dots = [(float(dot.get("cx", 0)), float(dot.get("cy", 0))) for dot in root.iter(f"{SVG}circle")]
    assert len(dots) == 2
    assert dots[0][0] < dots[1][0]
    assert dots[0][1] > dots[1][1], "what came more often stands higher"
    assert any("a <name> & more" in (text.text or "") for text in root.iter(f"{SVG}text"))


def test_figures_are_mean_95th_percentile_and_maximum() -> None:
    assert Figures.of([float(n) for n in range(1, 101)]) == Figures(100, 50.5, 96.0, 100.0)


def test_a_profile_looks_at_choices_of_all_kinds() -> None:
    told: list[int] = []
    found = profile("champion", "third", 60, 1, lambda: told.append(1))
    assert found.milliseconds[ALL].number == len(told) == 60
    kinds = set(found.milliseconds) - {ALL}
    assert {"draw or stop", "Oracle"} <= kinds
    assert "Kraken" not in kinds, "a Kraken leaves no choice"
    assert sum(found.milliseconds[kind].number for kind in kinds) == 60
