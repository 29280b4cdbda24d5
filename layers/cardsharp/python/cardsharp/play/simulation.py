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

S = TypeVar("S")  # the complete state of a match
P = TypeVar("P")  # the position of a seat: what it may know of the state
A = TypeVar("A")  # an action


@dataclass(frozen=True, slots=True)
class RatioStat:
    """Statistic over many matches: the quotient of two summed counts, as a phrase.

    `format` has one place for the number, such as `{:.1f} turns`. Without a `denominator` the
    number is the average per match. The counts are those of `Simulation.stat_counts`.
    """

    format: str
    numerator: str
    denominator: str | None = None


class Simulation(Protocol[S, P, A]):
    """Simulation of a game: its rules behind names that are the same for all games.

    Each game has a class that derives from it. A seat is a player's index. States are immutable: an
    action returns a new state.
    """

    stats: Sequence[RatioStat] = ()  # statistics that a report shows beside the points

    @property
    def sides(self) -> Sequence[tuple[int, ...]]:
        """All seats, grouped by the sides that win and lose together."""

    @property
    def seats(self) -> int:
        """Number of seats of a match."""
        return sum(map(len, self.sides))

    @abstractmethod
    def initial_state(self, rng: Random) -> S:
        """Return the state of a new match."""

    @abstractmethod
    def current_seat(self, state: S) -> int | None:
        """Return the seat to act, None if the match has ended."""

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
        """Return the legal actions of the seat to act, in a fixed order; none after the end."""

    def apply_action(self, state: S, action: A, rng: Random) -> S:
        """Return the state after the action; raise `RulesError` if the action is illegal."""

    def scores(self, state: S) -> tuple[float, ...]:
        """Return each seat's share of the win in a finished match.

        The shares add up to 1; they are equal for a tie.
        """

    def returns(self, state: S) -> tuple[float, ...]:
        """Return each seat's result in a finished match in the game's unit, such as chips.

        Seats of one side share the side's result. Without a unit these are the `scores`.
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
        """Return the match with all cards dealt again that the seat to act cannot see."""


SimulationFactory = Callable[..., Simulation[Any, Any, Any]]
"""Factory of a game's simulation for a number of seats, or for the usual number.

Raises `ConfigError` if the game cannot be played with that many seats.
"""
