"""Commands `cardsharp lab`: measure, compare and examine strategies."""

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
from cardsharp.play.catalog import get_game
from cardsharp_tools.cli import console
from cardsharp_tools.cli.console import (
    borderless_table,
    print_json,
    print_json_or_lines,
    print_multiline,
)
from cardsharp_tools.cli.options import Json
from cardsharp_tools.executors.strategy_reference import FileReference, StrategyReference
from cardsharp_tools.lab.confidence_interval import Interval
from cardsharp_tools.lab.match_runner import check_can_store, match_indices_losses_first
from cardsharp_tools.lab.match_runner import replay_and_store_matches as keep_matches
from cardsharp_tools.lab.options import DuelOptions, Player, RunOptions
from cardsharp_tools.lab.players import check_players
from cardsharp_tools.lab.run_file import (
    compare_first_players,
    run_duel_with_progress,
    warn_nondeterministic,
)
from cardsharp_tools.lab.runner import make_executor, run_duel
from cardsharp_tools.lab.strategy_checks import print_decision_profile, print_probe_results
from cardsharp_tools.match_sources.match_logs import open_log, resolve_match_log_location

MAX_SPRT_PAIRS = 20_000  # pairs after which a sequential test ends without a decision

app = cyclopts.App(
    name="lab",
    help="Measure strategies: duels, round robins, ratings, probes and profiles.",
    help_format="plaintext",
    help_epilogue=Path(__file__).with_suffix(".txt").read_text("utf-8").rstrip(),
)

app.command(
    "cardsharp_tools.lab.ladder:measure_ratings",
    name="ratings",
    help="Measure the ratings of a ladder's players, in Elo points.",
)

app.command(print_probe_results, name="probe")
app.command(print_decision_profile, name="profile")

_DUEL, _RUN = DuelOptions(), RunOptions()


@app.command
def duel(first: Player, second: Player, *, options: DuelOptions = _DUEL) -> None:
    """Let two strategies play each deal from every seat, and say which one is stronger.

    With --sprt it stops when the answer is certain; --pairs is then the maximum.
    """
    if options.out is not None and options.seed is None:
        # a random seed would make it impossible to resume from the file
        options = replace(options, seed=1)
    plan = options.plan(first, second, max_pairs=MAX_SPRT_PAIRS if options.sprt else None)
    tested = options.sequential_test(plan)
    if options.save_matches is not None:
        check_can_store(plan)
    rule = None if tested is None else tested.stop_rule_text()
    console.message_console().print(plan.describe_sample_and_stop_rule(rule), soft_wrap=True)
    apart = plan.has_strategy_file
    with make_executor(options.workers, options.cluster, isolate_strategies=apart) as pool:
        played = run_duel_with_progress(plan, pool, options.out, tested)
    warn_nondeterministic(played)
    ids: list[str] = []
    if options.save_matches is not None:
        with open_log(resolve_match_log_location()) as log:
            match_indices, name = (
                match_indices_losses_first(played, options.save_matches),
                f"lab-{token_hex(3)}",
            )
            ids = keep_matches(played.plan, match_indices, name, datetime.now(UTC), log)
    if options.as_json:
        sprt_fields = {} if tested is None else {"sprt": tested.document()}
        print_json(
            {
                **played.as_json(),
                **sprt_fields,
                **({} if options.save_matches is None else {"kept": ids}),
            }
        )
        return
    print_multiline(str(played))
    if tested is not None:
        print_multiline(f"  {tested.result_text}, after {played.plan.pairs:,} pairs")
    if ids:
        range_end = "" if len(ids) == 1 else f" to {ids[-1]}"
        print_multiline(f"  stored in the match log: {ids[0]}{range_end} ({len(ids)})")
        console.print_command(f"show {ids[0]}")
        console.print_command(f"backtest {get_game(plan.game).default_strategy} --match {ids[0]}")


@app.command(name="compare")
def compare_duels(
    first_file: Annotated[
        Path, Parameter(name="--one", help="The file of a duel (lab duel --out).")
    ],
    second_file: Annotated[
        Path,
        Parameter(
            name="--two", help="The file of another player's duel against the same opponent."
        ),
    ],
    *,
    as_json: Json = False,
) -> None:
    """Compare two players by their duels with the same opponent and seed, deck by deck."""
    gap, bounds, matches = compare_first_players(first_file, second_file)
    field_names, values = ("difference", "lower", "upper", "margin"), (gap, *bounds, bounds.margin)
    rounded = {name: round(value, 3) for name, value in zip(field_names, values, strict=True)}
    within = f"(95 %: {bounds.low:+.2f} to {bounds.high:+.2f})"
    line = f"{gap:+.2f} points in 100 {within} over {matches} matches of each"
    print_json_or_lines({**rounded, "matches": matches}, line, as_json=as_json)


@app.command
def round_robin(*players: Player, options: RunOptions = _RUN) -> None:
    """Play a duel between every two strategies. A cell has the row's points against the column."""
    if len(set(players)) < 2 or len(set(players)) < len(players):  # noqa: PLR2004 (a league of one)
        raise ConfigError("A round robin needs two strategies or more, each named once.")
    user_players_first = sorted(players, key=lambda player: player.is_user_code, reverse=True)
    plan = options.plan(
        user_players_first[0], user_players_first[1]
    )  # a user's strategy comes first: it decides whether the seed is random
    plans = [
        replace(plan, first=first_player, second=second_player)
        for first_player, second_player in combinations(players, 2)
    ]
    results: DuelMatrix = {}
    apart = any(isinstance(player, FileReference) for player in players)
    with make_executor(options.workers, options.cluster, isolate_strategies=apart) as pool:
        for each in plans:
            check_players(each)  # before any match is played
        for each in plans:
            console.message_console().print(each.describe_sample_and_stop_rule(), soft_wrap=True)
            points, bounds = results[each.first, each.second] = run_duel(
                each, pool
            ).best_points_and_interval
            results[each.second, each.first] = 100 - points, bounds.scaled(-1, 100)
    print_json_or_lines(
        _build_league_document(players, results),
        _build_cross_table(players, results),
        as_json=options.as_json,
    )


DuelMatrix = dict[tuple[StrategyReference, StrategyReference], tuple[float, Interval]]
"""Result of each player against each other, in per cent, with its interval."""


def _build_league_document(
    players: Sequence[StrategyReference], results: DuelMatrix
) -> dict[str, object]:
    """Return the results of a league; each row has a player's results against the columns."""

    def rows(value_of: Callable[[float, Interval], float]) -> list[list[float | None]]:
        return [
            [
                None if player == opponent else round(value_of(*results[player, opponent]), 2)
                for opponent in players
            ]
            for player in players
        ]

    return {
        "players": [str(player) for player in players],
        "points": rows(lambda points, _: points),
        "lower": rows(lambda _, bounds: bounds.low),
        "upper": rows(lambda _, bounds: bounds.high),
        "margins": rows(lambda _, bounds: bounds.margin),
    }


def _build_cross_table(players: Sequence[StrategyReference], results: DuelMatrix) -> Table:
    """Return the table of a league: each player against each other player, the best first."""

    def mean(player: StrategyReference) -> float:
        return fmean(points for (first, _), (points, _) in results.items() if first == player)

    def cell(row: StrategyReference, column: StrategyReference) -> str:
        if row == column:
            return "-"
        points, bounds = results[row, column]
        return f"{points:.1f} ({bounds.low:.1f}-{bounds.high:.1f})"

    ranking = sorted(players, key=mean, reverse=True)
    numeric_columns = (*map(str, ranking), "mean")
    table = borderless_table("", *numeric_columns, right_aligned=numeric_columns)
    for row in ranking:
        table.add_row(str(row), *(cell(row, column) for column in ranking), f"{mean(row):.1f}")
    return table
