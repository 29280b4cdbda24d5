"""Plan of a duel: the players, the game, and the number of deals."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from cardsharp.errors import ConfigError
from cardsharp.play.catalog import get_game
from cardsharp.play.game import Game
from cardsharp.play.simulation import Simulation
from cardsharp.play.strategy import Strategy
from cardsharp_tools.executors.strategy_reference import (
    FileReference,
    StrategyReference,
    parse_strategy,
)

AnySimulation = Simulation[Any, Any, Any]
AnyStrategy = Strategy[Any, Any]

SERIES_LENGTH = 3
"""Pairs that two players play in a row: six matches, as in a round of the tournament."""

DEFAULT_GAME = get_game(None).name  # the game of a command without --game


@dataclass(frozen=True, slots=True, kw_only=True)
class DuelPlan:
    """Plan of a duel. The means by which it is played do not change the result.

    Each deal is played once for each side that `first` can have: twice with the seats swapped, or
    once from each seat against `opponent_copies` of `second`. The matches of one deal are a *pair*.
    In a series of `series_length` pairs a strategy that learns knows the earlier matches. With
    `luck_adjusted`, each match is played so that its luck can be measured.
    """

    first: StrategyReference
    second: StrategyReference
    pairs: int
    game: str = DEFAULT_GAME
    seed: int = 1
    opponent_copies: int = 1
    series_length: int = SERIES_LENGTH
    pure_python: bool = False
    luck_adjusted: bool = False

    @property
    def title(self) -> str:
        """Title of the duel: the first player v the second."""
        copies = f"{self.opponent_copies} x " if self.opponent_copies > 1 else ""
        return f"{self.first} v {copies}{self.second}"

    @property
    def has_strategy_file(self) -> bool:
        """True if a player is a file, which worker processes import for themselves."""
        return any(isinstance(player, FileReference) for player in (self.first, self.second))

    @property
    def simulation(self) -> AnySimulation:
        """Simulation of the game for the plan's number of players.

        Raises `ConfigError` if the game has none.
        """
        return lab_simulation(self.game, self.opponent_copies)

    @property
    def equal_players_share(self) -> float:
        """Share of the points that equal players would have."""
        return 1 / len(self.simulation.sides)

    @property
    def matches_per_pair(self) -> int:
        """Number of matches that are played of each deal."""
        return len(self.simulation.sides)

    def describe_sample_and_stop_rule(self, test: str | None = None) -> str:
        """Return the plan's sample size and stop rule as text, to be printed before the run.

        `test` describes the stop rule of a sequential test, if there is one.
        """
        sample = f"fixed sample size of {self.pairs:,} pairs of matches"
        if test is not None:
            sample = f"{test}, at most {self.pairs:,} pairs of matches"
        return f"{self.title}: {sample} (seed {self.seed}); 95 % score interval, from the pairs."

    def missing_series(self, recorded_pairs: dict[int, Any]) -> list[range]:
        """Return the series with pairs that are still to be played."""
        starts = range(0, self.pairs, self.series_length)
        all_series = (range(at, min(at + self.series_length, self.pairs)) for at in starts)
        return [
            pair_numbers
            for pair_numbers in all_series
            if not recorded_pairs.keys() >= set(pair_numbers)
        ]


def plan_duel(first: str, second: str, pairs: int, **settings: Any) -> DuelPlan:  # noqa: ANN401 - the other fields
    """Return the plan of a duel between strategies that a program names, as a command line does.

    `settings` are the other fields of `DuelPlan`.
    """
    return DuelPlan(
        first=parse_strategy(first), second=parse_strategy(second), pairs=pairs, **settings
    )


@cache
def lab_simulation(name: str, opponent_copies: int = 1) -> AnySimulation:
    """Return the game of one player against copies of another; raise `ConfigError`."""
    return game_simulation(get_game(name), 1 + opponent_copies if opponent_copies > 1 else None)


def game_simulation(game: Game, seats: int | None = None) -> AnySimulation:
    """Return the game for `seats` players, by default the usual number; raise `ConfigError`."""
    if game.simulation is None:
        raise ConfigError(f"{game.title} cannot be played here: it has no simulation.")
    return game.simulation.load()(seats)
