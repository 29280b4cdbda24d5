"""What each round of a game is worth: the chance to win the game from there, by induction.

With two players only who loses a round matters for what follows: the loser gets a card and begins
the next one, so there are at most 11 x 11 x 2 rounds that a game can come to. How often the first
wins each of them is measured by playing it; the rest is arithmetic, from the last rounds back.

In the round itself nobody needs any of these values. A round has two outcomes for a player; so
whatever they are worth, who wants to win the game wants to win the round, as long as winning it is
worth more than losing it. `Values.exceptions` has the rounds where it is not.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from math import fsum, sqrt
from statistics import fmean

from cardsharp.blef.rules import MIN_PLAYERS, max_cards
from cardsharp.ratings import NORMAL_95
from research.blef.compiled import play_rounds
from research.blef.games import Player, Setup, compiled

MOST_CARDS = max_cards(MIN_PLAYERS)

SETUPS = tuple(
    Setup((own, other), begins)
    for own, other in product(range(1, MOST_CARDS + 1), repeat=2)
    for begins in (True, False)
)
"""All rounds that a game can come to, as the first player meets them."""

STARTS = tuple(Setup((1, 1), begins) for begins in (True, False))

_APART = 1_000


def measure(
    players: tuple[Player, Player], rounds: int, seed: int, pool: Executor | None = None
) -> Iterator[tuple[Setup, float]]:
    """The share of so many rounds that the first player wins, setup by setup."""
    ask = partial(_measured, players, rounds, seed)
    yield from zip(SETUPS, (map if pool is None else pool.map)(ask, SETUPS), strict=True)


def _measured(players: tuple[Player, Player], rounds: int, seed: int, setup: Setup) -> float:
    first, second = map(compiled, players)
    seed = seed * _APART + SETUPS.index(setup)
    if setup.begins:
        return play_rounds(first, second, setup.cards, seed, rounds)
    return 1 - play_rounds(second, first, setup.cards[::-1], seed, rounds)


@dataclass(frozen=True)
class Values:
    """What follows from the chances of the first player to win each round."""

    chances: Mapping[Setup, float]

    @cached_property
    def game(self) -> dict[Setup, float]:
        """The first player's chance to win the game from the beginning of each round."""
        values: dict[Setup, float] = {}
        for setup in sorted(SETUPS, key=lambda setup: -sum(setup.cards)):
            won, lost = (_worth(values, _after(setup, won)) for won in (True, False))
            values[setup] = lost + self.chances[setup] * (won - lost)
        return values

    def stake(self, setup: Setup) -> float:
        """How much more it is worth to the first player to win a round than to lose it."""
        won, lost = (_worth(self.game, _after(setup, won)) for won in (True, False))
        return won - lost

    @property
    def exceptions(self) -> list[Setup]:
        """The rounds that are better lost than won."""
        return [setup for setup in SETUPS if self.stake(setup) < 0]

    @cached_property
    def weights(self) -> dict[Setup, float]:
        """What each round counts for a whole game: how often it is met, times its stake.

        A point more of all rounds of a setup is so many points more of the games.
        """
        met = dict.fromkeys(SETUPS, 0.0) | dict.fromkeys(STARTS, 1 / len(STARTS))
        for setup in sorted(SETUPS, key=lambda setup: sum(setup.cards)):
            for won, chance in ((True, self.chances[setup]), (False, 1 - self.chances[setup])):
                if (following := _after(setup, won)) in met:
                    met[following] += met[setup] * chance
        return {setup: met[setup] * self.stake(setup) for setup in SETUPS}

    @property
    def chance(self) -> float:
        """The first player's chance to win a whole game, begun by either."""
        return fmean(self.game[start] for start in STARTS)

    def margin(self, rounds: int) -> float:
        """Half the 95 % interval of that chance, where so many rounds of each setup were played."""
        spread = fsum(
            self.weights[setup] ** 2 * chance * (1 - chance)
            for setup, chance in self.chances.items()
        )
        return NORMAL_95 * sqrt(spread / rounds)


def _after(setup: Setup, won: bool) -> Setup:
    """The next round: who lost has a card more, and begins."""
    own, other = setup.cards
    return Setup((own, other + 1), begins=False) if won else Setup((own + 1, other), begins=True)


def _worth(values: Mapping[Setup, float], setup: Setup) -> float:
    """The value of a round, or of a game that is over because somebody has too many cards."""
    own, other = setup.cards
    if max(own, other) > MOST_CARDS:
        return float(other > own)
    return values[setup]
