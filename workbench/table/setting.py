"""Who plays a game against whom, and how such a match is kept; wherever the people are."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import count
from random import Random, SystemRandom
from secrets import token_hex
from typing import Any

from cardsharp.errors import ConfigError, StoreError
from cardsharp.game import Game
from cardsharp.registry import strategies_of
from cardsharp.replay import header_of
from cardsharp.strategy import Decision
from workbench.lab.extras import LabMatch, extras_of
from workbench.lab.plan import AnySimulation, simulated
from workbench.lab.players import SeatedFile
from workbench.lab.sitting import PERSON, Opening, SeatedBot, Sitting
from workbench.show.lookup import keep_match, open_log, store_or_default
from workbench.show.output import print_error
from workbench.show.person import Advisor, AtTheTable
from workbench.show.screen import AnyScreen
from workbench.strategy_file import called, is_own, strategy_named
from workbench.table.branch import BranchPoint, Kept

AnySitting = Sitting[Any, Any, Any]

_SIDES = 2  # of a game with partners
_RULE = "rule"  # the strategy that a person can play by without a computer, where a game has one


@dataclass(frozen=True)
class Setting:
    """A game between so many `people` and strategies; the same seed deals the same cards.

    `opponent` and `partner` are strategies' names; without one it is the game's best. `bots` is
    how many play, where the game leaves that open.
    """

    game: Game
    opponent: str | None = None
    partner: str | None = None
    bots: int | None = None
    people: int = 1
    seed: str | None = None
    point: BranchPoint | None = None
    """Where another match is gone on with, by one person; without a strategy's name by those who
    played it."""

    @cached_property
    def simulation(self) -> AnySimulation:
        """The game for as many as are to play; raises `ConfigError` where it is not played so."""
        if self.point is not None:
            return self.point.simulation
        usual = simulated(self.game)
        partners = max(map(len, usual.sides)) > 1
        if self.partner is not None and not partners:
            raise ConfigError(f"{self.game.title} has no partners; leave --partner out.")
        if self.bots is None and self.people <= usual.seats:
            return usual
        if partners and self.people == 1 and self.bots == usual.seats // _SIDES:
            return usual
        return simulated(self.game, self.people + (self.bots or 0))

    def lineup(self, number: int = 1) -> "Lineup":
        """Who sits where in the match of that number: the first of the people anywhere.

        Of partners the second is the first one's, the others follow to the left. Raises
        `ConfigError` for no such strategy or game.
        """
        simulation, point = self.simulation, self.point
        seats = range(simulation.seats)
        if point is None:
            you, opening = self._dice(number, "seats").randrange(simulation.seats), None
        else:
            you, opening = point.seat, point.opening(self._dice(number, "deck"))
        ours = next(side for side in simulation.sides if you in side)
        around = [(you + place) % simulation.seats for place in seats]
        order = sorted(around, key=lambda seat: seat not in ours)  # stable: partners first
        people = tuple(order[: self.people])
        best = self.game.default_strategy
        wanted = {
            seat: (self.partner if seat in ours else self.opponent)
            or (point.player(seat) if point else None)
            or best
            for seat in seats
            if seat not in people
        }
        bots = {seat: self.bot(name, number, f"bot {seat}") for seat, name in wanted.items()}
        return Lineup(self.game, simulation, people, bots, self._dice(number), point, opening)

    def bot(self, wanted: str, number: int, purpose: str) -> SeatedBot:
        """A strategy for a seat, with dice of its own."""
        name = strategy_named(wanted, self.game)
        strategy = self.simulation.strategy(name, self._dice(number, purpose))
        if is_own(wanted) and self.game.decider is not None:
            strategy = SeatedFile(called(wanted), strategy, self.game.decider.load(), print_error)
        return SeatedBot(called(wanted), strategy)

    def advisor(self) -> Advisor[Any]:
        """The game's best player; its hints do not depend on the match's dice."""
        name = self.game.default_strategy
        ruled = _RULE in strategies_of(self.game.strategies).names()
        rule = self.simulation.strategy(_RULE, Random(0)) if ruled else None
        return Advisor(name, self.simulation.strategy(name, Random(0)), rule)

    @property
    def make(self) -> Any:  # noqa: ANN401 - the class of the game's decisions
        """Makes the game's own decision."""
        return Decision if self.game.decider is None else self.game.decider.load().make

    def _dice(self, number: int, purpose: str = "") -> Random:
        """What deals, or what a bot has; one changes nothing of another."""
        if self.seed is None:
            return SystemRandom()
        again = "" if number == 1 else f"/{number}"
        return Random(f"{self.seed}{again}/{purpose}")


@dataclass(frozen=True)
class Lineup:
    """The seats of a match: `people` has theirs in the order in which they came."""

    game: Game
    simulation: AnySimulation
    people: tuple[int, ...]
    bots: Mapping[int, SeatedBot]
    dice: Random
    point: BranchPoint | None = None
    opening: Opening | None = None

    def names(self, viewer: int, people: Mapping[int, str]) -> list[str]:
        """What the players are called for whoever sits at `viewer`, by seat, each otherwise."""
        numbers = count(1)
        names: list[str] = []
        for seat in range(self.simulation.seats):
            if seat == viewer:
                name = PERSON
            elif seat in people:
                name = people[seat]
            else:
                name = self.bots[seat].name if len(self.bots) == 1 else f"bot {next(numbers)}"
            known = [*names, *([] if seat == viewer else [PERSON])]
            names.append(name if name not in known else f"{name} ({seat + 1})")
        return names

    def screen(self, viewer: int, people: Mapping[int, str]) -> AnyScreen:
        """What a person at that seat sees."""
        screen = screens_of(self.game)(self.names(viewer, people), viewer)
        if self.point is not None:
            screen.resume(self.point.record.header)
        return screen

    def sitting(
        self, people: Mapping[int, AtTheTable[Any, Any]], *, whys: bool, teach: bool = False
    ) -> AnySitting:
        """The match with those people."""
        note = "" if self.point is None else self.point.told
        return Sitting(self.simulation, people, self.bots, whys, teach, self.opening, note)

    def winners(self, state: object) -> list[int]:
        """The seats of those who have won; nobody where it is a tie."""
        points = self.simulation.points(state)
        best = [seat for seat, made in enumerate(points) if made == max(points)]
        return best if len(best) < self.simulation.seats else []

    def told(
        self,
        sitting: AnySitting,
        state: object,
        at: datetime,
        people: Mapping[int, str] | None = None,
    ) -> list[Kept]:
        """The match as the log holds it, in parts, if it does; `people` as the log calls others."""
        extras, you = extras_of(self.game.name), self.people[0]
        ended = sitting.people[you].screen.given_up(state) if sitting.left else state
        if ended is None or not sitting.has_begun or not extras.keeps:
            return []
        others = {**{seat: bot.name for seat, bot in self.bots.items()}, **(people or {})}
        every = range(self.simulation.seats)
        names = tuple(PERSON if seat == you else others[seat] for seat in every)
        ours = next(side for side in self.simulation.sides if you in side)
        name = f"{'branch' if self.point else 'versus'}-{token_hex(4)}"
        told = LabMatch(name, at, ours, names, sitting.taken, ended, tag="versus")
        parts = list(extras.kept(told))
        if self.point is not None:
            parts = self.point.kept(parts)
        if not sitting.undone:
            return parts
        tags = [[*header_of(record).tags, "undo"] for record, _ in parts]
        return [
            (replace(record, header={**record.header, "tags": more}), moves)
            for (record, moves), more in zip(parts, tags, strict=True)
        ]


def screens_of(game: Game) -> type[AnyScreen]:
    """How people see a game; raises `ConfigError` where they cannot play it."""
    if game.terminal is None:
        raise ConfigError(f"{game.title} cannot be played by people.")
    found: type[AnyScreen] = game.terminal.load()
    return found


def keep(parts: list[Kept]) -> str | None:
    """Write a match into our match log; the id of its last part, None where it cannot be kept."""
    kept = None
    try:
        with open_log(store_or_default()) as log:
            for record, moves in parts:
                keep_match(record, moves, log)
                kept = record.match_id
    except StoreError as error:
        print_error(f"The match could not be kept. {error}")
    return kept


def ending(winners: list[str], *, left: bool) -> str:
    """How a match ended, in words."""
    if left:
        return "You have left the table."
    if PERSON in winners:
        return "You have won!"
    has = "has" if len(winners) == 1 else "have"
    return f"{' and '.join(winners)} {has} won." if winners else "A tie."
