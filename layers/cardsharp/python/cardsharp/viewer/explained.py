"""The analysis of a match as its page shows it: a curve, both players, and each decision's cost."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from cardsharp.analysis import Analysis, Judged, analyse, side_names
from cardsharp.errors import ConfigError
from cardsharp.replay import Asked, Header
from cardsharp.strategy import percent
from cardsharp.viewer.shown import DrawnMatch


@dataclass(frozen=True, slots=True)
class Explained:
    """An analysis beside the match; `decisions` are by the number of their step, from 1."""

    analysis: Analysis
    header: Header
    decisions: Mapping[int, Judged]

    @property
    def sides(self) -> tuple[str, str]:
        """What the sides are called."""
        return side_names(self.analysis, self.header)

    @property
    def marked(self) -> list[tuple[int, Judged]]:
        """The decisions that have a mark."""
        return [(number, one) for number, one in self.decisions.items() if one.mark is not None]

    @property
    def heights(self) -> list[int]:
        """What the match was worth to the first side after each step, from 0 for nothing to 100.

        Chances are of 1, points of what lies between the two extremes.
        """
        worths = [point.worth for point in self.analysis.curve]
        if self._is_chance:
            return [round(100 * worth) for worth in worths]
        most = max((abs(worth) for worth in worths), default=0.0) or 1.0
        return [round(50 + 50 * worth / most) for worth in worths]

    @property
    def worths(self) -> list[str]:
        """The same in words."""
        return [self.worded(point.worth) for point in self.analysis.curve]

    def worded(self, figure: float) -> str:
        """A figure in the judge's unit."""
        return percent(figure) if self._is_chance else f"{figure:.2f}"

    def amount(self, figure: float) -> str:
        """A difference in the judge's unit, with its sign."""
        told = self.worded(abs(figure))
        return f"{'-' if figure < 0 else '+'}{told}" if told.strip("0. %") else told

    @property
    def _is_chance(self) -> bool:
        return self.analysis.form.endswith("%")


def explained(
    match: DrawnMatch, following: Callable[[list[Asked]], Iterable[Asked]] = iter
) -> Explained | None:
    """The analysis of a match; None where nobody judges its game, or nothing in it.

    `following` hands on the decisions one by one as it likes. Raises `StoreError` if the log cannot
    be read.
    """
    try:
        analysis = analyse(match.game, match.record, match.moves, following)
    except ConfigError:
        return None
    numbers = {frame.step.sequence: number for number, frame in enumerate(match.frames, 1)}
    decisions = {numbers[one.sequence]: one for one in analysis.decisions}
    return Explained(analysis, match.header, decisions)
