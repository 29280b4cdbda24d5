"""Rounds with eight cards in play and more: what a choice wins there, and the file that keeps it.

A table knows no hands. It keeps the chance to win the round for each choice: a check by how likely
the last bet is by one's own cards, a bet by how likely it is itself, and how many of the cards it
still lacks the last bet claims too; both by the last bet, and by what that shares with the bet
before. The likelier a choice is to win, the more often it is taken; so any bet may be a lie.
The compiled trainer sees the same: research/blef/native/large.c.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp
from pathlib import Path
from zlib import compress

from cardsharp.blef.actions import BETS, CHECK
from cardsharp.blef.strategies.equilibrium import Mixture
from cardsharp.blef.strategies.mapped import NUMBER, Mapped, read_mapped, unpack, write_mapped
from cardsharp.blef.strategies.odds import OF_VALUE, bits_of, claimed, odds
from cardsharp.blef.strategies.sight import OPENING

MARKS = (0.03, 0.1, 0.22, 0.38, 0.55, 0.72, 0.88, 0.9999)  # where classes of chances end
CLASSES, HELPS, BONDS = len(MARKS) + 1, 3, 4
KINDS = CLASSES * HELPS  # how a bet may look: by its class and the help of the last bet
TEMPERATURE = 0.035  # a choice that is likelier to win by so much is taken e times as often
PARTS = 50  # chances are kept in fiftieths
FORMAT = 2
FILE = Path(str(files("cardsharp.blef.strategies") / "tables" / "large.bin"))

_WEIGHTS = (0.0, *(exp((parts / PARTS - 0.6) / TEMPERATURE) for parts in range(PARTS + 1)))

Cards = tuple[int, int]  # one's own cards and the other's


@dataclass(frozen=True, slots=True)
class Large:
    """What is known of large rounds: by cards where in the body each row begins, and the end."""

    rounds: Mapping[Cards, memoryview]
    file: Mapped

    def row(self, cards: Cards, last: int) -> bytes:
        """The chances after a last bet, one more than their fiftieths, 0 for what never came up.

        First those of the check by class and bond, then of each higher bet by kind and bond.
        """
        begins = self.rounds[cards]
        return unpack(self.file.body, begins[last + 1], begins[last + 2])


def mixture(known: Large, cards: Cards, pool: int, bets: Sequence[int]) -> Mixture:
    """How often each action is taken with these cards in hand; `bets` are the last two."""
    before, last = bets
    row, chances = known.row(cards, last), odds(pool, cards[1])
    with_before = bond(before, last)
    weights = {}
    if last != OPENING:
        weights[CHECK] = _WEIGHTS[row[_class_of(chances[last]) * BONDS + with_before]]
    start = CLASSES * BONDS + with_before
    for bet in range(last + 1, len(BETS)):
        kind = _class_of(chances[bet]) * HELPS
        if last != OPENING:
            kind += min(help_of(bet, last, pool), HELPS - 1)
        weights[bet] = _WEIGHTS[row[start + kind * BONDS]]
        start += KINDS * BONDS
    total = sum(weights.values())
    return tuple((action, weight / total) for action, weight in weights.items() if weight)


def _class_of(chance: float) -> int:
    return bisect_right(MARKS, chance)


@cache
def bond(before: int, last: int) -> int:
    """What a bet shares with the one before: 1 nothing, 2 some, 3 all of its cards; 0: none."""
    if OPENING in (before, last):
        return 0
    one, two = BETS[before], BETS[last]
    if _colour_of(before) != _colour_of(last):
        return 1
    if one.cards and two.cards:
        shared, size = len(one.cards & two.cards), one.size
    elif one.values:
        shared, size = sum(_claimed_by_both(last, before).values()), one.size
    else:
        return 3
    return 1 if not shared else 2 if shared < size else 3


def help_of(bet: int, last: int, pool: int) -> int:
    """How many cards of a bet that these lack the last bet claims too."""
    colour = _colour_of(bet)
    if colour != _colour_of(last):
        return 0
    if BETS[bet].cards and BETS[last].cards:
        return (_bits(bet) & _bits(last) & ~pool).bit_count()
    if colour >= 0:
        return min(claimed(one, pool).bit_count() for one in (bet, last))
    both = _claimed_by_both(bet, last)
    return sum(max(0, n - (pool & OF_VALUE[value]).bit_count()) for value, n in both.items())


@cache
def _claimed_by_both(bet: int, last: int) -> dict[int, int]:
    of_last = dict(BETS[last].values)
    both = {value: min(needed, of_last.get(value, 0)) for value, needed in BETS[bet].values}
    return {value: number for value, number in both.items() if number}


@cache
def _colour_of(bet: int) -> int:
    """The colour of a bet, -1 where it is on values alone."""
    said = BETS[bet]
    if said.cards:
        return next(iter(said.cards)).colour
    return said.colours[0][0] if said.colours else -1


@cache
def _bits(bet: int) -> int:
    return bits_of(BETS[bet].cards)


@cache
def known() -> Large:
    """What is shipped, opened when it is first needed."""
    return read(FILE)


def read(file: Path) -> Large:
    """What a file keeps, mapped into memory and read where looked up; raises `ConfigError`."""
    entries, mapped = read_mapped(file, FORMAT)
    rounds = {
        (own, other): mapped.body[at : at + NUMBER * (len(BETS) + 2)].cast("I")
        for own, other, at in entries
    }
    return Large(rounds, mapped)


def write(file: Path, made_by: str, rounds: Mapping[Cards, bytes]) -> None:
    """Write what was learned: for each round all its rows, one after the other."""
    body, entries = bytearray(), []
    for cards, values in sorted(rounds.items()):
        packed = [compress(row, 9) for row in _rows(values)]
        begins = [len(body) + NUMBER * (len(packed) + 1)]
        for row in packed:
            begins.append(begins[-1] + len(row))
        entries.append((*cards, len(body)))
        body += b"".join(number.to_bytes(NUMBER, "little") for number in begins)
        body += b"".join(packed)
        body += bytes(-len(body) % NUMBER)
    write_mapped(file, FORMAT, made_by, entries, bytes(body))


def _rows(values: bytes) -> Iterator[bytes]:
    at = 0
    for last in range(OPENING, len(BETS)):
        size = (CLASSES + KINDS * (len(BETS) - last - 1)) * BONDS
        yield values[at : at + size]
        at += size
