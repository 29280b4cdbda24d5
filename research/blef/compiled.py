"""The trainer and the players in C, as Python sees them; needs a C compiler."""

import ctypes
from array import array
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from math import sqrt
from pathlib import Path
from typing import TypeAlias

from cardsharp.blef.actions import BETS
from cardsharp.blef.strategies.odds import bits_of
from cardsharp.blef.strategies.sight import Shape, hands_of
from cardsharp.blef.strategies.trained import Rows
from cardsharp.errors import ConfigError
from cardsharp.ratings import NORMAL_95
from research.compiling import declare, load, members, why_not
from workbench.lab.interval import Interval

_BETS, _VALUES, _MOST_CARDS = len(BETS), 6, 11
_CODES, _PLACES = 5**_VALUES, 80_000

Cards = tuple[int, int]  # the cards of who begins and of the other
Weights: TypeAlias = "ctypes.Array[ctypes.c_float]"
"""Numbers by hand, place and choice, of one role."""


class _Bet(ctypes.Structure):
    _fields_ = members(".bI", "values colour cards", ctypes.c_uint8 * _VALUES)


class CSetup(ctypes.Structure):
    """`Setup` of blef.h."""

    _fields_ = members(
        "..i..ii...i",
        "cards hands bets bet place high classes class_of hand start span",
        *[ctypes.c_int32 * 2] * 2,
        ctypes.c_uint8 * _BETS,
        ctypes.c_int8 * _BETS,
        ctypes.c_uint8 * (_BETS + 1),
        ctypes.c_int16 * _CODES,
        ctypes.c_int32 * _PLACES,
    )


class _Learning(ctypes.Structure):
    _fields_ = members(
        "...ddd",
        "setup regrets sums explore tremble habits",
        ctypes.POINTER(CSetup),
        *[ctypes.c_void_p * 2] * 2,
    )


class CTable(ctypes.Structure):
    """`Table` of blef.h."""

    _fields_ = members(
        ".....",
        "setup rows numbers places choices",
        ctypes.POINTER(CSetup),
        ctypes.c_int32 * 2,
        *[ctypes.c_char_p * 2] * 3,
    )


class CPlayer(ctypes.Structure):
    """`Player` of blef.h."""

    _fields_ = members(
        "idd..",
        "kind check bet tables large",
        (ctypes.POINTER(CTable) * (_MOST_CARDS + 1)) * (_MOST_CARDS + 1),
        (ctypes.c_char_p * (_MOST_CARDS + 1)) * (_MOST_CARDS + 1),
    )


@cache
def library() -> ctypes.CDLL:
    """The compiled code; raises `ConfigError` where there is no compiler, or it fails."""
    found = load(Path(__file__).parent / "native")
    if found is None:
        raise ConfigError(f"{why_not()} Tables are trained by compiled code alone.")
    declare(found.train, "PQq", "?")
    declare(found.lay_out, "P")
    declare(found.pack, "PiPdPP")
    declare(found.fade, "Pqf")
    declare(found.play_rounds, "PPiiQq", "q")
    declare(found.local_best_response, "PiiiiQq", "q")
    declare(found.learn_large, "iiiiQPP", "?")
    declare(found.holds, "iI", "?")
    declare(found.odds, "IiP")
    given = (_Bet * _BETS)()
    for place, bet in enumerate(BETS):
        for value, needed in bet.values:
            given[place].values[value] = needed
        given[place].colour = bet.colours[0][0] if bet.colours else -1
        given[place].cards = bits_of(bet.cards)
    found.blef_begin(given)
    found.large_begin()
    return found


def setup_of(cards: Cards) -> CSetup:
    """A round's tables as C knows them."""
    shape = Shape(cards)
    made = CSetup(cards=cards, hands=tuple(len(hands_of(number)) for number in cards))
    made.bets = len(shape.bets)
    made.place[:] = [-1] * _BETS
    for place, bet in enumerate(shape.bets):
        made.bet[place], made.place[bet] = bet, place
        made.class_of[place + 1] = shape.class_of(bet)
    made.classes, made.high = shape.classes, 1 + shape.high
    for held in cards:
        for hand, number in hands_of(held).items():
            made.hand[sum(5**value for value in hand)] = number
    library().lay_out(ctypes.byref(made))
    return made


_EXPLORE, _TREMBLE = 0.5, 0.03
_SMALL, _HABITS = 6, 0.05
"""How often the other's habits are reckoned with where more cards are in play than six."""


class Learner:
    """A round's two tables as they are learned; `sums` is what they come to on average.

    The other explores sometimes (`tremble`), and sometimes bets as players do who look at their own
    cards (`habits`), so that something is learned of what an equilibrium would never say.
    """

    def __init__(self, cards: Cards) -> None:
        self.setup = setup_of(cards)
        sizes = [hands * self.setup.span for hands in self.setup.hands]
        self.regrets = [(ctypes.c_float * size)() for size in sizes]
        self.sums = [(ctypes.c_float * size)() for size in sizes]
        self._learning = _Learning(
            setup=ctypes.pointer(self.setup),
            explore=_EXPLORE,
            tremble=_TREMBLE,
            habits=_HABITS if sum(cards) > _SMALL else 0,
        )
        for role in (0, 1):
            self._learning.regrets[role] = ctypes.addressof(self.regrets[role])
            self._learning.sums[role] = ctypes.addressof(self.sums[role])

    def learn(self, seed: int, deals: int) -> None:
        """Learn from so many deals."""
        if not library().train(ctypes.byref(self._learning), seed, deals):
            raise MemoryError("Not enough memory to learn.")

    def fade(self, regrets: float, sums: float) -> None:
        """Let what was learned so far count less."""
        for many, by in ((self.regrets, regrets), (self.sums, sums)):
            for numbers in many:
                library().fade(numbers, len(numbers), by)


def table_of(setup: CSetup, tables: Sequence[Rows]) -> CTable:
    """A table of these rows, by role."""
    made = CTable(setup=ctypes.pointer(setup))
    for role, table in enumerate(tables):
        places = array("I", accumulate(map(len, table.rows), initial=0))
        made.numbers[role] = array("I", table.numbers).tobytes()
        made.places[role] = places.tobytes()
        made.choices[role] = b"".join(table.rows)
        made.rows[role] = len(table.numbers)
    return made


def player(
    kind: str, tables: Mapping[Cards, CTable] | None = None, check: float = -1, bet: float = 0.5
) -> CPlayer:
    """A player of rounds."""
    made = CPlayer(kind=("threshold", "tables").index(kind), check=check, bet=bet)
    for (one, two), table in (tables or {}).items():
        made.tables[one][two] = ctypes.pointer(table)
    return made


def play_rounds(first: CPlayer, second: CPlayer, cards: Cards, seed: int, rounds: int) -> float:
    """The share of so many rounds that the first, who begins, wins."""
    players = ctypes.byref(first), ctypes.byref(second)
    won: int = library().play_rounds(*players, *cards, seed, rounds)
    return won / rounds


def lacking(cards: Cards, other: CPlayer, depth: int, seed: int, rounds: int) -> Interval:
    """What a local best response wins above an equal share, mean of both seats: 95 % sure.

    No best answer wins less, so this bounds the exploitability from below.
    """
    each, respond = rounds // 2, library().local_best_response
    won = [
        respond(ctypes.byref(other), *cards, role, depth, seed + role, each) / each
        for role in (0, 1)
    ]
    if min(won) < 0:
        raise MemoryError("Not enough memory for a local best response.")
    spread = sum(share * (1 - share) / each for share in won) / len(won) ** 2
    margin, mean = NORMAL_95 * sqrt(spread), sum(won) / len(won) - 0.5
    return Interval(mean - margin, mean + margin)
