"""Learning large rounds and opening what was learned for compiled play."""

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from itertools import combinations_with_replacement
from typing import NamedTuple

from cardsharp.blef.actions import BETS
from cardsharp.blef.rules import MIN_PLAYERS, max_cards
from cardsharp.blef.strategies.large import BONDS, CLASSES, KINDS, Large
from cardsharp.blef.strategies.sight import OPENING
from research.blef.compiled import Cards, CPlayer, library

_FEWEST, _MOST = 8, 18
_SEED = 1

ROUNDS: tuple[Cards, ...] = tuple(
    cards
    for cards in combinations_with_replacement(range(1, max_cards(MIN_PLAYERS) + 1), 2)
    if _FEWEST <= sum(cards) <= _MOST
)
"""The rounds that are learned, whoever begins; in larger ones `bayes` is better."""

_ROWS = len(BETS) + 1
_VALUES = BONDS * sum(CLASSES + KINDS * bets for bets in range(_ROWS))
"""Bytes of what is known by one's own cards and the other's."""


class Lessons(NamedTuple):
    """How much is learned of a round."""

    steps: int = 250
    deals: int = 400


def learn(cards: Cards, lessons: Lessons) -> dict[Cards, bytes]:
    """What is learned of a round, by one's own cards and the other's."""
    kept = ctypes.create_string_buffer(_VALUES), ctypes.create_string_buffer(_VALUES)
    seed = (_SEED * 16 + cards[0]) * 16 + cards[1]
    if not library().learn_large(*cards, lessons.steps, lessons.deals, seed, *kept):
        raise MemoryError("Not enough memory to learn.")
    return {cards: kept[0].raw, cards[::-1]: kept[1].raw}


def learn_all(
    rounds: Sequence[Cards], lessons: Lessons, pool: Executor | None = None
) -> Iterator[dict[Cards, bytes]]:
    """What is learned of these rounds, one after the other; the same, whoever works on them."""
    yield from (map if pool is None else pool.map)(partial(learn, lessons=lessons), rounds)


def teach(player: CPlayer, known: Mapping[Cards, bytes]) -> CPlayer:
    """The player, who knows this of large rounds now."""
    for (own, other), values in known.items():
        player.large[own][other] = values
    return player


def known_in(large: Large) -> dict[Cards, bytes]:
    """What a file keeps, as it was learned."""
    lasts = range(OPENING, len(BETS))
    return {cards: b"".join(large.row(cards, last) for last in lasts) for cards in large.rounds}
