"""Making the shipped files of what was learned, and opening them for compiled play."""

import ctypes
from array import array
from collections.abc import Mapping
from itertools import combinations_with_replacement
from pathlib import Path
from typing import NamedTuple

from cardsharp.blef.actions import BETS
from cardsharp.blef.rules import MIN_PLAYERS, max_cards
from cardsharp.blef.strategies.large import BONDS, CLASSES, KINDS, Large
from cardsharp.blef.strategies.sight import OPENING
from cardsharp.blef.strategies.trained import RoleTable, Rows, read
from cardsharp.errors import ConfigError
from research.blef.compiled import Cards, CPlayer, CTable, Learner, library, setup_of, table_of

SELDOM = 1e-5  # what a hand comes to less often is not kept
ROW, _NUMBER = 24, 4  # bytes of a row as it is packed: twelve choices; and of its number


def packed(learner: Learner) -> tuple[Rows, Rows]:
    """The rows of the average play, of who begins and of the other.

    Left out is where a hand only checks, and what it seldom comes to.
    """
    return _rows(learner, 0), _rows(learner, 1)


def _rows(learner: Learner, role: int) -> Rows:
    setup = learner.setup
    most = (setup.bets + 1) ** 2 * setup.classes * setup.hands[role]
    numbers, rows = (ctypes.create_string_buffer(most * size) for size in (_NUMBER, ROW))
    many = library().pack(ctypes.byref(setup), role, learner.sums[role], SELDOM, numbers, rows)
    kept = memoryview(rows)[: many * ROW]
    every = [_trimmed(bytes(kept[at : at + ROW])) for at in range(0, len(kept), ROW)]
    return Rows(array("I", numbers.raw[: many * _NUMBER]), every)


def _trimmed(row: bytes) -> bytes:
    chances = row[1::2]
    return row[: 2 * chances.index(0)] if 0 in chances else row


def opened(cards: Cards, tables: tuple[RoleTable, RoleTable]) -> CTable:
    """A shipped table as the compiled players take it."""
    return table_of(setup_of(cards), [*map(_rows_of, tables)])


def tables_in(file: Path) -> dict[Cards, CTable]:
    """The tables of a file, by the cards of who begins and the other; else raises `ConfigError`."""
    tables = read(file)
    if not tables.file.is_whole():
        raise ConfigError(f"{file} is damaged: its rows are not those that were written.")
    return {cards: opened(cards, found) for cards, found in tables.rounds.items()}


def _rows_of(table: RoleTable) -> Rows:
    numbers, rows = array("I"), list[bytes]()
    for last in range(table.parts):
        part = table.part(last)
        numbers.extend(table.apart * last + number for number in part.numbers)
        rows += part.rows
    return Rows(numbers, rows)


_FEWEST, _MOST = 8, 18
_SEED = 1

ROUNDS: tuple[Cards, ...] = tuple(
    cards
    for cards in combinations_with_replacement(range(1, max_cards(MIN_PLAYERS) + 1), 2)
    if _FEWEST <= sum(cards) <= _MOST
)  # the rounds that are learned, whoever begins; in larger ones `bayes` is better
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


def teach(player: CPlayer, known: Mapping[Cards, bytes]) -> CPlayer:
    """The player, who knows this of large rounds now."""
    for (own, other), values in known.items():
        player.large[own][other] = values
    return player


def known_in(large: Large) -> dict[Cards, bytes]:
    """What a file keeps, as it was learned."""
    lasts = range(OPENING, len(BETS))
    return {cards: b"".join(large.row(cards, last) for last in lasts) for cards in large.rounds}
