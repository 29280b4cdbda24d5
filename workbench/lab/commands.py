"""`cardsharp lab`: strategies against each other, and looked at closely."""

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Annotated

import cyclopts
from cyclopts import Parameter
from rich.table import Table

from cardsharp.errors import ConfigError
from cardsharp.games import game
from workbench.lab.keeping import check_keeping, lost_first
from workbench.lab.keeping import keep as keep_matches
from workbench.lab.league import League, play_league
from workbench.lab.ledger import difference, followed
from workbench.lab.looking import LabProbed, Profile, probe, profile
from workbench.lab.options import KeepOptions, LookOptions, Player, RunOptions, SprtOptions
from workbench.lab.plan import Plan
from workbench.lab.runs import hosted, pool_of, unsteady
from workbench.show.exits import Exit
from workbench.show.lookup import open_log, store_or_default
from workbench.show.options import Json
from workbench.show.output import (
    messages,
    plain_table,
    print_command,
    print_error,
    print_json,
    print_lines,
    results,
)
from workbench.show.progress import Bar
from workbench.strategy_file import is_file, is_own

MOST_TESTED = 20_000  # pairs after which a sequential test gives up

_EXAMPLES = Path(__file__).with_suffix(".txt").read_text("utf-8").rstrip()

app = cyclopts.App(
    name="lab",
    help="Measure strategies: duels, leagues, probes, profiles.",
    help_format="plaintext",
    help_epilogue=_EXAMPLES,
)

app.command(
    "workbench.lab.ladder:ratings",
    name="ratings",
    help="Measure the players of a ladder, each against the next few: ratings in Elo points.",
)


_RUN, _LOOK, _SPRT, _KEEP = RunOptions(), LookOptions(), SprtOptions(), KeepOptions()

# --- duel ------------------------------------------------------------------------------------


@app.command
def duel(
    first: Player,
    second: Player,
    *,
    kept: KeepOptions = _KEEP,
    sequential: SprtOptions = _SPRT,
    options: RunOptions = _RUN,
) -> None:
    """Let two strategies play each deal from every side; prints FIRST's points and who is stronger.

    With --sprt it goes on only until the question is answered; --pairs is then the most.
    """
    if kept.out is not None and options.seed is None:
        options = replace(options, seed=1)  # else the file could not be gone on with
    plan = options.plan(first, second, most=MOST_TESTED if sequential.sprt else None)
    tested = sequential.tested(plan)
    if kept.keep is not None:
        check_keeping(plan)
    rule = None if tested is None else tested.sprt.rule()
    messages().print(plan.stop_rule(rule), soft_wrap=True)
    played = followed(plan, options.processes, out=kept.out, cluster=options.cluster, tested=tested)
    for name in unsteady(played):
        print_error(f"{name} decided otherwise when a deal was played again with the same dice.")
    ids: list[str] = []
    if kept.keep is not None:
        with open_log(store_or_default()) as log:
            wanted, run = lost_first(played, kept.keep), f"lab-{token_hex(3)}"
            ids = keep_matches(played.plan, wanted, run, datetime.now(UTC), log)
    if options.as_json:
        shown = {} if tested is None else {"sprt": tested.document()}
        print_json({**played.as_json(), **shown, **({} if kept.keep is None else {"kept": ids})})
        return
    print_lines(str(played))
    if tested is not None:
        print_lines(f"  {tested.verdict}, after {played.plan.pairs:,} pairs")
    if ids:
        _print_kept(ids, plan)


def _print_kept(ids: list[str], plan: Plan) -> None:
    """Which matches were kept, and what to ask of the first: where the best decides otherwise."""
    others = "" if len(ids) == 1 else f" to {ids[-1]}"
    results().print(f"  kept in the match log: {ids[0]}{others} ({len(ids)})", soft_wrap=True)
    for command in (f"show {ids[0]}", f"try {game(plan.game).default_strategy} --match {ids[0]}"):
        print_command(command)


@app.command(name="difference")
def difference_(
    one: Annotated[Path, Parameter(help="A duel's file (--out).")],
    two: Annotated[
        Path, Parameter(help="The file of another player's duel against the same opponent.")
    ],
    *,
    as_json: Json = False,
) -> None:
    """Compare two players deck by deck: their duels with the same opponent and seed."""
    gap, bounds, matches = difference(one, two)
    if as_json:
        told = {"difference": gap, "lower": bounds.low, "upper": bounds.high}
        rounded = {name: round(figure, 3) for name, figure in told.items()}
        print_json({**rounded, "margin": round(bounds.margin, 3), "matches": matches})
    else:
        results().print(
            f"{gap:+.2f} points in 100 (95 %: {bounds.low:+.2f} to {bounds.high:+.2f}) "
            f"over {matches} matches of each"
        )


# --- league ----------------------------------------------------------------------------------


@app.command
def league(*players: Player, options: RunOptions = _RUN) -> None:
    """Play a duel between every two strategies; prints the row's points against the column."""

    def tell(plan: Plan) -> None:
        messages().print(plan.stop_rule(), soft_wrap=True)

    if len(set(players)) < 2 or len(set(players)) < len(players):  # noqa: PLR2004 (a league of one)
        raise ConfigError("A league needs two strategies or more, each named once.")
    own_first = sorted(players, key=is_own, reverse=True)
    plan = options.plan(own_first[0], own_first[1])  # a user's own player decides how it is dealt
    apart = any(map(is_file, players))
    with pool_of(options.processes, options.cluster, apart=apart) as pool:
        table = play_league(players, plan, pool, tell)
    if options.as_json:
        print_json(_league_document(table))
    else:
        results().print(_cross_table(table))


def _league_document(table: League) -> dict[str, object]:
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


def _cross_table(table: League) -> Table:
    """The cross table of a league, the best first."""
    figures = (*(table.players[column] for column in table.ranking), "mean")
    shown = plain_table("", *figures, right=figures)
    for row in table.ranking:
        cells = [
            "-"
            if row == column
            else f"{table.points(row, column):.1f} ({bounds.low:.1f}-{bounds.high:.1f})"
            for column in table.ranking
            for bounds in (table.interval(row, column),)
        ]
        shown.add_row(table.players[row], *cells, f"{table.mean(row):.1f}")
    return shown


# --- probe -----------------------------------------------------------------------------------


@app.command(name="probe")
def probe_(strategy: Player, *, options: LookOptions = _LOOK) -> int:
    """Test positions with a known answer, and positions where hidden cards must not matter.

    Hand-made positions have one right answer each (not every game has such). In
    positions of real matches a new strategy with the same dice must answer alike
    when hidden cards are dealt anew. Exits with 1 where an answer is wrong or
    changes.
    """
    found = probe(options.plan(strategy, 40))
    if options.as_json:
        print_json(_probe_document(found))
    else:
        _print_probed(found)
    return Exit.OK if found.is_right else Exit.FAILED


def _probe_document(found: LabProbed) -> dict[str, object]:
    return {
        "answers": [
            {"name": a.name, "action": a.action, "right": a.is_right, "reason": a.reason}
            for a in found.answers
        ],
        "askedTwice": found.asked,
        "changed": found.changed,
    }


def _print_probed(found: LabProbed) -> None:
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


# --- profile ---------------------------------------------------------------------------------


@app.command(name="profile")
def profile_(strategy: Player, *, options: LookOptions = _LOOK) -> None:
    """Measure processor time and nodes a decision, in one process."""
    plan = options.plan(strategy, 500)
    with Bar(plan.pairs, "deciding") as bar, pool_of(1, apart=is_file(strategy)) as pool:
        alone = None if pool is None else pool.submit(hosted, profile, plan)
        found = profile(plan, bar.advance) if alone is None else alone.result()
    if options.as_json:
        print_json(asdict(found))
    else:
        _print_profile(found)


def _print_profile(found: Profile) -> None:
    headings = ("number", "mean ms", "p95 ms", "max ms", "mean nodes", "max")
    shown = plain_table("decisions", *headings, right=headings)
    for kind, times in found.milliseconds.items():
        nodes = found.nodes.get(kind)
        counts = ("-", "-") if nodes is None else (f"{nodes.mean:,.0f}", f"{nodes.max:,.0f}")
        spent = (f"{figure:.2f}" for figure in (times.mean, times.p95, times.max))
        shown.add_row(kind, str(times.number), *spent, *counts)
    results().print(shown)
