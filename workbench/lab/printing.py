"""What the lab's commands print: tables for people, documents for programs."""

from rich.table import Table

from workbench.cli.output import results
from workbench.lab.calibration import Calibration
from workbench.lab.league import League
from workbench.lab.probe import Answer
from workbench.lab.profile import Figures, Profile
from workbench.lab.runs import Plan
from workbench.lab.selfplay import Duel


def duel_document(plan: Plan, played: Duel) -> dict[str, object]:
    """The figures of a duel."""
    return {
        "players": [plan.first, plan.second],
        "pairs": plan.pairs,
        "matches": len(played.matches),
        "seed": plan.seed,
        "series": plan.series,
        "points": round(played.points, 3),
        "margin": round(played.margin, 3),
        "lower": round(played.points - played.margin, 3),
        "upper": round(played.points + played.margin, 3),
        "scores": [
            round(played.mean(lambda m: m.scores[0]), 2),
            round(played.mean(lambda m: m.scores[1]), 2),
        ],
        "bustShare": [round(played.bust_share(i), 2) for i in (0, 1)],
    }


def league_document(table: League) -> dict[str, object]:
    """The figures of a league."""
    numbers = range(len(table.players))
    return {
        "players": list(table.players),
        "points": [
            [None if row == column else round(table.points(row, column), 2) for column in numbers]
            for row in numbers
        ],
        "margins": [
            [None if row == column else round(table.margin(row, column), 2) for column in numbers]
            for row in numbers
        ],
    }


def cross_table(table: League) -> Table:
    """The cross table of a league, the best first."""
    shown = Table(box=None, padding=(0, 2), pad_edge=False)
    shown.add_column("")
    for column in table.ranking:
        shown.add_column(table.players[column], justify="right")
    shown.add_column("mean", justify="right")
    for row in table.ranking:
        cells = [
            "-"
            if row == column
            else f"{table.points(row, column):.1f}±{table.margin(row, column):.1f}"
            for column in table.ranking
        ]
        shown.add_row(table.players[row], *cells, f"{table.mean(row):.1f}")
    return shown


def probe_document(answers: tuple[Answer, ...], found: Calibration | None) -> dict[str, object]:
    """The answers to the probes, and the calibration where there is one."""
    return {
        "answers": [
            {"name": a.probe.name, "action": a.action, "right": a.is_right, "reason": a.reason}
            for a in answers
        ],
        "calibration": None
        if found is None
        else {
            "matches": found.matches,
            "error": round(found.error, 4),
            "bins": [[b.number, round(b.said, 4), round(b.came, 4)] for b in found.bins],
        },
    }


def print_answers(answers: tuple[Answer, ...]) -> None:
    """Print the wrong answers, and how many are right."""
    console = results()
    for answer in answers:
        if not answer.is_right:
            right = " or ".join(answer.probe.right)
            console.print(f"wrong: {answer.probe.name}: {answer.action}, not {right}")
            console.print(f"       {answer.reason}", style="dim")
    console.print(f"{sum(a.is_right for a in answers)} of {len(answers)} answers are right")


def print_calibration(found: Calibration) -> None:
    """Print a calibration bin by bin."""
    shown = Table("turns", "said %", "came %", "±", box=None, padding=(0, 2), pad_edge=False)
    for one in found.bins:
        figures = (100 * one.said, 100 * one.came, 100 * one.margin)
        shown.add_row(str(one.number), *(f"{figure:.1f}" for figure in figures))
    results().print(shown)
    results().print(f"expected calibration error {found.error:.4f} in {found.matches} matches")


def figures(by_kind: dict[str, Figures]) -> dict[str, dict[str, float]]:
    """Figures by kind of decision, as JSON takes them."""
    return {
        kind: {"number": f.number, "mean": f.mean, "p95": f.p95, "max": f.most}
        for kind, f in by_kind.items()
    }


def print_profile(found: Profile) -> None:
    """Print a profile by kind of decision."""
    shown = Table(box=None, padding=(0, 2), pad_edge=False)
    for heading in ("decisions", "number", "mean ms", "p95 ms", "max ms", "mean nodes", "max"):
        shown.add_column(heading, justify="left" if heading == "decisions" else "right")
    for kind, times in found.milliseconds.items():
        nodes = found.nodes.get(kind)
        counts = ("-", "-") if nodes is None else (f"{nodes.mean:,.0f}", f"{nodes.most:,.0f}")
        spent = (f"{figure:.2f}" for figure in (times.mean, times.p95, times.most))
        shown.add_row(kind, str(times.number), *spent, *counts)
    results().print(shown)
