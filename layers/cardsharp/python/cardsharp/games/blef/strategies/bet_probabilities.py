"""Exact probabilities of the bets, and the set of bets that hold; fast enough for many calls.

A pool of cards is an integer with a bit for each card: bit 6 * suit + rank. The cards of a suit are
therefore six bits, which can index a table.
"""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from math import comb
from typing import NamedTuple

from cardsharp.games.blef.actions import BETS
from cardsharp.games.blef.cards import DECK, RANKS, SUITS, BlefCard

_SPAN = len(RANKS)
_SUITS = tuple(range(0, _SPAN * len(SUITS), _SPAN))
_SUIT_MASK = 2**_SPAN - 1
_BITS_A_COUNT = 3
_COUNT = 2**_BITS_A_COUNT - 1
_VALUE_BETS = tuple(bet_index for bet_index, bet in enumerate(BETS) if bet.rank_counts)
_FLUSHES = tuple(bet_index for bet_index, bet in enumerate(BETS) if bet.suit_counts)
_EXACT = tuple(bet_index for bet_index, bet in enumerate(BETS) if bet.cards)
_FIRST_FLUSH = _FLUSHES[0]
_COUNT_BASE = len(SUITS) + 1
_MAX_CLAIMED_RANKS = 2
_OF_TWO = tuple(n for n in _VALUE_BETS if len(BETS[n].rank_counts) <= _MAX_CLAIMED_RANKS)
_STRAIGHTS = tuple(n for n in _VALUE_BETS if n not in _OF_TWO)
_FIRST_STRAIGHT = _STRAIGHTS[0]
_SPANS = tuple(tuple(value for value, _ in BETS[n].rank_counts) for n in _STRAIGHTS)

RANK_MASKS = tuple(sum(1 << low + value for low in _SUITS) for value in range(_SPAN))
SUIT_MASKS: tuple[int, ...] = tuple(_SUIT_MASK << low for low in _SUITS)
"""Masks of all cards of each rank and of each suit."""

BetProbabilities = Sequence[float]  # the probability of each of the 88 bets to hold, by action id
CountRequirement = tuple[int, int]  # (cards that are still needed, unseen cards that would do)


def card_bits(cards: Iterable[BlefCard]) -> int:
    """Return the cards as a bit mask."""
    return sum(1 << card_bit_index(card) for card in cards)


def card_bit_index(card: BlefCard) -> int:
    """Return the index of a card's bit."""
    return _SPAN * card.suit + card.value


# The hidden cards are a random subset of the unseen ones, so each probability is a number of
# favourable subsets over a number of all. Counting ranks and suits apart keeps the tables small.
def bet_probabilities(seen_cards: int, hidden_count: int) -> list[float]:
    """Return the probability of each bet if `hidden_count` unseen cards are in play too.

    Each choice of the hidden cards is equally likely: bets do not count as evidence.
    """
    suits = [(seen_cards >> low) & _SUIT_MASK for low in _SUITS]
    unseen = len(DECK) - seen_cards.bit_count()
    by_values = _odds_of_values(sum(_COUNTS[suit] for suit in suits), unseen, hidden_count)
    rest = len(_VALUE_BETS) - _FIRST_FLUSH
    flushes = [
        _chance((_need(_FLUSH_SIZE, suit.bit_count(), _SPAN),), unseen, hidden_count)
        for suit in suits
    ]
    # The bets by seniority: values, flushes, four of a kind, straight flushes.
    return [
        *by_values[:_FIRST_FLUSH],
        *flushes,
        *by_values[-rest:],
        *[
            _all_of((cards & ~seen_cards).bit_count(), unseen, hidden_count)
            for cards in _EXACT_BITS
        ],
    ]


def true_bets(cards: int) -> int:
    """Return the bets that hold for these cards, as an integer with a bit for each bet."""
    suits = [(cards >> low) & _SUIT_MASK for low in _SUITS]
    bets = _truths_of_values(sum(_COUNTS[suit] for suit in suits))
    for table, suit in zip(_SUIT_TRUTHS, suits, strict=True):
        bets |= table[suit]
    return bets


def missing_card_bits(bet: int, seen_cards: int) -> int:
    """Return the lowest cards that the pool still needs for a bet to hold, as bits."""
    claim, rest = BETS[bet], [bit for bit in _CARDS if not bit & seen_cards]
    if claim.cards:
        return card_bits(claim.cards) & ~seen_cards
    sets = [(RANK_MASKS[value], count) for value, count in claim.rank_counts]
    sets += [(SUIT_MASKS[colour], count) for colour, count in claim.suit_counts]
    return sum(
        sum([bit for bit in rest if bit & of][: max(0, count - (seen_cards & of).bit_count())])
        for of, count in sets
    )


def _need(count: int, have: int, of: int) -> CountRequirement:
    return max(0, count - have), of - have


@cache
def _chance(needs: tuple[CountRequirement, ...], unseen: int, hidden: int) -> float:
    """Return the probability that the hidden cards have everything that is needed.

    It is exact: the numbers of ways multiply like polynomials, whose exponent is the number of
    hidden cards that are used.
    """
    ways = [1]
    for need, rest in needs:
        ways = _times(ways, [comb(rest, n) if n >= need else 0 for n in range(rest + 1)])
    unneeded = unseen - sum(rest for _, rest in needs)
    good = sum(
        count * comb(unneeded, hidden - drawn_count)
        for drawn_count, count in enumerate(ways)
        if drawn_count <= hidden
    )
    return good / comb(unseen, hidden)


def _times(first: list[int], two: list[int]) -> list[int]:
    """Return the product of two polynomials, given by their coefficients."""
    product = [0] * (len(first) + len(two) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(two):
            product[i + j] += a * b
    return product


@cache
def _all_of(missing: int, unseen: int, hidden: int) -> float:
    """Return the probability that the hidden cards include `missing` certain cards."""
    if missing > hidden:
        return 0.0
    return comb(unseen - missing, hidden - missing) / comb(unseen, hidden)


@lru_cache(maxsize=8192)
def _odds_of_values(counts: int, unseen: int, hidden: int) -> tuple[float, ...]:
    """Return the probabilities of the bets on ranks alone; `counts` has the seen cards by rank."""
    have = [(counts >> (_BITS_A_COUNT * value)) & _COUNT for value in range(_SPAN)]
    claims = _claims(unseen, hidden)
    probabilities = [
        row[_COUNT_BASE * have[first] + have[two]] for row, first, two in claims.of_two
    ]
    lacking = (sum(not have[value] for value in span) for span in _SPANS)
    probabilities[_FIRST_STRAIGHT:_FIRST_STRAIGHT] = [
        claims.straights[lacked] for lacked in lacking
    ]
    return tuple(probabilities)


class _Claims(NamedTuple):
    """Probabilities of claims on one or two ranks, with these ranks, and of straights."""

    of_two: Sequence[tuple["_Row", int, int]]
    straights: "_Row"


@cache
def _claims(unseen: int, hidden: int) -> _Claims:
    rows: dict[tuple[int, ...], _Row] = {}
    of_two = []
    for bet_index in _OF_TWO:
        (first, n), (two, m) = (*BETS[bet_index].rank_counts, (0, 0))[:2]
        row = rows.setdefault((n, m), _Row((n, m), unseen, hidden))
        of_two.append((row, first, two))
    return _Claims(of_two, _Row((), unseen, hidden))


class _Row(dict[int, float]):
    """Lazily computed probabilities of claims of the same sizes, by the cards seen.

    For claims on two ranks the key is `_COUNT_BASE` times the cards of the first rank plus
    those of the second. For a straight it is the number of missing ranks.
    """

    def __init__(self, counts: tuple[int, ...], unseen: int, hidden: int) -> None:
        super().__init__()
        self._counts, self._among = counts, (unseen, hidden)

    def __missing__(self, key: int) -> float:
        claimed = zip(self._counts, divmod(key, _COUNT_BASE), strict=True) if self._counts else ()
        needs = [_need(n, have, len(SUITS)) for n, have in claimed if n > have]
        needs += [] if self._counts else [_need(1, 0, len(SUITS))] * key
        self[key] = probability = _chance(tuple(sorted(needs)), *self._among)
        return probability


def _truths_of_values(counts: int) -> int:
    bets = -1
    for by_count in _ALLOWED:
        bets &= by_count[counts & _COUNT]
        counts >>= _BITS_A_COUNT
    return bets


def _allowed(value: int, count: int) -> int:
    """Return the bets that `count` cards of a rank do not rule out, as an integer of bits."""
    needed = (
        (bet_index, dict(BETS[bet_index].rank_counts).get(value, 0)) for bet_index in _VALUE_BETS
    )
    return sum(1 << bet_index for bet_index, required in needed if count >= required)


def _suit_truths(colour: int) -> tuple[int, ...]:
    """Return, for each set of cards of a suit, the bets on suits and cards that it makes true."""
    pools = [tuple(BlefCard(value, colour) for value in values) for values in _VALUES_OF]
    return tuple(
        sum(1 << bet_index for bet_index in (*_FLUSHES, *_EXACT) if BETS[bet_index].holds(pool))
        for pool in pools
    )


_CARDS = [1 << card_bit_index(card) for card in DECK]
_FLUSH_SIZE = BETS[_FIRST_FLUSH].suit_counts[0][1]
_VALUES_OF = [
    [value for value in range(_SPAN) if suit >> value & 1] for suit in range(_SUIT_MASK + 1)
]
_COUNTS = [sum(1 << _BITS_A_COUNT * value for value in values) for values in _VALUES_OF]
"""Ranks of a suit's cards: three bits for the number of each rank. The suits can be added up."""
_EXACT_BITS = tuple(card_bits(BETS[bet_index].cards) for bet_index in _EXACT)
_ALLOWED = [[_allowed(value, n) for n in range(_COUNT_BASE)] for value in range(_SPAN)]
_SUIT_TRUTHS = tuple(_suit_truths(colour) for colour in range(len(SUITS)))
