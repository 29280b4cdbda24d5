"""The analysis of a match in a terminal: who played how well, the curve, the worst decisions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cardsharp.analysis import Analysis, Judged, Mark, side_names, side_of
from cardsharp.replay import Header
from workbench.show.drawing import amount, signed_amount
from workbench.show.output import plain_table

_ROWS = 6
_BLOCKS = " ▁▂▃▄▅▆▇█"
_MARGIN = 9  # columns left of the curve

_PLURAL = {Mark.INACCURACY: "inaccuracies", Mark.MISTAKE: "mistakes", Mark.BLUNDER: "blunders"}
_STYLES = {Mark.INACCURACY: "yellow", Mark.MISTAKE: "bright_red", Mark.BLUNDER: "bold red"}


@dataclass(frozen=True, slots=True)
class Analysed:
    """An analysis, and whose it is: the sides' names, and which of them is told first."""

    analysis: Analysis
    names: tuple[str, str]
    first: int = 0

    @classmethod
    def of(cls, analysis: Analysis, header: Header) -> "Analysed":
        """Ours is told first, where one side is ours; partners are named together."""
        one, two = side_names(analysis, header)
        names = (f"{one} (first)", f"{two} (second)") if one == two else (one, two)
        return cls(analysis, names, 1 if our_sides(analysis, header) == {1} else 0)

    @property
    def order(self) -> tuple[int, int]:
        """The sides as they are told."""
        return self.first, 1 - self.first

    @property
    def hero(self) -> str:
        """Who is told first."""
        return self.names[self.first]

    def change(self, change: float) -> str:
        """A change of worth as the side told first has it, with its sign."""
        return self.signed(change if self.first == 0 else -change)

    def signed(self, value: float) -> str:
        """A worth with its sign."""
        return signed_amount(self.analysis.form, value)

    def amount(self, value: float) -> str:
        """A worth."""
        return amount(self.analysis.form, value)


def our_sides(analysis: Analysis, header: Header) -> set[int]:
    """The sides that we played: as the header says, else those whose reasons the log has."""
    return {side_of(seat) for seat in header.seats} or {*analysis.reasoned}


def print_analysis(console: Console, shown: Analysed) -> None:
    """The whole report."""
    console.print()
    console.print(_players(shown))
    console.print()
    console.print(_sum(shown), soft_wrap=True)
    console.print()
    console.print(f"{shown.analysis.unit}, {shown.hero}", style="dim")
    for line in curve(shown, min(console.width, 80) - _MARGIN):
        console.print(line)
    console.print()
    _print_marked(console, shown)
    console.print()
    console.print("the biggest swings", style="bold")
    console.print(_swings(shown, shown.analysis.swings()))
    console.print()
    judge = shown.analysis.judge
    itself = f"; it finds no fault with {judge}'s own choices" if judge in shown.names else ""
    console.print(f"judged by {judge}{itself}; docs/analysis.md says how", style="dim")


def _players(shown: Analysed) -> Table:
    analysis, order = shown.analysis, shown.order
    players = [analysis.players[side] for side in order]
    table = Table(box=None, padding=(0, 3, 0, 0), pad_edge=False)
    table.add_column("")
    for side in order:
        table.add_column(shown.names[side], justify="right", header_style="bold")
    shares = (one.accuracy for one in players)
    table.add_row("accuracy", *("-" if one is None else f"{one:.1f} %" for one in shares))
    table.add_row("skill", *(shown.signed(player.skill) for player in players))
    table.add_row("luck", *(shown.signed(player.luck) for player in players))
    less_luck = [one for one in map(analysis.less_luck, order) if one is not None]
    if less_luck:
        table.add_row("less luck", *map(shown.amount, less_luck))
    for mark, name in _PLURAL.items():
        table.add_row(name, *(str(player.marks[mark]) for player in players))
    for name, counts in analysis.counts.items():
        table.add_row(name, *(str(counts[side]) for side in order))
    return table


def _sum(shown: Analysed) -> str:
    """How the result came about: where it began, the cards, and either side's decisions."""
    analysis, (ours, theirs) = shown.analysis, shown.order
    end = "result" if analysis.result is not None else "now"
    misjudged = f"{shown.change(analysis.misjudged)} misjudged, " if analysis.misjudged else ""
    return (
        f"{shown.amount(analysis.worth(ours, analysis.start))} at the start, "
        f"{shown.signed(analysis.players[ours].luck)} by the cards, {misjudged}"
        f"{shown.signed(analysis.players[ours].skill)} by {shown.names[ours]}, "
        f"{shown.signed(-analysis.players[theirs].skill)} by {shown.names[theirs]}: "
        f"{end} {shown.amount(analysis.worth(ours, analysis.end))}"
    )


def curve(shown: Analysed, width: int) -> Iterator[str]:
    """The worth after each step, as lines of blocks, with a scale at the left."""
    analysis = shown.analysis
    worths = [analysis.worth(shown.first, point.worth) for point in analysis.curve]
    low, high = 0.0, analysis.total
    if low == high:  # points that one side loses to the other
        high = max(1.0, *map(abs, worths))
        low = -high
    columns = [worths[at * len(worths) // width] for at in range(width)]
    heights = [round((worth - low) / (high - low) * 8 * _ROWS) for worth in columns]
    scale = {0: high, _ROWS // 2: (low + high) / 2, _ROWS - 1: low}
    for row in range(_ROWS):
        below = 8 * (_ROWS - 1 - row)
        blocks = "".join(_BLOCKS[max(0, min(height - below, 8))] for height in heights)
        label = shown.amount(scale[row]) if row in scale else ""
        yield f"{label:>{_MARGIN - 1}} {blocks}".rstrip()


def _print_marked(console: Console, shown: Analysed) -> None:
    marked = shown.analysis.marked()
    if not marked:
        console.print("No inaccuracy, no mistake, no blunder.")
        return
    console.print("inaccuracies, mistakes and blunders", style="bold")
    for one in marked:
        name, (kept, best) = shown.names[side_of(one.seat)], shown.analysis.kept(one)
        rather = ("; ", (one.best, "bold"), f" would have kept {shown.amount(best)}")
        head = Text.assemble(
            (f"turn {one.turn}, {name}: ", "dim"),
            (str(one.mark), _STYLES.get(one.mark or Mark.MISTAKE, "")),
            ". ",
            (one.action, "bold"),
            f" kept {shown.amount(kept)}",
            *(rather if one.best != one.action else ()),
            ".",
        )
        console.print(head)
        console.print(Text(f"    {one.reason}", style="dim"), soft_wrap=True)


def _swings(shown: Analysed, swings: Sequence[Judged]) -> Table:
    figures = (f"for {shown.hero}", "by the cards")
    table = plain_table("turn", "who", "what happened", *figures, right=("turn", *figures), gap=1)
    table.columns[1].max_width, table.columns[1].overflow = 20, "fold"
    for one in swings:
        who, changes = shown.names[side_of(one.seat)], map(shown.change, (one.change, one.luck))
        table.add_row(str(one.turn), who, one.happened, *changes)
    return table
