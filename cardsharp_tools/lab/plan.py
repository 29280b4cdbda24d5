"""A duel to be played: who meets whom, in which game, over how many deals."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from cardsharp.errors import ConfigError
from cardsharp.play.catalog import get_game
from cardsharp.play.game import Game
from cardsharp.play.simulation import Simulation
from cardsharp.play.strategy import Strategy

AnySimulation = Simulation[Any, Any, Any]
AnyStrategy = Strategy[Any, Any]

SERIES_LENGTH = (
    3  # pairs that two players play in a row: six matches, as in a round of the tournament
)
DEFAULT_GAME = get_game(None).name  # the game that is meant where none is named


@dataclass(frozen=True, slots=True, kw_only=True)
class DuelPlan:
    """A duel to be played; what plays it, and with how many processes, changes nothing.

    Each deal is played once for each side that `first` can have: twice with the seats swapped,
    or once from each seat against `copies` of `second`. Its matches are a *pair*. In a series of
    `series` pairs a strategy that learns knows the matches before. With `less_luck` each match is
    played so that its luck can be told.
    """

    first: str
    second: str
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
    def simulation(self) -> AnySimulation:
        """The game, for as many as play; raises `ConfigError` where there is none."""
        return lab_simulation(self.game, self.opponent_copies)

    @property
    def expected_share(self) -> float:
        """The share of the points that equal players make."""
        return 1 / len(self.simulation.sides)

    @property
    def matches_per_pair(self) -> int:
        """Number of matches that are played of each deal."""
        return len(self.simulation.sides)

    def stop_rule_text(self, test: str | None = None) -> str:
        """Return the plan's sample size and stop rule as text, to be printed before the run.

        `test` describes the stop rule of a sequential test, if there is one.
        """
        sample = f"fixed sample size of {self.pairs:,} pairs of matches"
        if test is not None:
            sample = f"{test}, at most {self.pairs:,} pairs of matches"
        return f"{self.title}: {sample} (seed {self.seed}); 95 % score interval, from the pairs."

    def missing_series(self, recorded_pairs: dict[int, Any]) -> list[range]:
        """The series of which pairs are still to be played."""
        starts = range(0, self.pairs, self.series_length)
        all_series = (range(at, min(at + self.series_length, self.pairs)) for at in starts)
        return [numbers for numbers in all_series if not recorded_pairs.keys() >= set(numbers)]


@cache
def lab_simulation(name: str, opponent_copies: int = 1) -> AnySimulation:
    """The game for one player against so many copies of another; raises `ConfigError` for none."""
    return game_simulation(get_game(name), 1 + opponent_copies if opponent_copies > 1 else None)


def game_simulation(game: Game, seats: int | None = None) -> AnySimulation:
    """The game for so many, or as many as usual; raises `ConfigError` where there is none."""
    if game.simulation is None:
        raise ConfigError(f"{game.title} cannot be played here: it has no simulation.")
    return game.simulation.load()(seats)
