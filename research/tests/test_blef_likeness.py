"""The players in C are held against those in Python; local best responses against exact ones.

Exact best answers to whole strategies are known for the smallest rounds (docs/blef-strength.md).
"""

import ctypes
from collections.abc import Iterator
from random import Random

import pytest

from cardsharp.blef.actions import BETS, CHECK
from cardsharp.blef.cards import DECK
from cardsharp.blef.position import Position
from cardsharp.blef.rules import Move
from cardsharp.blef.strategies.minds import HABITS, OPENING, mind_of
from cardsharp.blef.strategies.odds import bits_of
from cardsharp.blef.strategies.tabled import looked_up
from cardsharp.blef.strategies.trained import FILE, trained
from research.blef.compiled import CPlayer, lacking, library, player
from research.blef.packing import tables_in
from research.compiling import members, why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason="needs a C compiler")

_BETS = len(BETS)


class CMind(ctypes.Structure):
    _fields_ = members(
        "..b", "chances careful bold", ctypes.c_double * _BETS, ctypes.c_uint8 * (_BETS + 1)
    )


class CView(ctypes.Structure):
    _fields_ = members(
        "iI.i.", "role hand cards said bet", ctypes.c_int * 2, ctypes.c_uint8 * _BETS
    )


def view_of(position: Position) -> CView:
    view = CView(role=position.me, hand=bits_of(position.hand), cards=position.n_cards)
    view.said = len(position.history)
    for place, move in enumerate(position.history):
        view.bet[place] = move.action
    return view


def positions(seed: int, many: int) -> Iterator[Position]:
    """Rounds with up to three bets, mostly low as they are at a table."""
    dice = Random(seed)
    for _ in range(many):
        n_cards = dice.randint(1, 5), dice.randint(2, 5)
        said = sorted(dice.sample(range(_BETS - 1), dice.randint(0, 3)))
        me = len(said) % 2
        hand = tuple(dice.sample(DECK, n_cards[me]))
        hands = (hand, ()) if me == 0 else ((), hand)
        history = tuple(Move(place % 2, bet) for place, bet in enumerate(said))
        yield Position(me, 1, 11, n_cards, hands, me, history)


def test_minds_are_the_same() -> None:
    """What each habit says."""
    dice, made = Random(3), CMind()
    given = ctypes.byref(made)
    for _ in range(60):
        hand, hidden = bits_of(dice.sample(DECK, dice.randint(1, 8))), dice.randint(1, 8)
        library().mind_of(hand, hidden, given)
        replies = [
            [library().reply(given, habit, last) for last in range(_BETS + 1)]
            for habit in range(len(HABITS))
        ]
        lasts = (*range(_BETS), OPENING)
        assert replies == [[row[last] for last in lasts] for row in mind_of(hand, hidden).replies]


def test_the_shipped_tables_are_played_as_in_python() -> None:
    """The same chances of the same actions, wherever the strategy finds any."""
    ours, found = player("tables", tables_in(FILE)), 0
    for seen in positions(9, 400):
        play = (ctypes.c_double * (CHECK + 1))()
        mixed = looked_up(trained(), seen)
        knows = library().tables_play(ctypes.byref(ours), ctypes.byref(view_of(seen)), play)
        if mixed is not None and sum(seen.n_cards) < 8:
            assert knows
            assert dict(mixed) == {action: often for action, often in enumerate(play) if often}
            found += 1
    assert found > 20


@pytest.mark.parametrize(
    ("cards", "other", "exact"),
    [
        ((1, 1), player("threshold"), 0.058),
        ((2, 1), player("threshold"), 0.105),
        ((1, 2), player("threshold"), 0.135),
        ((1, 1), player("threshold", check=0.2, bet=0.5), 0.272),
        ((1, 2), player("threshold", check=0.2, bet=0.5), 0.375),
    ],
)
def test_a_local_answer_nears_the_best_one_and_never_wins_more(
    cards: tuple[int, int], other: CPlayer, exact: float
) -> None:
    found = lacking(cards, other, 2, 1, 3000)
    assert found.low < exact < found.high + 0.01
