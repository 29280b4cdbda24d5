"""Matches between two players in this process, by the real rules and at full speed.

A strategy sees what it would see at a real table: the position of its seat, never the complete
state.

A match of the lab depends on its plan alone. So the matches that are to be stored in the
match log, where `show`, `why` and `backtest` find them, are played once more while every
decision is recorded.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, closing
from copy import deepcopy
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from random import Random
from statistics import fmean
from time import process_time
from typing import Any

from cardsharp.errors import ConfigError, RulesError, StrategyError
from cardsharp.play.catalog import get_game
from cardsharp.play.decision_runner import DecisionResult
from cardsharp.play.simulation import S, Simulation
from cardsharp.store.match_log import MatchLog
from cardsharp_tools.executors.strategy_file import source_version
from cardsharp_tools.lab.duel_result import (
    DuelResult,
    FirstPlayerLuck,
    FirstPlayerMatchResult,
    Pair,
)
from cardsharp_tools.lab.game_adapter import (
    ExternalPlayerClient,
    LabAdapter,
    LabMatch,
    LabPlayer,
    PlayedAction,
    lab_adapter,
)
from cardsharp_tools.lab.plan import AnySimulation, AnyStrategy, DuelPlan
from cardsharp_tools.lab.players import (
    ErrorReportingStrategy,
    build_player,
    find_external_player,
)
from cardsharp_tools.match_sources.match_logs import import_match

ENDGAME_REPETITIONS = 15  # replayed endings of a match for luck adjustment


def play_match(
    simulation: Simulation[S, Any, Any],
    state: S,
    players: Sequence[LabPlayer],
    rng: Random,
    actions: list[PlayedAction] | None = None,
) -> S:
    """Play a match from this state to its end and return the final state.

    `players` are by seat; each of their actions is appended to `actions`, if that is a list.
    """
    while (seat := simulation.current_seat(state)) is not None:
        state = _play_next_action(simulation, state, players[seat], rng, actions)
    return state


def _play_next_action(
    simulation: Simulation[S, Any, Any],
    state: S,
    player: LabPlayer,
    chance_rng: Random,
    played_actions: list[PlayedAction] | None,
) -> S:
    action = player.decide(state)
    if played_actions is not None:
        played_actions.append(
            PlayedAction(
                state, action, player.last_decision if isinstance(player, StrategyPlayer) else None
            )
        )
    return simulation.apply_action(state, action, chance_rng)


def _copy_players(players: Sequence[LabPlayer]) -> list[Sequence[LabPlayer]]:
    """Return copies of the players in their current state, one set for each replayed ending.

    Return none if a player cannot be copied, such as a program.
    """
    try:
        return [deepcopy(players) for _ in range(ENDGAME_REPETITIONS)]
    except Exception:  # noqa: BLE001 - a user's own class may raise anything
        return []


class StrategyPlayer:
    """Player that asks a strategy, which sees only its own position."""

    def __init__(self, simulation: AnySimulation, strategy: AnyStrategy, match: str = "") -> None:
        self._simulation, self._strategy, self._match_description = simulation, strategy, match
        self._current_position, self._decide = simulation.current_position, strategy.decide
        self._decision_count = 0
        self.last_decision: DecisionResult[Any] | None = None
        """Last decision, None before the first."""

    def decide(self, state: Any) -> Any:  # noqa: ANN401 - any game's
        """Return the strategy's action.

        Raises `StrategyError`, with the time and place, if a user's strategy fails.
        """
        position, printed = self._current_position(state), ""
        self._decision_count += 1
        began = process_time()
        try:
            decision = self._decide(position)
            took = timedelta(seconds=process_time() - began)
            if isinstance(self._strategy, ErrorReportingStrategy):
                printed = self._strategy.printed
                self._check_action(self._strategy, state, position, decision.action)
        except StrategyError as fault:
            raise self._build_located_error(str(fault), position) from None
        self.last_decision = DecisionResult(decision, took, stdout=printed)
        return decision.action

    def _check_action(
        self, strategy: ErrorReportingStrategy, state: object, position: object, action: object
    ) -> None:
        """Raise `StrategyError` if the rules refuse the action."""
        try:
            self._simulation.apply_action(state, action, Random(0))
        except RulesError as error:
            strategy.raise_illegal_action(position, action, f"the rules refuse '{action}': {error}")
        except (AttributeError, TypeError):
            strategy.raise_illegal_action(
                position, action, f"the strategy chose {action!r:.60}, which is not an action"
            )

    def _build_located_error(self, fault: str, position: object) -> StrategyError:
        when = f"decision {self._decision_count} {self._match_description}"
        return StrategyError(f"{fault}\nIt was {when} on {position}")

    def on_match_end(self, state: object) -> None:
        """Do nothing: a strategy is not told of the end."""


def play_series(plan: DuelPlan, pair_numbers: Sequence[int]) -> list[Pair]:
    """Play the pairs of these numbers; each player may learn from the earlier matches."""
    with ExitStack() as stack:
        series = PairRunner(plan, stack)
        return [tuple(series.play_pair(pair_number)) for pair_number in pair_numbers]


class PairRunner:
    """Runner of a plan's pairs. External players are closed by `stack`.

    All actions are appended to `actions`.
    """

    def __init__(
        self, plan: DuelPlan, stack: ExitStack, actions: list[PlayedAction] | None = None
    ) -> None:
        self.plan = plan
        self._played_actions = actions
        self.simulation = plan.simulation
        self.adapter: LabAdapter = lab_adapter(plan.game)
        self.series_history: tuple[list[tuple[int, Any]], list[tuple[int, Any]]] = ([], [])
        self.external_players: list[ExternalPlayerClient | None] = []
        for player in (plan.first, plan.second):
            guest = find_external_player(plan, player)
            self.external_players.append(guest and stack.enter_context(closing(guest)))

    def play_pair(self, pair_number: int) -> Iterator[FirstPlayerMatchResult]:
        """Play the matches of one deal, with new players and the same random numbers in each.

        The players are built again for each match, with the same random numbers.
        """
        for side, seats in enumerate(self.simulation.sides):
            dice = self.adapter.rngs_of_pair(self.plan.seed, pair_number)
            other_sides = [candidate for candidate in self.simulation.sides if candidate != seats]
            first_player = self._build_player(0, seats, dice.first, pair_number)
            players: dict[int, LabPlayer] = dict.fromkeys(seats, first_player)
            for opponent_seats in other_sides:
                players |= dict.fromkeys(
                    opponent_seats, self._build_player(1, opponent_seats, dice.second, pair_number)
                )
            opening = self.simulation.initial_state(dice.deal)
            seated = [players[seat] for seat in sorted(players)]
            luck = None
            if self.plan.luck_adjusted:
                state, luck = self._play_luck_adjusted(
                    pair_number, side, opening, seated, dice.chance
                )
            else:
                state = play_match(
                    self.simulation, opening, seated, dice.chance, self._played_actions
                )
            for player in {id(seated_player): seated_player for seated_player in seated}.values():
                player.on_match_end(state)
            self.series_history[0].append((seats[0], state))
            self.series_history[1].append((other_sides[0][0], state))
            yield self._build_match_result(state, side, luck)

    def _play_luck_adjusted(
        self,
        pair_number: int,
        side: int,
        state: object,
        players: Sequence[LabPlayer],
        chance_rng: Random,
    ) -> tuple[Any, FirstPlayerLuck]:
        """Play a match with luck adjustment; return its final state and the luck of `side`.

        `state` is the opening of the match.
        """
        cards, simulation = 0.0, self.simulation
        while (seat := simulation.current_seat(state)) is not None and not self.adapter.is_endgame(
            state
        ):
            previous_state = state
            state = _play_next_action(
                simulation, state, players[seat], chance_rng, self._played_actions
            )
            cards += self.adapter.luck(previous_state, state)[side]
        # Copies of the players play the endings. They must not share memory with the real players,
        # or a strategy that learns would learn from endings that never were in the match.
        copied = [] if seat is None else _copy_players(players)
        endgame_rngs = partial(self.adapter.endgame_rngs, self.plan.seed, pair_number)
        ends = [
            play_match(simulation, simulation.resample_hidden(state, hidden), copies, later)
            for copies, (hidden, later) in zip(copied, map(endgame_rngs, count()), strict=False)
        ]
        state = play_match(simulation, state, players, chance_rng, self._played_actions)
        points, seats = map(simulation.scores, (state, *ends)), simulation.sides[side]
        return state, FirstPlayerLuck(
            fmean(sum(scores[seat] for seat in seats) for scores in points), cards
        )

    def _build_player(
        self, player_index: int, seats: tuple[int, ...], dice: Random, pair_number: int
    ) -> LabPlayer:
        guest = self.external_players[player_index]
        if guest is not None:
            return guest.for_match(seats)
        player = (self.plan.first, self.plan.second)[player_index]
        strategy = build_player(self.plan, player, dice, self.series_history[player_index])
        return StrategyPlayer(
            self.simulation, strategy, f"of pair {pair_number}, seed {self.plan.seed},"
        )

    def _build_match_result(
        self, state: object, side: int, luck: FirstPlayerLuck | None
    ) -> FirstPlayerMatchResult:
        sides, points = self.simulation.sides, self.simulation.scores(state)
        counts = dict(self.simulation.stat_counts(state))
        for name, values in counts.items():
            if len(values) == len(sides):
                counts[name] = (values[side], sum(values) - values[side])
        return FirstPlayerMatchResult(sum(points[seat] for seat in sides[side]), counts, luck)


MatchIndex = tuple[int, int]  # match of a duel: number of the pair, and side of the first player


def check_can_store(plan: DuelPlan) -> None:
    """Raise `ConfigError` if matches of the plan's game cannot be stored."""
    if not lab_adapter(plan.game).can_store_matches:
        raise ConfigError(f"Matches of '{plan.game}' cannot be stored. Remove --save-matches.")


def match_indices_losses_first(duel: DuelResult, count: int) -> list[MatchIndex]:
    """Return up to `count` match indices of a duel, the first player's losses first."""
    pairs = enumerate(duel.pairs)
    matches = (
        (match.points, (pair, side)) for pair, two in pairs for side, match in enumerate(two)
    )
    return [which for _, which in sorted(matches)[:count]]


def replay_and_store_matches(
    plan: DuelPlan,
    match_indices: Collection[MatchIndex],
    run_name: str,
    started_at: datetime,
    log: MatchLog,
) -> list[str]:
    """Store matches of a plan in a log; return their ids, which begin with the run's name."""
    ids = []
    for match in replay_matches(plan, match_indices, run_name, started_at):
        for record, moves in lab_adapter(plan.game).match_records(match):
            import_match(record, moves, log)
            ids.append(record.match_id)
    return ids


def replay_matches(
    plan: DuelPlan, match_indices: Collection[MatchIndex], run_name: str, started_at: datetime
) -> Iterator[LabMatch]:
    """Replay the selected matches of a duel; complete series, because players may learn.

    Whole series are played, because a strategy may learn within a series.
    """
    played_actions: list[PlayedAction] = []
    version = source_version(plan.first, get_game(plan.game))
    pairs, every = {pair for pair, _ in match_indices}, range(plan.simulation.seats)
    for pair_numbers in (series for series in plan.missing_series({}) if pairs & {*series}):
        with ExitStack() as stack:
            series = PairRunner(plan, stack, played_actions)
            for pair_number in pair_numbers:
                for side, _ in enumerate(series.play_pair(pair_number)):
                    if (pair_number, side) in match_indices:
                        seats, (_, end) = plan.simulation.sides[side], series.series_history[0][-1]
                        name = f"{run_name}-{pair_number + 1}-{side + 1}"
                        players = (plan.first if seat in seats else plan.second for seat in every)
                        player_names = tuple(player.display_name for player in players)
                        yield LabMatch(
                            name,
                            started_at,
                            seats,
                            player_names,
                            tuple(played_actions),
                            end,
                            version=version,
                        )
                    played_actions.clear()
