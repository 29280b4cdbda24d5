"""What a game supplies to be hosted: its rules and how they are drawn; the house makes the rest."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Generic

from cardsharp.errors import ConfigError, Illegal
from cardsharp.registry import Registry
from cardsharp.simulation import A, Figure, P, S, Simulation
from cardsharp.strategy import Decision, Strategy


class Rules(Simulation[S, P, A]):
    """The rules of a game. States, positions and actions are frozen dataclasses, or of JSON.

    `kind` is what a state is, `seen` what a position and `done` what an action, by which they are
    written and read.
    `gains` count a `unit`, such as chips; without one a match is won or lost, and its judge tells
    chances to win. `most` is the most of it that a seat can win or lose. Where a game `hides`
    nothing, everybody is told what anybody knows. `every` are all actions that there are. `deal`,
    `to_act` and `view` are abstract, too.
    """

    kind: type[S]
    seen: type[P]
    done: type[A]
    strategies: Registry[Random, Strategy[P, Decision[A]]]
    sides: Sequence[tuple[int, ...]] = ((0,), (1,))
    unit: str = ""
    most: float = 1.0
    hides: bool = True
    every: Sequence[A] = ()

    def __init_subclass__(cls) -> None:
        cls.figures = (Figure(f"{{:+.3f}} {cls.unit or 'points'} a match", "gains"),)

    def __init__(self, seats: int | None = None) -> None:
        if seats not in {None, self.seats}:
            raise ConfigError(f"This game is played by {self.seats}, not by {seats}.")

    @abstractmethod
    def options(self, position: P) -> Sequence[A]:
        """The legal actions of whoever is to act and knows this, in a fixed order."""

    @abstractmethod
    def apply(self, state: S, action: A, dice: Random) -> S:
        """The state after one of these actions."""

    @abstractmethod
    def gains(self, state: S) -> tuple[float, ...]:
        """What each seat has won or lost when a match has ended."""

    def numbers(self, position: P) -> Sequence[float]:
        """A position in numbers from 0 to 1, to learn by; without, the game is no environment."""
        raise NotImplementedError

    def imagined(self, position: P, dice: Random) -> S:
        """A match of which a seat knows just this, dealt anew; without, the game has no judge."""
        raise NotImplementedError

    def actions(self, state: S) -> Sequence[A]:
        """The legal actions; none after the end."""
        return () if self.to_act(state) is None else self.options(self.position(state))

    def act(self, state: S, action: A, dice: Random) -> S:
        """The state after the action."""
        if action not in self.actions(state):
            raise Illegal(f"The rules refuse {action}.")
        return self.apply(state, action, dice)

    @property
    def range(self) -> tuple[float, float]:
        """The most lost, and the most won."""
        return -self.most, self.most

    def points(self, state: S) -> tuple[float, ...]:
        """The gains as shares of 1."""
        return tuple((gain + self.most) / (2 * self.most) for gain in self.gains(state))

    def counts(self, state: S) -> Mapping[str, tuple[float, ...]]:
        """The gains themselves."""
        return {"gains": self.gains(state)}

    def strategy(
        self, name: str, dice: Random, _past: Sequence[tuple[int, S]] = ()
    ) -> Strategy[P, Decision[A]]:
        """The strategy of that name; none learns."""
        return self.strategies.build(name, dice)

    def disguised(self, state: S, dice: Random) -> S:
        """The same match as the seat to act sees it."""
        return self.imagined(self.position(state), dice)


class Drawing(Generic[P, A]):
    """How a game is shown, in a terminal and on a page: words, and lines of them."""

    rules = ""  # what a person is told of the rules, on one screen

    @abstractmethod
    def rows(self, position: P) -> Iterable[str]:
        """The table as its seat sees it, a line at a time."""
