"""The analysis of a match as its page shows it: a curve, both players, and each decision's cost."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from cardsharp.analysis.action_labels import action_labels, label_analysis
from cardsharp.analysis.judged_match import JudgedDecision, MatchAnalysis
from cardsharp.analysis.match_analysis import analyse, side_names
from cardsharp.analysis.replay import DecisionPoint, Header
from cardsharp.errors import ConfigError
from cardsharp.pages.rendered_match import RenderedMatch
from cardsharp.play.strategy import format_percent

_SMALLEST_PERCENTAGE = 0.005  # a smaller chance would be rounded to 0 %


@dataclass(frozen=True, slots=True)
class AnalysisView:
    """Analysis of a match for its page; `decisions` are by the number of their step, from 1."""

    analysis: MatchAnalysis
    header: Header
    decisions: Mapping[int, JudgedDecision]

    @property
    def side_names(self) -> tuple[str, str]:
        """Names of the two sides."""
        return side_names(self.analysis, self.header)

    @property
    def mistakes(self) -> list[tuple[int, JudgedDecision]]:
        """The decisions that have a mark."""
        return [
            (step_number, decision)
            for step_number, decision in self.decisions.items()
            if decision.mark is not None
        ]

    @property
    def curve_percentages(self) -> list[int]:
        """Value of the match for the first side after each step, from 0 to 100.

        Chances are shown in per cent. Points are scaled so that the largest absolute value
        reaches an end.
        """
        worths = [point.worth for point in self.analysis.curve]
        if self.is_probability:
            return [round(100 * worth) for worth in worths]
        max_value = max((abs(worth) for worth in worths), default=0.0) or 1.0
        return [round(50 + 50 * worth / max_value) for worth in worths]

    @property
    def curve_values_as_text(self) -> list[str]:
        """Value of the match for the first side after each step, as text in the judge's unit."""
        return [self.format_value(point.worth) for point in self.analysis.curve]

    def format_value(self, value: float) -> str:
        """A figure in the judge's unit."""
        text = format_percent(value) if self.is_probability else f"{value:.2f}"
        return text.replace("-", "\N{MINUS SIGN}")

    def format_difference(self, value: float) -> str:
        """A difference in the judge's unit, with its sign."""
        text = self.format_value(abs(value))
        sign = "\N{MINUS SIGN}" if value < 0 else "+"
        return f"{sign}{text}" if text.strip("0. %") else text

    def format_rounded(self, value: float) -> str:
        """A figure for a sentence: a chance in whole per cent, points with one decimal."""
        if not self.is_probability:
            return f"{value:.1f}".replace("-", "\N{MINUS SIGN}")
        if 0 < value < _SMALLEST_PERCENTAGE:
            return "less than 1 %"
        return f"{100 * value:.0f} %"

    @property
    def is_probability(self) -> bool:
        """True if the judge's values are chances to win, and not points."""
        return self.analysis.form.endswith("%")


def build_analysis_view(
    match: RenderedMatch, progress: Callable[[list[DecisionPoint]], Iterable[DecisionPoint]] = iter
) -> AnalysisView | None:
    """Return the analysis of a match; None if nothing in it can be judged.

    `progress` wraps the decisions to evaluate, for example to show a progress bar. Raises
    `StoreError` if the log cannot be read.
    """
    try:
        analysis = label_analysis(
            analyse(match.game, match.record, match.moves, progress), action_labels(match.game)
        )
    except ConfigError:
        return None
    step_numbers = {
        frame.step.sequence: step_number for step_number, frame in enumerate(match.steps, 1)
    }
    decisions = {step_numbers[decision.sequence]: decision for decision in analysis.decisions}
    return AnalysisView(analysis, match.header, decisions)
