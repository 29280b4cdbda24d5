"""The likeness of `bayes` in C is held against `bayes`; local best responses against exact ones.

Exact best answers to whole strategies are known for the smallest rounds (docs/blef-strength.md).
"""

import ctypes
from collections.abc import Iterator
from random import Random

import pytest

from cardsharp.blef.actions import BETS, CHECK, LOST
from cardsharp.blef.cards import DECK
from cardsharp.blef.position import Position
from cardsharp.blef.state import Move, Round
from cardsharp.blef.strategies.bayes import Foresight, weighed
from cardsharp.blef.strategies.minds import HABITS, OPENING, mind_of
from cardsharp.blef.strategies.odds import bits_of
from cardsharp.blef.strategies.reading import Insight, reading_of
from cardsharp.blef.strategies.taste import traits_of
from cardsharp.blef.strategies.worlds import World, worlds_of
from research.blef.checking import Measured, lacking
from research.blef.compiled import CPlayer, Knowing, library, player
from research.blef.games import compiled
from research.compiling import why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason="needs a C compiler")

SAID = (0, 1, 0, 1, 0), (2, 7, 14, 19, CHECK)
"""Who said what."""

_KEPT, _BETS = 90, len(BETS)
_LOW = (1 << 64) - 1


class CMind(ctypes.Structure):
    _fields_ = (
        ("chances", ctypes.c_double * _BETS),
        ("above", ctypes.c_double * (_BETS + 1)),
        ("careful", ctypes.c_uint8 * (_BETS + 1)),
        ("bold", ctypes.c_int8),
        ("level", ctypes.c_uint8 * _BETS),
        ("high", ctypes.c_bool * _BETS),
        ("before", ctypes.c_int8 * _BETS),
    )


class CWorld(ctypes.Structure):
    _fields_ = (
        ("low", ctypes.c_uint64),
        ("high", ctypes.c_uint64),
        ("replies", ctypes.c_uint8 * _BETS),
    )


class CView(ctypes.Structure):
    _fields_ = (
        ("role", ctypes.c_int),
        ("hand", ctypes.c_uint32),
        ("cards", ctypes.c_int * 2),
        ("said", ctypes.c_int),
        ("bet", ctypes.c_uint8 * _BETS),
        ("dice", ctypes.c_uint64),
        ("reading", ctypes.c_void_p * 2),
    )


def view_of(position: Position) -> CView:
    view = CView(role=position.me, hand=bits_of(position.hand), cards=position.n_cards)
    view.said = len(position.history)
    for place, move in enumerate(position.history):
        view.bet[place] = move.action
    return view


def world_of(world: World) -> CWorld:
    made = CWorld(world.truth & _LOW, world.truth >> 64)
    made.replies[:] = [world.replies[0][last] for last in range(_BETS)]
    return made


def positions(seed: int, many: int, highest: int = _BETS - 1) -> Iterator[Position]:
    """Rounds with up to three bets, mostly low as they are at a table."""
    dice = Random(seed)
    for _ in range(many):
        n_cards = dice.randint(1, 5), dice.randint(2, 5)
        said = sorted(dice.sample(range(highest), dice.randint(0, 3)))
        me = len(said) % 2
        hand = tuple(dice.sample(DECK, n_cards[me]))
        hands = (hand, ()) if me == 0 else ((), hand)
        history = tuple(Move(place % 2, bet) for place, bet in enumerate(said))
        yield Position(me, 1, 11, n_cards, hands, me, history)


def test_minds_are_the_same() -> None:
    """What each habit says, and how well it explains a bet."""
    dice, made = Random(3), CMind()
    explains, given = library().explains, ctypes.byref(made)
    explains.restype = ctypes.c_double
    habits = range(len(HABITS))
    for _ in range(60):
        hand, hidden = bits_of(dice.sample(DECK, dice.randint(1, 8))), dice.randint(1, 8)
        library().mind_of(hand, hidden, given)
        mind = mind_of(hand, hidden)
        replies = [[library().reply(given, n, last) for last in range(_BETS + 1)] for n in habits]
        assert replies == [list(row) for row in mind.replies]
        for last in (OPENING, dice.randrange(_BETS - 1)):
            bet = dice.randrange(last + 1, _BETS)
            above = _BETS if last == OPENING else last
            explained = [explains(given, n, above, bet) for n in habits]
            assert explained == pytest.approx(mind.explains(last, bet))
        traits = traits_of(hand, hidden)
        assert [made.level[:], made.before[:]] == [traits.levels, traits.before]
        assert [int(high) for high in made.high] == traits.high


def test_decisions_in_the_same_worlds_are_the_same() -> None:
    for number, position in enumerate(positions(seed=7, many=25)):
        worlds = worlds_of(position, Random(number))
        chances = [sum(one.truth >> bet & 1 for one in worlds) / len(worlds) for bet in range(88)]
        given = (CWorld * len(worlds))(*map(world_of, worlds))
        view = view_of(position)
        action = library().decide_in(ctypes.byref(view), given, len(worlds))
        assert action == weighed(position, Foresight(worlds, chances)).action, position


OVER = Round(1, 11, (3, 3), (DECK[:3], DECK[10:13]), None, (*map(Move, *SAID), Move(0, LOST)))
"""A round in which both bet and one checked, as it is seen when it is over."""


def read(rounds: int) -> tuple[Insight, ctypes.Array[ctypes.c_char]]:
    """Whoever sat second in so many rounds of that kind, as Python and as C read it."""
    made, view = ctypes.create_string_buffer(4096), CView(cards=OVER.n_cards)
    view.said = len(SAID[1]) - 1
    view.bet[: view.said] = SAID[1][:-1]
    library().begin_reading(made)
    tables = ctypes.byref(compiled("reader"))
    for _ in range(rounds):
        library().read_round(made, tables, ctypes.byref(view), 1, bits_of(OVER.hands[1]))
    return reading_of((OVER,) * rounds, 1), made


def test_what_was_read_foretells_the_same() -> None:
    foretold = library().foretold
    foretold.restype, made = ctypes.c_double, CMind()
    found, as_c = read(5)
    for last, action in ((OPENING, 4), (4, 12), (12, 30), (12, CHECK)):
        hand = bits_of(DECK[4:8])
        library().mind_of(hand, 3, ctypes.byref(made))
        told = foretold(as_c, ctypes.byref(made), last, action)
        assert told == pytest.approx(found.explains(traits_of(hand, 3), last, action))


@pytest.mark.parametrize("rounds", [0, 4])
def test_worlds_are_drawn_alike(rounds: int) -> None:
    """How often each bet holds in them, and is checked, within 0.15 at 720 worlds each."""
    found, as_c = read(rounds)
    for number, position in enumerate(positions(seed=11, many=4, highest=30)):
        known = {1 - (position.me or 0): found} if rounds else {}
        ours = [
            world_of(one)
            for n in range(8)
            for one in worlds_of(position, Random(8 * number + n), known)
        ]
        kept, view, theirs = (CWorld * _KEPT)(), view_of(position), []
        if rounds:
            view.reading[view.role] = ctypes.addressof(as_c)
        for n in range(40):
            rng = ctypes.c_uint64(n)
            drawn = library().draw_worlds(ctypes.byref(view), ctypes.byref(rng), kept)
            theirs += [CWorld.from_buffer_copy(one) for one in kept[:drawn]]
        for bet in range(0, 64, 3):
            assert held(ours, bet) == pytest.approx(held(theirs, bet), abs=0.15)
            assert checked(ours, bet) == pytest.approx(checked(theirs, bet), abs=0.15)


def held(worlds: list[CWorld], bet: int) -> float:
    return sum(bool(one.low >> bet & 1) for one in worlds) / len(worlds)


def checked(worlds: list[CWorld], bet: int) -> float:
    return sum(bool(one.replies[bet] == _BETS) for one in worlds) / len(worlds)


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
    found = lacking(cards, other, Knowing(2), 1, 3000)
    assert found.low < exact < found.high + 0.01


def test_who_must_guess_the_dice_wins_less_or_as_much() -> None:
    """`bayes` is read by its bets, whatever its dice: both find far more than a tenth."""
    known, guessed = (lack(guesses) for guesses in (0, 2))
    assert guessed.low > 0.1
    assert guessed.low < known.high


def lack(guesses: int) -> Measured:
    return lacking((2, 2), player("bayes"), Knowing(1, guesses), 1, 40)
