"""Who plays a game against whom, and how such a match is kept; wherever the people are."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random, SystemRandom
from typing import Any

from cardsharp.errors import ConfigError, StoreError
from cardsharp.game import Game
from cardsharp.registry import strategies_of
from cardsharp.strategy import Decision
from workbench.lab.plan import AnySimulation, simulated
from workbench.show.lookup import keep_match, open_log, store_or_default
from workbench.show.output import print_error
from workbench.show.person import Advisor
from workbench.strategy_file import called, is_own, strategy_named
from workbench.table.branch import BranchPoint, Kept
from workbench.table.sitting import PERSON, SeatedBot, Sitting

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

    def sitting(self, number: int = 1, names: Sequence[str] = ()) -> AnySitting:
        """The match of that number: the first of the people, who have those names, sits anywhere.

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
        people = dict(zip(order, names or [PERSON] * self.people, strict=False))
        best = self.game.default_strategy
        wanted = {
            seat: (self.partner if seat in ours else self.opponent)
            or (point.player(seat) if point else None)
            or best
            for seat in seats
            if seat not in people
        }
        bots = {seat: self.bot(name, number, f"bot {seat}") for seat, name in wanted.items()}
        return Sitting(self.game, simulation, people, bots, self._dice(number), point, opening)

    def bot(self, wanted: str, number: int, purpose: str) -> SeatedBot:
        """A strategy for a seat, with dice of its own."""
        name = strategy_named(wanted, self.game)
        strategy = self.simulation.strategy(name, self._dice(number, purpose))
        decider = self.game.decider if is_own(wanted) else None
        return SeatedBot(called(wanted), strategy, decider and decider.load())

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
