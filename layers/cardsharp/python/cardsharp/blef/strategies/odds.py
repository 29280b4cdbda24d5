"""How likely each bet is to hold, and which bets hold: exact, and fast enough to ask often.

A pool of cards is a number here, with a bit for each card: bit 6 * colour + value. So the cards
of a colour are six bits that index a table.
"""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from math import comb
from typing import NamedTuple

from cardsharp.blef.actions import BETS
from cardsharp.blef.cards import COLOURS, DECK, VALUES, Card

_SPAN = len(VALUES)
_SUITS = tuple(range(0, _SPAN * len(COLOURS), _SPAN))
_ONE_COLOUR = 2**_SPAN - 1
_BITS_A_COUNT = 3
_COUNT = 2**_BITS_A_COUNT - 1
_VALUE_BETS = tuple(number for number, bet in enumerate(BETS) if bet.values)
_FLUSHES = tuple(number for number, bet in enumerate(BETS) if bet.colours)
_EXACT = tuple(number for number, bet in enumerate(BETS) if bet.cards)
_FIRST_FLUSH = _FLUSHES[0]
_HELD = len(COLOURS) + 1
_MOST_CLAIMED = 2
_OF_TWO = tuple(n for n in _VALUE_BETS if len(BETS[n].values) <= _MOST_CLAIMED)
_STRAIGHTS = tuple(n for n in _VALUE_BETS if n not in _OF_TWO)
_FIRST_STRAIGHT = _STRAIGHTS[0]
_SPANS = tuple(tuple(value for value, _ in BETS[n].values) for n in _STRAIGHTS)

OF_VALUE = tuple(sum(1 << low + value for low in _SUITS) for value in range(_SPAN))
OF_COLOUR: tuple[int, ...] = tuple(_ONE_COLOUR << low for low in _SUITS)
"""All cards of a value, and of a colour."""

Odds = Sequence[float]  # the chance of each of the 88 bets to hold, by action
Need = tuple[int, int]  # so many cards more of so many that are not seen


def bits_of(cards: Iterable[Card]) -> int:
    """The cards as a number."""
    return sum(1 << bit_of(card) for card in cards)


def bit_of(card: Card) -> int:
    """The place of a card's bit."""
    return _SPAN * card.colour + card.value


def odds(pool: int, hidden: int) -> list[float]:
    """The chance of each bet where the pool is seen and so many cards more are in play.

    Each choice of the hidden cards counts as equally likely: no bet is taken as evidence.
    """
    suits = [(pool >> low) & _ONE_COLOUR for low in _SUITS]
    unseen = len(DECK) - pool.bit_count()
    by_values = _odds_of_values(sum(_COUNTS[suit] for suit in suits), unseen, hidden)
    rest = len(_VALUE_BETS) - _FIRST_FLUSH
    flushes = [
        _chance((_need(_FLUSH_SIZE, suit.bit_count(), _SPAN),), unseen, hidden) for suit in suits
    ]
    # The bets by seniority: values, flushes, four of a kind, straight flushes.
    return [
        *by_values[:_FIRST_FLUSH],
        *flushes,
        *by_values[-rest:],
        *[_all_of((cards & ~pool).bit_count(), unseen, hidden) for cards in _EXACT_BITS],
    ]


def truths(pool: int) -> int:
    """The bets that hold for these cards, as a number with a bit for each bet."""
    suits = [(pool >> low) & _ONE_COLOUR for low in _SUITS]
    held = _truths_of_values(sum(_COUNTS[suit] for suit in suits))
    for table, suit in zip(_SUIT_TRUTHS, suits, strict=True):
        held |= table[suit]
    return held


def claimed(bet: int, pool: int) -> int:
    """Some cards, the lowest, with which a bet holds and that the pool lacks."""
    said, rest = BETS[bet], [bit for bit in _CARDS if not bit & pool]
    if said.cards:
        return bits_of(said.cards) & ~pool
    sets = [(OF_VALUE[value], count) for value, count in said.values]
    sets += [(OF_COLOUR[colour], count) for colour, count in said.colours]
    return sum(
        sum([bit for bit in rest if bit & of][: max(0, count - (pool & of).bit_count())])
        for of, count in sets
    )


def _need(count: int, have: int, of: int) -> Need:
    return max(0, count - have), of - have


@cache
def _chance(needs: tuple[Need, ...], unseen: int, hidden: int) -> float:
    """The chance that the hidden cards have all that is needed; counted exactly."""
    ways = [1]
    for need, rest in needs:
        ways = _times(ways, [comb(rest, n) if n >= need else 0 for n in range(rest + 1)])
    others = unseen - sum(rest for _, rest in needs)
    good = sum(
        count * comb(others, hidden - taken) for taken, count in enumerate(ways) if taken <= hidden
    )
    return good / comb(unseen, hidden)


def _times(one: list[int], two: list[int]) -> list[int]:
    """The product of two polynomials, by their coefficients."""
    product = [0] * (len(one) + len(two) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(two):
            product[i + j] += a * b
    return product


@cache
def _all_of(missing: int, unseen: int, hidden: int) -> float:
    """The chance that the hidden cards include so many certain ones."""
    if missing > hidden:
        return 0.0
    return comb(unseen - missing, hidden - missing) / comb(unseen, hidden)


@lru_cache(maxsize=8192)
def _odds_of_values(counts: int, unseen: int, hidden: int) -> tuple[float, ...]:
    """The chances of the bets on values alone; `counts` are of the seen cards by value."""
    have = [(counts >> (_BITS_A_COUNT * value)) & _COUNT for value in range(_SPAN)]
    claims = _claims(unseen, hidden)
    found = [row[_HELD * have[one] + have[two]] for row, one, two in claims.of_two]
    lacking = (sum(not have[value] for value in span) for span in _SPANS)
    found[_FIRST_STRAIGHT:_FIRST_STRAIGHT] = [claims.straights[lacked] for lacked in lacking]
    return tuple(found)


class _Claims(NamedTuple):
    """The chances of claims of one or two values, with these, and of straights."""

    of_two: Sequence[tuple["_Row", int, int]]
    straights: "_Row"


@cache
def _claims(unseen: int, hidden: int) -> _Claims:
    rows: dict[tuple[int, ...], _Row] = {}
    of_two = []
    for number in _OF_TWO:
        (one, n), (two, m) = (*BETS[number].values, (0, 0))[:2]
        row = rows.setdefault((n, m), _Row((n, m), unseen, hidden))
        of_two.append((row, one, two))
    return _Claims(of_two, _Row((), unseen, hidden))


class _Row(dict[int, float]):
    """Chances of claims of as many cards, by what is held, found when first asked for.

    Of two values `_HELD` times the cards of the first and those of the second are held; of a
    straight it is how many are lacking.
    """

    def __init__(self, counts: tuple[int, ...], unseen: int, hidden: int) -> None:
        super().__init__()
        self._counts, self._among = counts, (unseen, hidden)

    def __missing__(self, held: int) -> float:
        claimed = zip(self._counts, divmod(held, _HELD), strict=True) if self._counts else ()
        needs = [_need(n, have, len(COLOURS)) for n, have in claimed if n > have]
        needs += [] if self._counts else [_need(1, 0, len(COLOURS))] * held
        self[held] = found = _chance(tuple(sorted(needs)), *self._among)
        return found


def _truths_of_values(counts: int) -> int:
    held = -1
    for by_count in _ALLOWED:
        held &= by_count[counts & _COUNT]
        counts >>= _BITS_A_COUNT
    return held


def _allowed(value: int, count: int) -> int:
    """The bets on values that so many cards of a value leave possible."""
    needed = ((number, dict(BETS[number].values).get(value, 0)) for number in _VALUE_BETS)
    return sum(1 << number for number, least in needed if count >= least)


def _suit_truths(colour: int) -> tuple[int, ...]:
    """The bets on colours and cards that a colour's cards make true, by those cards."""
    pools = [tuple(Card(value, colour) for value in values) for values in _VALUES_OF]
    return tuple(
        sum(1 << number for number in (*_FLUSHES, *_EXACT) if BETS[number].holds(pool))
        for pool in pools
    )


_CARDS = [1 << bit_of(card) for card in DECK]
_FLUSH_SIZE = BETS[_FIRST_FLUSH].colours[0][1]
_VALUES_OF = [
    [value for value in range(_SPAN) if suit >> value & 1] for suit in range(_ONE_COLOUR + 1)
]
_COUNTS = [sum(1 << _BITS_A_COUNT * value for value in values) for values in _VALUES_OF]
"""The values of a colour's cards, three bits for the number of each; these add up."""
_EXACT_BITS = tuple(bits_of(BETS[number].cards) for number in _EXACT)
_ALLOWED = [[_allowed(value, n) for n in range(_HELD)] for value in range(_SPAN)]
_SUIT_TRUTHS = tuple(_suit_truths(colour) for colour in range(len(COLOURS)))
