"""Matches between two players in this process, by the real rules and at full speed.

A strategy sees what it would see at a real table: the position of its seat, never the state.

A match of the lab depends on its plan alone. So those that are wanted in the match log, where
`show`, `why` and `try` find them, are played once more while somebody takes down every decision.
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

from cardsharp.cloud.ports import MatchLog
from cardsharp.deciding import Decided
from cardsharp.errors import ConfigError, RulesError, StrategyFault
from cardsharp.games import game
from cardsharp.simulation import S, Simulation
from workbench.lab.duel import Duel, Luck, Pair, Result
from workbench.lab.extras import Extras, Guest, LabMatch, LabPlayer, Taken, extras_of
from workbench.lab.plan import AnySimulation, AnyStrategy, Plan
from workbench.lab.players import Guarded, strategy_of
from workbench.show.lookup import keep_match
from workbench.strategy_file import called, version_of

TIMES = 15  # how often the last cards are played again


def play(
    simulation: Simulation[S, Any, Any],
    state: S,
    players: Sequence[LabPlayer],
    chance: Random,
    notes: list[Taken] | None = None,
) -> S:
    """The end of a match that stands so; what `players` do, by seat, is taken down in `notes`."""
    while (seat := simulation.to_act(state)) is not None:
        state = _step(simulation, state, players[seat], chance, notes)
    return state


def _step(
    simulation: Simulation[S, Any, Any],
    state: S,
    player: LabPlayer,
    chance: Random,
    notes: list[Taken] | None,
) -> S:
    action = player.decide(state)
    if notes is not None:
        notes.append(Taken(state, action, player.decided if isinstance(player, Thinking) else None))
    return simulation.act(state, action, chance)


def _copies(players: Sequence[LabPlayer]) -> list[Sequence[LabPlayer]]:
    """The players as they are now, so often; none where one cannot be copied, such as a program."""
    try:
        return [deepcopy(players) for _ in range(TIMES)]
    except Exception:  # noqa: BLE001 - a user's own class may raise anything
        return []


class Thinking:
    """A strategy that plays; it is shown its position and nothing else."""

    def __init__(self, simulation: AnySimulation, strategy: AnyStrategy, match: str = "") -> None:
        self._simulation, self._strategy, self._match = simulation, strategy, match
        self._position, self._decide = simulation.position, strategy.decide
        self._number = 0
        self.decided: Decided[Any] | None = None
        """The last decision, None before the first."""

    def decide(self, state: Any) -> Any:  # noqa: ANN401 - any game's
        """What the strategy decides; a `StrategyFault` says when and where a user's failed."""
        position, printed = self._position(state), ""
        self._number += 1
        began = process_time()
        try:
            decision = self._decide(position)
            took = timedelta(seconds=process_time() - began)
            if isinstance(self._strategy, Guarded):
                printed = self._strategy.printed
                self._check(self._strategy, state, position, decision.action)
        except StrategyFault as fault:
            raise self._placed(str(fault), position) from None
        self.decided = Decided(decision, took, printed=printed)
        return decision.action

    def _check(self, whose: Guarded, state: object, position: object, action: object) -> None:
        """Raise `StrategyFault` where the rules refuse the action."""
        try:
            self._simulation.act(state, action, Random(0))
        except RulesError as error:
            whose.refuse(position, action, f"the rules refuse '{action}': {error}")
        except (AttributeError, TypeError):
            whose.refuse(position, action, f"the strategy chose {action!r:.60}, which is no action")

    def _placed(self, fault: str, position: object) -> StrategyFault:
        when = f"decision {self._number} {self._match}"
        return StrategyFault(f"{fault}\nIt was {when} on {position}")

    def ended(self, state: object) -> None:
        """Nothing is to be told."""


def play_series(plan: Plan, numbers: Sequence[int]) -> list[Pair]:
    """The pairs of those numbers, in which each player may learn from the matches before."""
    with ExitStack() as stack:
        series = PairSeries(plan, stack)
        return [tuple(series.pair(number)) for number in numbers]


class PairSeries:
    """Pairs of one plan in a row; guests stay with the stack, what is done is added to `notes`."""

    def __init__(self, plan: Plan, stack: ExitStack, notes: list[Taken] | None = None) -> None:
        self.plan = plan
        self._notes = notes
        self.simulation = plan.simulation
        self.extras: Extras = extras_of(plan.game)
        self.past: tuple[list[tuple[int, Any]], list[tuple[int, Any]]] = ([], [])
        self.guests: list[Guest | None] = []
        for guest in map(self.extras.guest, (plan.first, plan.second)):
            self.guests.append(guest and stack.enter_context(closing(guest)))

    def pair(self, number: int) -> Iterator[Result]:
        """The matches of one deal; the players are made anew for each, with the same dice."""
        for side, seats in enumerate(self.simulation.sides):
            dice = self.extras.dice(self.plan.seed, number)
            others = [one for one in self.simulation.sides if one != seats]
            first = self._player(0, seats, dice.first, number)
            players: dict[int, LabPlayer] = dict.fromkeys(seats, first)
            for other in others:
                players |= dict.fromkeys(other, self._player(1, other, dice.second, number))
            opening = self.simulation.deal(dice.deal)
            seated = [players[seat] for seat in sorted(players)]
            luck = None
            if self.plan.less_luck:
                state, luck = self._tempered(number, side, opening, seated, dice.chance)
            else:
                state = play(self.simulation, opening, seated, dice.chance, self._notes)
            for player in {id(one): one for one in seated}.values():
                player.ended(state)
            self.past[0].append((seats[0], state))
            self.past[1].append((others[0][0], state))
            yield self._result(state, side, luck)

    def _tempered(
        self, number: int, side: int, state: object, players: Sequence[LabPlayer], chance: Random
    ) -> tuple[Any, Luck]:
        """The end of a pair's match from its opening on, and what tells its luck for that side."""
        cards, simulation = 0.0, self.simulation
        while (seat := simulation.to_act(state)) is not None and not self.extras.is_late(state):
            before = state
            state = _step(simulation, state, players[seat], chance, self._notes)
            cards += self.extras.luck(before, state)[side]
        copied = [] if seat is None else _copies(players)
        again = partial(self.extras.dice_again, self.plan.seed, number)
        ends = [
            play(simulation, simulation.disguised(state, hidden), copies, later)
            for copies, (hidden, later) in zip(copied, map(again, count()), strict=False)
        ]
        state = play(simulation, state, players, chance, self._notes)
        points, seats = map(simulation.points, (state, *ends)), simulation.sides[side]
        return state, Luck(fmean(sum(made[seat] for seat in seats) for made in points), cards)

    def _player(self, which: int, seats: tuple[int, ...], dice: Random, number: int) -> LabPlayer:
        guest = self.guests[which]
        if guest is not None:
            return guest.seated(seats)
        name = (self.plan.first, self.plan.second)[which]
        strategy = strategy_of(self.plan, name, dice, self.past[which])
        return Thinking(self.simulation, strategy, f"of pair {number}, seed {self.plan.seed},")

    def _result(self, state: object, side: int, luck: Luck | None) -> Result:
        sides, points = self.simulation.sides, self.simulation.points(state)
        counts = dict(self.simulation.counts(state))
        for name, values in counts.items():
            if len(values) == len(sides):
                counts[name] = (values[side], sum(values) - values[side])
        return Result(sum(points[seat] for seat in sides[side]), counts, luck)


Which = tuple[int, int]  # a match of a duel: the pair, and on which side the first player sits


def check_keeping(plan: Plan) -> None:
    """Raise `ConfigError` where matches of the plan's game cannot be kept."""
    if not extras_of(plan.game).keeps:
        raise ConfigError(f"Matches of '{plan.game}' cannot be kept; leave out --keep.")


def lost_first(played: Duel, number: int) -> list[Which]:
    """So many matches of a duel, those that the first player lost before the others."""
    pairs = enumerate(played.pairs)
    matches = ((one.points, (pair, side)) for pair, two in pairs for side, one in enumerate(two))
    return [which for _, which in sorted(matches)[:number]]


def keep(plan: Plan, wanted: Collection[Which], run: str, at: datetime, log: MatchLog) -> list[str]:
    """Write those matches of a plan into a log; their ids, which begin with the run's name."""
    ids = []
    for told in replayed(plan, wanted, run, at):
        for record, moves in extras_of(plan.game).kept(told):
            keep_match(record, moves, log)
            ids.append(record.match_id)
    return ids


def replayed(plan: Plan, wanted: Collection[Which], run: str, at: datetime) -> Iterator[LabMatch]:
    """The wanted matches, played as in the duel: whole series, as one may learn in them."""
    notes: list[Taken] = []
    version = version_of(plan.first, game(plan.game))
    pairs, every = {pair for pair, _ in wanted}, range(plan.simulation.seats)
    for numbers in (series for series in plan.missing({}) if pairs & {*series}):
        with ExitStack() as stack:
            series = PairSeries(plan, stack, notes)
            for number in numbers:
                for side, _ in enumerate(series.pair(number)):
                    if (number, side) in wanted:
                        seats, (_, end) = plan.simulation.sides[side], series.past[0][-1]
                        name = f"{run}-{number + 1}-{side + 1}"
                        players = (plan.first if seat in seats else plan.second for seat in every)
                        names = tuple(map(called, players))
                        yield LabMatch(name, at, seats, names, tuple(notes), end, version=version)
                    notes.clear()
