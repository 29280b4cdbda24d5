"""`cardsharp backtest`: let a strategy decide again in the positions of stored matches."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from cyclopts import Parameter, validators

from cardsharp.analysis.replay import DecisionPoint
from cardsharp.errors import ConfigError, StrategyError
from cardsharp.play.catalog import get_game as game_named
from cardsharp.play.game import Game
from cardsharp.play.guarded_call import TIMEOUT_MESSAGE
from cardsharp.store.match_log import MatchRecord, MoveRecord
from cardsharp_tools.cli.backtest_display import (
    BacktestedMatch,
    backtest_document,
    print_differences,
    print_turn,
)
from cardsharp_tools.cli.console import print_json, result_console
from cardsharp_tools.cli.exit_codes import decision_exit_code
from cardsharp_tools.cli.game_commands import OptionalGame
from cardsharp_tools.cli.options import CommandOptions, Json, Store
from cardsharp_tools.cli.strategy_option import StrategyArgument, UserCodeOptions
from cardsharp_tools.lab.backtest import BacktestPlayer
from cardsharp_tools.match_sources.match_logs import game_of_match, readable_matches
from cardsharp_tools.match_sources.match_names import LAST_MATCH
from cardsharp_tools.match_sources.sources import find_source, load_match_with_moves
from cardsharp_tools.terminal.progress import ProgressBar

MAX_LATE_DECISIONS = 3  # so many late decisions stop the trial: the next ones may be late, too

Player = Annotated[
    StrategyArgument,
    Parameter(help="The strategy: its name, FILE.py, FILE.json, or a 'command'."),
]


@dataclass(frozen=True, kw_only=True)
class MatchSelection(CommandOptions):
    """Options that select stored matches, and the log to read them from."""

    match: Annotated[
        tuple[str, ...],
        Parameter(
            help="A match: its id, a unique beginning or end of the id, the word last, a FILE of "
            "recorded matches, or another source. Repeat it for more matches. Default: last."
        ),
    ] = ()
    all: bool = False
    """Take all matches of the log instead of one."""
    limit: Annotated[int, Parameter(validator=validators.Number(gte=1))] = 100
    """With --all: how many of the newest matches to take."""
    store: Store = None
    as_json: Json = False


class SelectedMatch(NamedTuple):
    """Match that was selected; `options` are the options of a command that select it again."""

    options: str
    record: MatchRecord
    moves: list[MoveRecord]


@dataclass(frozen=True, kw_only=True)
class BacktestOptions(MatchSelection):
    """Options that select the decisions to repeat."""

    turn: int | None = None
    """Show only this turn, with every option that the strategy considers. Turns count from 1."""
    user_code: UserCodeOptions = field(default_factory=UserCodeOptions)


def backtest(
    player: Player, /, *, options: BacktestOptions = BacktestOptions(), game: OptionalGame = None
) -> int:
    """Print where the strategy decides differently; with --turn, every option in that turn."""
    turn = options.turn
    if turn is not None and (options.all or len(options.match) > 1):
        raise ConfigError("--turn shows one match. Remove --all, and name at most one --match.")
    trials: dict[str, BacktestPlayer] = {}
    pending = []
    for match in select_matches(options, game):
        of = game_of_match(match.record)
        trial = trials.setdefault(of.name, BacktestPlayer(of, player))
        decision_points = trial.decision_points(match.record, match.moves)
        pending.append(
            (
                match,
                trial,
                decision_points if turn is None else _select_turn(decision_points, turn),
            )
        )
    tried, late = list[BacktestedMatch](), 0
    with ProgressBar(
        sum(len(decision_points) for _, _, decision_points in pending), "deciding"
    ) as bar:
        for match, trial, decision_points in pending:
            tried.append(BacktestedMatch(match.record, match.options, trial.game, player, []))
            for decision in trial.decide_again(decision_points):
                tried[-1].decisions.append(decision)
                bar.advance()
                late += (decision.new_decision.error or "").startswith(TIMEOUT_MESSAGE)
                if late == MAX_LATE_DECISIONS:
                    fault = f"{late} decisions took too long: {decision.new_decision.error}."
                    raise StrategyError(f"{player}: {fault}")
    if options.as_json:
        print_json([backtest_document(match, include_options=turn is not None) for match in tried])
    elif turn is not None:
        print_turn(result_console(), tried[0])
    else:
        print_differences(result_console(), tried)
    faults = [decision.new_decision.error for match in tried for decision in match.decisions]
    return decision_exit_code(len(faults), sum(fault is not None for fault in faults))


def _select_turn(decision_points: list[DecisionPoint], turn: int) -> list[DecisionPoint]:
    points_in_turn = [point for point in decision_points if point.step.turn == turn]
    if not points_in_turn:
        turns = (
            ", ".join(map(str, dict.fromkeys(point.step.turn for point in decision_points)))
            or "no turn"
        )
        raise ConfigError(f"Turn {turn} has no decision to repeat. Turns that have one: {turns}.")
    return points_in_turn


def select_matches(selection: MatchSelection, game: Game | None) -> Iterator[SelectedMatch]:
    """Yield the selected matches with their moves."""
    listed_game = game or game_named(None)
    words = selection.match or (LAST_MATCH,)
    if selection.all and not selection.match:
        with find_source(selection.store, listed_game).open_reader() as log:
            words = tuple(
                record.match_id for record in readable_matches(log, listed_game)[: selection.limit]
            )
    for match_ref in words:
        match = load_match_with_moves(
            match_ref, selection.store, listed_game if match_ref == LAST_MATCH else game
        )
        # `last` may soon be another match
        name = match.record.match_id if match_ref == LAST_MATCH else match_ref
        store = "" if selection.store is None else f" --store {shlex.quote(selection.store)}"
        yield SelectedMatch(f"--match {shlex.quote(name)}{store}", match.record, match.moves)
