"""The analysis of a match in a terminal: who played how well, the curve, the worst decisions."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cardsharp.analysis.judged_match import JudgedDecision, MatchAnalysis, Severity, side_of
from cardsharp.analysis.match_analysis import our_sides, side_names
from cardsharp.analysis.replay import Header
from cardsharp.pages.analysis_view import AnalysisView
from cardsharp.pages.match_review import ReviewedPart, build_match_review, turn_word_of
from cardsharp_tools.cli.console import borderless_table, print_command
from cardsharp_tools.terminal.match_printer import judge_value_text, signed_value_text

_CURVE_HEIGHT = 6
_BLOCK_CHARS = " ▁▂▃▄▅▆▇█"
_CURVE_MARGIN = 9  # columns left of the curve

_PLURAL = {
    Severity.INACCURACY: "inaccuracies",
    Severity.MISTAKE: "mistakes",
    Severity.BLUNDER: "blunders",
}
_SEVERITY_STYLES = {
    Severity.INACCURACY: "yellow",
    Severity.MISTAKE: "bright_red",
    Severity.BLUNDER: "bold red",
}


@dataclass(frozen=True, slots=True)
class AnalysisReport:
    """Analysis of a match with the sides' names, and the side that is listed first."""

    analysis: MatchAnalysis
    names: tuple[str, str]
    header: Header
    first_side: int = 0

    @classmethod
    def from_header(cls, analysis: MatchAnalysis, header: Header) -> "AnalysisReport":
        """Return the report; our side is first, and partners are named together."""
        first_name, second_name = side_names(analysis, header)
        names = (
            (f"{first_name} (first)", f"{second_name} (second)")
            if first_name == second_name
            else (first_name, second_name)
        )
        return cls(analysis, names, header, 1 if our_sides(analysis, header) == {1} else 0)

    @property
    def side_order(self) -> tuple[int, int]:
        """Indexes of the sides in the order of the report."""
        return self.first_side, 1 - self.first_side

    @property
    def first_side_name(self) -> str:
        """Name of the side that is listed first."""
        return self.names[self.first_side]

    def change_text(self, change: float) -> str:
        """Return a change of the value, with its sign, for the side listed first."""
        return self.signed_text(change if self.first_side == 0 else -change)

    def signed_text(self, value: float) -> str:
        """Return a judge's value with its sign."""
        return signed_value_text(self.analysis.form, value)

    def value_text(self, value: float) -> str:
        """Return a judge's value as text."""
        return judge_value_text(self.analysis.form, value)


def print_review(
    console: Console,
    report: AnalysisReport,
    match_ref: str | None,
    step_numbers: Mapping[int, int],
    chapter: str,
) -> None:
    """Print what decided a match of a person, lessons, and what luck and decisions did.

    `match_ref` names the match for `versus`, which plays on from a lesson; None if it cannot.
    """
    decisions = {
        step_numbers[decision.sequence]: decision for decision in report.analysis.decisions
    }
    view = AnalysisView(report.analysis, report.header, decisions)
    part = ReviewedPart(view, "", report.first_side, turn_word=turn_word_of(chapter))
    review = build_match_review([part])
    if review is None:
        return
    console.print()
    console.print(review.turning_point.text, style="bold")
    for lesson in review.lessons:
        console.print()
        console.print(f"{lesson.text} {lesson.reason}".rstrip())
        if match_ref is not None:
            branch_point = shlex.quote(f"{match_ref}@{lesson.step_number}")
            print_command(f"versus --from-position {branch_point}", console=console)
    console.print()
    console.print(review.luck_text)
    console.print(review.decisions_text)


def print_analysis(console: Console, analysis: AnalysisReport) -> None:
    """Print the complete report."""
    console.print()
    console.print(_build_players_table(analysis))
    console.print()
    console.print(_explain_result(analysis), soft_wrap=True)
    console.print()
    console.print(f"{analysis.analysis.unit}, {analysis.first_side_name}", style="dim")
    for line in value_curve_lines(analysis, min(console.width, 80) - _CURVE_MARGIN):
        console.print(line)
    console.print()
    _print_mistakes(console, analysis)
    console.print()
    console.print("the biggest swings", style="bold")
    console.print(_build_swings_table(analysis, analysis.analysis.largest_swings()))
    console.print()
    judge = analysis.analysis.judge
    itself = ", which counts its own choices as right" if judge in analysis.names else ""
    console.print(f"judged by {judge}{itself}; docs/analysis.md explains how", style="dim")


def _build_players_table(report: AnalysisReport) -> Table:
    analysis, side_order = report.analysis, report.side_order
    players = [analysis.players[side] for side in side_order]
    table = Table(box=None, padding=(0, 3, 0, 0), pad_edge=False)
    table.add_column("")
    for side in side_order:
        table.add_column(report.names[side], justify="right", header_style="bold")
    shares = (player.accuracy for player in players)
    table.add_row(
        "accuracy", *("\N{EN DASH}" if share is None else f"{share:.1f} %" for share in shares)
    )
    table.add_row("skill", *(report.signed_text(player.skill) for player in players))
    table.add_row("luck", *(report.signed_text(player.luck) for player in players))
    less_luck = [
        value for value in map(analysis.luck_adjusted_result, side_order) if value is not None
    ]
    if less_luck:
        table.add_row("luck-adjusted", *map(report.value_text, less_luck))
    for mark, name in _PLURAL.items():
        table.add_row(name, *(str(player.marks[mark]) for player in players))
    for name, counts in analysis.counts.items():
        table.add_row(name, *(str(counts[side]) for side in side_order))
    return table


def _explain_result(report: AnalysisReport) -> str:
    """Return how the result came about: by the start, the cards, and each side's decisions."""
    analysis, (side, other_side) = report.analysis, report.side_order
    end = "result" if analysis.result is not None else "now"
    misjudged = (
        f"{report.change_text(analysis.unexplained)} misjudged, " if analysis.unexplained else ""
    )
    return (
        f"{report.value_text(analysis.value_for(side, analysis.start))} at the start, "
        f"{report.signed_text(analysis.players[side].luck)} by the cards, {misjudged}"
        f"{report.signed_text(analysis.players[side].skill)} by {report.names[side]}, "
        f"{report.signed_text(-analysis.players[other_side].skill)} by {report.names[other_side]}: "
        f"{end} {report.value_text(analysis.value_for(side, analysis.end))}"
    )


def value_curve_lines(report: AnalysisReport, width: int) -> Iterator[str]:
    """Yield lines of a block chart of the value at each step, with a scale at the left."""
    analysis = report.analysis
    worths = [analysis.value_for(report.first_side, point.worth) for point in analysis.curve]
    low, high = 0.0, analysis.total
    if low == high:  # points that one side loses to the other
        high = max(1.0, *map(abs, worths))
        low = -high
    columns = [worths[at * len(worths) // width] for at in range(width)]
    heights = [round((worth - low) / (high - low) * 8 * _CURVE_HEIGHT) for worth in columns]
    scale = {0: high, _CURVE_HEIGHT // 2: (low + high) / 2, _CURVE_HEIGHT - 1: low}
    for row in range(_CURVE_HEIGHT):
        below = 8 * (_CURVE_HEIGHT - 1 - row)
        blocks = "".join(_BLOCK_CHARS[max(0, min(height - below, 8))] for height in heights)
        label = report.value_text(scale[row]) if row in scale else ""
        yield f"{label:>{_CURVE_MARGIN - 1}} {blocks}".rstrip()


def _print_mistakes(console: Console, report: AnalysisReport) -> None:
    marked = report.analysis.mistakes()
    if not marked:
        console.print("No inaccuracy, no mistake, no blunder.")
        return
    console.print("inaccuracies, mistakes and blunders", style="bold")
    for decision in marked:
        name, (chosen_value, best) = (
            report.names[side_of(decision.seat)],
            report.analysis.chosen_and_best_value(decision),
        )
        rather = ("; ", (decision.best, "bold"), f" would have kept {report.value_text(best)}")
        head = Text.assemble(
            (f"turn {decision.turn}, {name}: ", "dim"),
            (str(decision.mark), _SEVERITY_STYLES.get(decision.mark or Severity.MISTAKE, "")),
            ". ",
            (decision.action, "bold"),
            f" kept {report.value_text(chosen_value)}",
            *(rather if decision.best != decision.action else ()),
            ".",
        )
        console.print(head)
        console.print(Text(f"    {decision.reason}", style="dim"), soft_wrap=True)


def _build_swings_table(report: AnalysisReport, swings: Sequence[JudgedDecision]) -> Table:
    value_columns = (f"for {report.first_side_name}", "by the cards")
    table = borderless_table(
        "turn",
        "who",
        "what happened",
        *value_columns,
        right_aligned=("turn", *value_columns),
        column_gap=1,
    )
    table.columns[1].max_width, table.columns[1].overflow = 20, "fold"
    for swing in swings:
        name, changes = (
            report.names[side_of(swing.seat)],
            map(report.change_text, (swing.value_change, swing.luck)),
        )
        table.add_row(str(swing.turn), name, swing.happened, *changes)
    return table
