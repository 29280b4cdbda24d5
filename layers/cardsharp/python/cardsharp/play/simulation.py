"""Simulation of a game in one process, used by the lab, contract tests and pages.

All randomness is an argument, so the same seed gives the same match.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol, TypeVar

from cardsharp.errors import IllegalAction
from cardsharp.play.strategy import Decision, Strategy

S = TypeVar("S")  # the whole truth of a match
P = TypeVar("P")  # what one seat may know of it
A = TypeVar("A")  # an action


@dataclass(frozen=True, slots=True)
class RatioStat:
    """A statistic of many matches: the sum of one count over that of another, in words.

    `format` has one place for the number, such as `{:.1f} turns`. Without a `denominator` it is
    the average per match. The counts are those of `Simulation.stat_counts`.
    """

    format: str
    numerator: str
    denominator: str | None = None


class Simulation(Protocol[S, P, A]):
    """The rules of a game behind one set of names; a game's own class inherits from it.

    A seat is a player's index. States are never changed, only replaced.
    """

    stats: Sequence[RatioStat] = ()  # what is worth telling of many matches, beside the points

    @property
    def sides(self) -> Sequence[tuple[int, ...]]:
        """All seats, grouped by the sides that win and lose together."""

    @property
    def seats(self) -> int:
        """Number of seats of a match."""
        return sum(map(len, self.sides))

    @abstractmethod
    def initial_state(self, rng: Random) -> S:
        """A new match."""

    @abstractmethod
    def current_seat(self, state: S) -> int | None:
        """The seat that is to act, None when the match has ended."""

    def current_position(self, state: S) -> P:
        """Return the position of the seat to act; raise `IllegalAction` after the end."""
        seat = self.current_seat(state)
        if seat is None:
            raise IllegalAction("Nobody is to act: the match has ended.")
        return self.position_for(state, seat)

    @abstractmethod
    def position_for(self, state: S, seat: int) -> P:
        """Return the position of a seat, also when another seat is to act and after the end.

        For the seat to act it equals `current_position`; any other seat has nothing to decide.
        """

    def legal_actions(self, state: S) -> Sequence[A]:
        """The legal actions of the seat that is to act, in a fixed order; none after the end."""

    def apply_action(self, state: S, action: A, rng: Random) -> S:
        """Return the state after the action; raise `RulesError` if the action is illegal."""

    def scores(self, state: S) -> tuple[float, ...]:
        """Return each seat's score in a finished match: shares of 1, equal for a tie."""

    def returns(self, state: S) -> tuple[float, ...]:
        """Return each seat's result in a finished match in the game's unit, such as chips.

        Seats of one side share the side's result. Without a unit these are the scores.
        """
        return self.scores(state)

    @property
    def returns_range(self) -> tuple[float, float]:
        """Minimum and maximum of a side's `returns`."""
        return 0.0, 1.0

    def stat_counts(self, _state: S) -> Mapping[str, tuple[float, ...]]:
        """Return the counts for `stats`, per side or as one number for the finished match."""
        return {}

    def build_strategy(
        self, name: str, rng: Random, past_matches: Sequence[tuple[int, S]] = ()
    ) -> Strategy[P, Decision[A]]:
        """Return a strategy by name; `rng` is all its randomness.

        `past_matches` are finished matches against the same opponent, each with the strategy's
        seat; a strategy that learns sees of them only what that seat saw. Raises `ConfigError`
        if there is no such strategy.
        """

    def resample_hidden(self, state: S, rng: Random) -> S:
        """Return the match with everything hidden from the seat to act dealt anew."""


SimulationFactory = Callable[..., Simulation[Any, Any, Any]]
"""Makes a game's simulation for so many seats, or for as many as a match usually has.

Raises `ConfigError` where the game is not played by so many.
"""
