"""A duel to be played: who meets whom, in which game, over how many deals."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from cardsharp.errors import ConfigError
from cardsharp.game import Game
from cardsharp.games import game
from cardsharp.simulation import Simulation
from cardsharp.strategy import Strategy

AnySimulation = Simulation[Any, Any, Any]
AnyStrategy = Strategy[Any, Any]

SERIES = 3  # pairs that two players play in a row: six matches, as in a round of the tournament
DEFAULT_GAME = game(None).name  # the game that is meant where none is named


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
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
    copies: int = 1
    series: int = SERIES
    plain: bool = False
    less_luck: bool = False

    @property
    def title(self) -> str:
        """Who plays against whom."""
        copies = f"{self.copies} x " if self.copies > 1 else ""
        return f"{self.first} v {copies}{self.second}"

    @property
    def simulation(self) -> AnySimulation:
        """The game, for as many as play; raises `ConfigError` where there is none."""
        return simulation_of(self.game, self.copies)

    @property
    def fair(self) -> float:
        """The share of the points that equal players make."""
        return 1 / len(self.simulation.sides)

    @property
    def matches_a_pair(self) -> int:
        """How many matches are played of each deal."""
        return len(self.simulation.sides)

    def stop_rule(self, test: str | None = None) -> str:
        """When the run ends, said before it begins; `test` are the words of a sequential one."""
        sample = f"fixed sample size of {self.pairs:,} pairs of matches"
        if test is not None:
            sample = f"{test}, at most {self.pairs:,} pairs of matches"
        return f"{self.title}: {sample} (seed {self.seed}); 95 % score interval, from the pairs."

    def missing(self, kept: dict[int, Any]) -> list[range]:
        """The series of which pairs are still to be played."""
        starts = range(0, self.pairs, self.series)
        all_series = (range(at, min(at + self.series, self.pairs)) for at in starts)
        return [numbers for numbers in all_series if not kept.keys() >= set(numbers)]


@cache
def simulation_of(name: str, copies: int = 1) -> AnySimulation:
    """The game for one player against so many copies of another; raises `ConfigError` for none."""
    return simulated(game(name), 1 + copies if copies > 1 else None)


def simulated(of: Game, seats: int | None = None) -> AnySimulation:
    """The game for so many, or as many as usual; raises `ConfigError` where there is none."""
    if of.simulation is None:
        raise ConfigError(f"{of.title} cannot be played here: it has no simulation.")
    return of.simulation.load()(seats)
