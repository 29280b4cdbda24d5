"""A game played in one process: the shape in which lab, contract tests and pages drive any game.

All randomness is an argument, so the same dice give the same match.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol, TypeVar

from cardsharp.errors import Illegal
from cardsharp.strategy import Decision, Strategy

S = TypeVar("S")  # the whole truth of a match
P = TypeVar("P")  # what one seat may know of it
A = TypeVar("A")  # an action


@dataclass(frozen=True, slots=True)
class Figure:
    """Something to tell of many matches: the sum of a count over that of another, in words.

    `text` has one place for the number, such as `{:.1f} turns`; without `per` it is a match's
    average. Counts are those of `Simulation.counts`.
    """

    text: str
    count: str
    per: str | None = None


class Simulation(Protocol[S, P, A]):
    """The rules of a game behind one set of names; a game's own class inherits from it.

    A seat is a player's index. States are never changed, only replaced.
    """

    figures: Sequence[Figure] = ()  # what is worth telling of many matches, beside the points

    @property
    def sides(self) -> Sequence[tuple[int, ...]]:
        """All seats, those together that win and lose together."""

    @property
    def seats(self) -> int:
        """How many seats a match has."""
        return sum(map(len, self.sides))

    @abstractmethod
    def deal(self, dice: Random) -> S:
        """A new match."""

    @abstractmethod
    def to_act(self, state: S) -> int | None:
        """The seat that is to act, None when the match has ended."""

    def position(self, state: S) -> P:
        """All that the strategy of the seat to act may know; raises `Illegal` at the end."""
        seat = self.to_act(state)
        if seat is None:
            raise Illegal("Nobody is to act: the match has ended.")
        return self.view(state, seat)

    @abstractmethod
    def view(self, state: S, seat: int) -> P:
        """What a seat may know, also while it is another's turn and after the end.

        For whoever is to act it is the `position`; anybody else has nothing to decide on it.
        """

    def actions(self, state: S) -> Sequence[A]:
        """The legal actions of the seat that is to act, in a fixed order; none after the end."""

    def act(self, state: S, action: A, dice: Random) -> S:
        """The state after the action; raises `RulesError` if the action is refused."""

    def points(self, state: S) -> tuple[float, ...]:
        """What each seat made of an ended match: shares of 1, alike where it is a tie."""

    def gains(self, state: S) -> tuple[float, ...]:
        """What each seat made of an ended match in what the game counts, such as chips.

        Seats of one side share what the side made. Without more to count it is the points.
        """
        return self.points(state)

    @property
    def range(self) -> tuple[float, float]:
        """The least and the most that a side can make of the gains."""
        return 0.0, 1.0

    def counts(self, _state: S) -> Mapping[str, tuple[float, ...]]:
        """What `figures` are made of, for each side, or one number for the whole ended match."""
        return {}

    def strategy(
        self, name: str, dice: Random, past: Sequence[tuple[int, S]] = ()
    ) -> Strategy[P, Decision[A]]:
        """The strategy of that name; `dice` are all its randomness.

        `past` are ended matches against the same opponent, each with the seat that the strategy
        had: one that learns knows of them what that seat saw. Raises `ConfigError` if there is no
        such strategy.
        """

    def disguised(self, state: S, dice: Random) -> S:
        """The same match as the seat to act sees it, with what is hidden from it dealt anew."""


Simulate = Callable[..., Simulation[Any, Any, Any]]
"""Makes a game's simulation for so many seats, or for as many as a match usually has.

Raises `ConfigError` where the game is not played by so many.
"""
