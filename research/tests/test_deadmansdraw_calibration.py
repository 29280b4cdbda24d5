"""What a strategy said and what came of it."""

import pytest

from cardsharp.errors import ConfigError
from research.deadmansdraw.calibration import Bin, Calibration, calibrate


def test_the_calibration_error_weighs_bins_by_their_turns() -> None:
    found = Calibration(3, (Bin(30, 0.25, 0.35), Bin(10, 0.75, 0.70)))
    assert found.error == pytest.approx((30 * 0.10 + 10 * 0.05) / 40)


def test_points_are_no_win_probability() -> None:
    with pytest.raises(ConfigError, match="no win probability"):
        calibrate("steady", "champion", matches=1, seed=1, workers=1)


def test_the_picture_has_a_point_for_each_bin() -> None:
    found = Calibration(3, (Bin(30, 0.25, 0.35), Bin(10, 0.75, 0.70)))
    drawn = found.picture("captain")
    assert drawn.title == "captain: expected calibration error 0.087"
    assert [point[:2] for point in drawn.points] == [(0.25, 0.35), (0.75, 0.70)]
    assert all(low < came < high for _, came, low, high in drawn.points)
