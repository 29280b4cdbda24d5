"""The learning curve as a picture."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from workbench.lab.selfplay import NORMAL_95
from workbench.lab.svg import Axis, Picture

BLUE = "#1f77b4"


@dataclass(frozen=True, slots=True)
class Measured:
    """Points in 100 after so many matches of training, with half the 95 % interval."""

    matches: int
    points: float
    margin: float

    @classmethod
    def of(cls, averages: Sequence[float]) -> "Measured":
        """The figure that the averages of paired matches give, from 0 to 1 each."""
        margin = NORMAL_95 * stdev(averages) / math.sqrt(len(averages))
        return cls(0, 100 * fmean(averages), 100 * margin)


def draw_curve(points: Sequence[Measured]) -> str:
    """An SVG document of the strength against the champion by matches of training."""
    low = min(5 * math.floor((point.points - point.margin) / 5) for point in points)
    last = points[-1].matches
    picture = Picture(
        "Learning from self-play",
        Axis("matches of training", 0, last, [last * part / 4 for part in range(5)]),
        Axis("points in 100 against the champion", low, 85, range(low, 86, 5)),
    )
    line = [(float(point.matches), point.points) for point in points]
    dots = [
        picture.dot(at, "#1f77b4", point.margin) for at, point in zip(line, points, strict=True)
    ]
    return picture.draw(picture.line(line, "#1f77b4"), *dots)
