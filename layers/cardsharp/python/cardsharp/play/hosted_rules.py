"""Base classes of a hosted game: its rules and its text renderer.

`cardsharp.server.hosted` generates all other parts of the game from them.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Generic

from cardsharp.errors import ConfigError, IllegalAction
from cardsharp.play.simulation import A, P, RatioStat, S, Simulation
from cardsharp.play.strategy import Decision, Strategy
from cardsharp.play.strategy_registry import StrategyRegistry


class HostedRules(Simulation[S, P, A]):
    """Base class of the rules of a hosted game.

    States, positions and actions are frozen dataclasses or JSON values.

    `state_type`, `position_type` and `action_type` are their types, by which they are written
    to JSON and read. `returns` count in `unit`, such as chips; without a unit a match is won
    or lost, and its judge values chances to win. `max_return` is the most that a seat can win
    or lose. If a game has no hidden information (`has_hidden_information`), spectators see
    the position. `action_space` has all actions that exist. `initial_state`, `current_seat`
    and `position_for` are abstract, too.
    """

    state_type: type[S]
    position_type: type[P]
    action_type: type[A]
    strategies: StrategyRegistry[Random, Strategy[P, Decision[A]]]
    sides: Sequence[tuple[int, ...]] = ((0,), (1,))
    unit: str = ""
    max_return: float = 1.0
    has_hidden_information: bool = True
    action_space: Sequence[A] = ()

    def __init_subclass__(cls) -> None:
        cls.stats = (RatioStat(f"{{:+.3f}} {cls.unit or 'points'} a match", "gains"),)

    def __init__(self, seats: int | None = None) -> None:
        if seats not in {None, self.seats}:
            raise ConfigError(f"This game is played by {self.seats}, not by {seats}.")

    @abstractmethod
    def legal_actions_in(self, position: P) -> Sequence[A]:
        """Return the legal actions in the position of the seat to act, in a fixed order."""

    @abstractmethod
    def next_state(self, state: S, action: A, rng: Random) -> S:
        """Return the state after the seat to act has taken this legal action."""

    @abstractmethod
    def returns(self, state: S) -> tuple[float, ...]:
        """Return what each seat has won or lost in a finished match."""

    def encode_position(self, position: P) -> Sequence[float]:
        """Return a position as numbers from 0 to 1; without it the game has no environment."""
        raise NotImplementedError

    def sample_state(self, position: P, rng: Random) -> S:
        """Return a random state consistent with a position; without it the game has no judge."""
        raise NotImplementedError

    def legal_actions(self, state: S) -> Sequence[A]:
        """Return the legal actions of the seat to act; none after the end."""
        return (
            ()
            if self.current_seat(state) is None
            else self.legal_actions_in(self.current_position(state))
        )

    def apply_action(self, state: S, action: A, rng: Random) -> S:
        """Return the state after the action; raise `IllegalAction` if the action is illegal."""
        if action not in self.legal_actions(state):
            raise IllegalAction(f"The rules refuse {action}.")
        return self.next_state(state, action, rng)

    @property
    def returns_range(self) -> tuple[float, float]:
        """Minimum and maximum of `returns`."""
        return -self.max_return, self.max_return

    def scores(self, state: S) -> tuple[float, ...]:
        """Return the returns scaled to shares of 1."""
        return tuple(
            (gain + self.max_return) / (2 * self.max_return) for gain in self.returns(state)
        )

    def stat_counts(self, state: S) -> Mapping[str, tuple[float, ...]]:
        """Return the counts for `stats`: the returns of the finished match, as "gains"."""
        return {"gains": self.returns(state)}

    def build_strategy(
        self, name: str, rng: Random, _past_matches: Sequence[tuple[int, S]] = ()
    ) -> Strategy[P, Decision[A]]:
        """Return the strategy with this name. Strategies of hosted games do not learn."""
        return self.strategies.build(name, rng)

    def resample_hidden(self, state: S, rng: Random) -> S:
        """Return the match with all cards dealt again that the seat to act cannot see."""
        return self.sample_state(self.current_position(state), rng)


class TextRenderer(Generic[P, A]):
    """Text renderer of a game, for a terminal and for pages."""

    rules = ""  # a summary of the rules for a person, at most one screen

    @abstractmethod
    def lines(self, position: P) -> Iterable[str]:
        """Return the lines that show the position to its player."""
