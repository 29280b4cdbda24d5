"""`cardsharp lab`: strategies against each other, and looked at closely."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from secrets import token_hex
from statistics import fmean
from typing import Annotated

import cyclopts
from cyclopts import Parameter
from rich.table import Table

from cardsharp.errors import ConfigError
from cardsharp.games import game
from workbench.lab.interval import Interval
from workbench.lab.ledger import difference, warn_unsteady, watched
from workbench.lab.looking import probe, profile
from workbench.lab.matches import check_keeping, lost_first
from workbench.lab.matches import keep as keep_matches
from workbench.lab.options import DuelOptions, Player, RunOptions
from workbench.lab.players import check_players
from workbench.lab.runs import pool_of, run
from workbench.show import output
from workbench.show.lookup import open_log, store_or_default
from workbench.show.options import Json
from workbench.show.output import plain_table, print_json, print_lines, tell
from workbench.strategy_file import is_file, is_own

MOST_TESTED = 20_000  # pairs after which a sequential test gives up

app = cyclopts.App(
    name="lab",
    help="Measure strategies: duels, leagues, probes, profiles.",
    help_format="plaintext",
    help_epilogue=Path(__file__).with_suffix(".txt").read_text("utf-8").rstrip(),
)

app.command(
    "workbench.lab.ladder:ratings",
    name="ratings",
    help="Measure the players of a ladder, each against the next few: ratings in Elo points.",
)

app.command(probe)
app.command(profile)

_DUEL, _RUN = DuelOptions(), RunOptions()


@app.command
def duel(first: Player, second: Player, *, options: DuelOptions = _DUEL) -> None:
    """Let two strategies play each deal from every side; prints FIRST's points and who is stronger.

    With --sprt it goes on only until the question is answered; --pairs is then the most.
    """
    if options.out is not None and options.seed is None:
        options = replace(options, seed=1)  # else the file could not be gone on with
    plan = options.plan(first, second, most=MOST_TESTED if options.sprt else None)
    tested = options.tested(plan)
    if options.keep is not None:
        check_keeping(plan)
    rule = None if tested is None else tested.rule()
    output.messages().print(plan.stop_rule(rule), soft_wrap=True)
    apart = is_file(first) or is_file(second)
    with pool_of(options.workers, options.cluster, apart=apart) as pool:
        played = watched(plan, pool, options.out, tested)
    warn_unsteady(played)
    ids: list[str] = []
    if options.keep is not None:
        with open_log(store_or_default()) as log:
            wanted, name = lost_first(played, options.keep), f"lab-{token_hex(3)}"
            ids = keep_matches(played.plan, wanted, name, datetime.now(UTC), log)
    if options.as_json:
        shown = {} if tested is None else {"sprt": tested.document()}
        print_json({**played.as_json(), **shown, **({} if options.keep is None else {"kept": ids})})
        return
    print_lines(str(played))
    if tested is not None:
        print_lines(f"  {tested.verdict}, after {played.plan.pairs:,} pairs")
    if ids:
        others = "" if len(ids) == 1 else f" to {ids[-1]}"
        print_lines(f"  kept in the match log: {ids[0]}{others} ({len(ids)})")
        output.print_command(f"show {ids[0]}")
        output.print_command(f"try {game(plan.game).default_strategy} --match {ids[0]}")


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
    names, figures = ("difference", "lower", "upper", "margin"), (gap, *bounds, bounds.margin)
    told = {name: round(figure, 3) for name, figure in zip(names, figures, strict=True)}
    within = f"(95 %: {bounds.low:+.2f} to {bounds.high:+.2f})"
    line = f"{gap:+.2f} points in 100 {within} over {matches} matches of each"
    tell({**told, "matches": matches}, line, as_json=as_json)


@app.command
def league(*players: Player, options: RunOptions = _RUN) -> None:
    """Play a duel between every two strategies; prints the row's points against the column."""
    if len(set(players)) < 2 or len(set(players)) < len(players):  # noqa: PLR2004 (a league of one)
        raise ConfigError("A league needs two strategies or more, each named once.")
    own_first = sorted(players, key=is_own, reverse=True)
    plan = options.plan(own_first[0], own_first[1])  # a user's own player decides how it is dealt
    plans = [replace(plan, first=one, second=two) for one, two in combinations(players, 2)]
    made: Made = {}
    apart = any(map(is_file, players))
    with pool_of(options.workers, options.cluster, apart=apart) as pool:
        for each in plans:
            check_players(each)  # before anything is played
        for each in plans:
            output.messages().print(each.stop_rule(), soft_wrap=True)
            points, bounds = made[each.first, each.second] = run(each, pool).best
            made[each.second, each.first] = 100 - points, bounds.scaled(-1, 100)
    tell(_league_document(players, made), _cross_table(players, made), as_json=options.as_json)


Made = dict[tuple[str, str], tuple[float, Interval]]
"""What one player made of another, in per cent, and where that lies."""


def _league_document(players: Sequence[str], made: Made) -> dict[str, object]:
    """The figures of a league, each a row of players against the columns."""

    def rows(figure: Callable[[float, Interval], float]) -> list[list[float | None]]:
        return [
            [None if one == other else round(figure(*made[one, other]), 2) for other in players]
            for one in players
        ]

    return {
        "players": list(players),
        "points": rows(lambda points, _: points),
        "lower": rows(lambda _, bounds: bounds.low),
        "upper": rows(lambda _, bounds: bounds.high),
        "margins": rows(lambda _, bounds: bounds.margin),
    }


def _cross_table(players: Sequence[str], made: Made) -> Table:
    """Everybody against everybody, the best first."""

    def mean(player: str) -> float:
        return fmean(points for (one, _), (points, _) in made.items() if one == player)

    def cell(row: str, column: str) -> str:
        if row == column:
            return "-"
        points, bounds = made[row, column]
        return f"{points:.1f} ({bounds.low:.1f}-{bounds.high:.1f})"

    ranking = sorted(players, key=mean, reverse=True)
    figures = (*ranking, "mean")
    shown = plain_table("", *figures, right=figures)
    for row in ranking:
        shown.add_row(row, *(cell(row, column) for column in ranking), f"{mean(row):.1f}")
    return shown
