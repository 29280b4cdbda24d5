"""Whole games between compiled players, and who wins which of their rounds.

Each deal is played twice, once from either seat: with the same seed the same cards come up, who
ever holds them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from cardsharp.blef.strategies import build
from cardsharp.blef.strategies.bayes import Bayes
from cardsharp.blef.strategies.greedy import Greedy
from cardsharp.blef.strategies.large import known
from cardsharp.blef.strategies.solved import Solved
from cardsharp.blef.strategies.threshold import Threshold
from cardsharp.blef.strategies.trained import FILE, read
from cardsharp.blef.strategies.uniform import Uniform
from cardsharp.errors import ConfigError
from research.blef.compiled import Cards, CPlayer, CTable, play_game, player, solved_plans
from research.blef.large_rounds import known_in, teach
from research.blef.packing import opened
from workbench.lab.interval import Interval, interval

PAIRS = 10
"""Pairs of games of a task."""

_APART = 10_000_000
"""Seeds are so far apart that no deal of one is a deal of another."""


class Setup(NamedTuple):
    """A round as the first player meets it: its own cards, the other's, and whether it begins."""

    cards: Cards
    begins: bool


class Player(NamedTuple):
    """Who plays: the strategy's name, and the tables that `solved` plays."""

    strategy: str
    file: Path = FILE


@cache
def compiled(who: Player) -> CPlayer:
    """The likeness in C.

    Raises:
        ConfigError: there is none, or the file holds no whole tables.
    """
    match build(who.strategy, Random(0)):
        case Solved():
            return teach(player("tables", tables_in(who.file), solved_plans()), known_in(known()))
        case Bayes():
            return player("bayes", plans=solved_plans())
        case Threshold() as marks:
            return player("threshold", check=marks.check, bet=marks.bet)
        case Greedy():
            return player("threshold")
        case Uniform():
            return player("random")
    raise ConfigError(f"'{who.strategy}' is not compiled; only the strategies of Blef are.")


def tables_in(file: Path) -> dict[Cards, CTable]:
    """The tables of a file, by the cards of who begins and of the other.

    Raises:
        ConfigError: they are not as they were written.
    """
    tables = read(file)
    if not tables.file.is_whole():
        raise ConfigError(f"{file} is damaged: its rows are not those that were written.")
    return {cards: opened(cards, found) for cards, found in tables.rounds.items()}


@dataclass
class Tally:
    """What the first player won: of each deal's two games, and of the rounds by setup."""

    shares: list[float] = field(default_factory=list)
    rounds: Counter[Setup] = field(default_factory=Counter)
    won: Counter[Setup] = field(default_factory=Counter)

    def add(self, other: "Tally") -> None:
        """Count more."""
        self.shares += other.shares
        self.rounds += other.rounds
        self.won += other.won

    @property
    def interval(self) -> Interval:
        """Where the share of the games that the first wins lies with 95 % confidence."""
        return interval(self.shares, 2)


def play_pairs(players: tuple[Player, Player], seeds: Iterable[int]) -> Tally:
    """Two games for each seed, the first player in the first seat and in the second."""
    tally = Tally()
    ours, theirs = map(compiled, players)
    for seed in seeds:
        won = 0
        for seat, seats in enumerate(((ours, theirs), (theirs, ours))):
            rounds = play_game(seats, seed)
            won += rounds[-1].loser != seat
            for played in rounds:
                cards = played.cards[seat], played.cards[1 - seat]
                setup = Setup(cards, played.starter == seat)
                tally.rounds[setup] += 1
                tally.won[setup] += played.loser != seat
        tally.shares.append(won / 2)
    return tally


def play_games(
    players: tuple[Player, Player], pairs: int, seed: int, pool: Executor | None = None
) -> Iterator[Tally]:
    """So many pairs, a few at a time; the same seed plays the same games, whoever works on them."""
    first, last = seed * _APART, seed * _APART + pairs
    tasks = [range(at, min(at + PAIRS, last)) for at in range(first, last, PAIRS)]
    yield from (map if pool is None else pool.map)(partial(play_pairs, players), tasks)
