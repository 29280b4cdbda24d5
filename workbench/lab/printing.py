"""What the lab's commands print: tables for people, documents for programs."""

from collections.abc import Callable

from rich.table import Table

from workbench.lab.league import League
from workbench.lab.probe import LabProbed
from workbench.lab.profile import Profile
from workbench.show.output import plain_table, results


def league_document(table: League) -> dict[str, object]:
    """The figures of a league, each a row of players against the columns."""
    numbers = range(len(table.players))
    figures: dict[str, Callable[[int, int], float]] = {
        "points": table.points,
        "lower": lambda row, column: table.interval(row, column).low,
        "upper": lambda row, column: table.interval(row, column).high,
        "margins": lambda row, column: table.interval(row, column).margin,
    }
    cells = {
        name: [[None if a == b else round(of(a, b), 2) for b in numbers] for a in numbers]
        for name, of in figures.items()
    }
    return {"players": list(table.players), **cells}


def cross_table(table: League) -> Table:
    """The cross table of a league, the best first."""
    figures = (*(table.players[column] for column in table.ranking), "mean")
    shown = plain_table("", *figures, right=figures)
    for row in table.ranking:
        cells = ["-" if row == column else _cell(table, row, column) for column in table.ranking]
        shown.add_row(table.players[row], *cells, f"{table.mean(row):.1f}")
    return shown


def _cell(table: League, row: int, column: int) -> str:
    bounds = table.interval(row, column)
    return f"{table.points(row, column):.1f} ({bounds.low:.1f}-{bounds.high:.1f})"


def probe_document(found: LabProbed) -> dict[str, object]:
    """The answers to the probes."""
    return {
        "answers": [
            {"name": a.name, "action": a.action, "right": a.is_right, "reason": a.reason}
            for a in found.answers
        ],
        "askedTwice": found.asked,
        "changed": found.changed,
    }


def print_probed(found: LabProbed) -> None:
    """Print the wrong answers, how many are right, and how many changed."""
    console = results()
    for answer in found.answers:
        if not answer.is_right:
            right = " or ".join(answer.right)
            console.print(f"wrong: {answer.name}: {answer.action}, not {right}")
            console.print(f"       {answer.reason}", style="dim")
    if found.answers:
        right_ones = sum(answer.is_right for answer in found.answers)
        console.print(f"{right_ones} of {len(found.answers)} answers are right")
    console.print(
        f"{found.changed} of {found.asked} answers changed when the same was asked again "
        "with what is hidden dealt anew"
    )


def print_profile(found: Profile) -> None:
    """Print a profile by kind of decision."""
    headings = ("number", "mean ms", "p95 ms", "max ms", "mean nodes", "max")
    shown = plain_table("decisions", *headings, right=headings)
    for kind, times in found.milliseconds.items():
        nodes = found.nodes.get(kind)
        counts = ("-", "-") if nodes is None else (f"{nodes.mean:,.0f}", f"{nodes.max:,.0f}")
        spent = (f"{figure:.2f}" for figure in (times.mean, times.p95, times.max))
        shown.add_row(kind, str(times.number), *spent, *counts)
    results().print(shown)
