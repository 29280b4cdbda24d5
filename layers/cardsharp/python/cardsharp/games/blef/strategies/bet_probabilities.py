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

_RANK_COUNT = len(RANKS)
_SUIT_OFFSETS = tuple(range(0, _RANK_COUNT * len(SUITS), _RANK_COUNT))
_SUIT_MASK = 2**_RANK_COUNT - 1
_BITS_PER_COUNT = 3
_COUNT_MASK = 2**_BITS_PER_COUNT - 1
_RANK_BETS = tuple(bet_index for bet_index, bet in enumerate(BETS) if bet.rank_counts)
_FLUSH_BETS = tuple(bet_index for bet_index, bet in enumerate(BETS) if bet.suit_counts)
_STRAIGHT_FLUSH_BETS = tuple(bet_index for bet_index, bet in enumerate(BETS) if bet.cards)
_FIRST_FLUSH_BET = _FLUSH_BETS[0]
_COUNT_BASE = len(SUITS) + 1
_MAX_CLAIMED_RANKS = 2
_MAX_PROBABILITIES, _MAX_RANK_COUNTS = 8192, 4096
"""Bounds of the caches: single numbers, and tuples with a number for each bet on ranks."""

_GROUP_BETS = tuple(n for n in _RANK_BETS if len(BETS[n].rank_counts) <= _MAX_CLAIMED_RANKS)
_STRAIGHT_BETS = tuple(n for n in _RANK_BETS if n not in _GROUP_BETS)
_FIRST_STRAIGHT_BET = _STRAIGHT_BETS[0]
_STRAIGHT_RANKS = tuple(tuple(value for value, _ in BETS[n].rank_counts) for n in _STRAIGHT_BETS)

RANK_MASKS = tuple(sum(1 << low + value for low in _SUIT_OFFSETS) for value in range(_RANK_COUNT))
SUIT_MASKS: tuple[int, ...] = tuple(_SUIT_MASK << low for low in _SUIT_OFFSETS)
"""Masks of all cards of each rank and of each suit."""

BetProbabilities = Sequence[float]  # the probability of each of the 88 bets to hold, by action id
CountRequirement = tuple[int, int]  # (cards that are still needed, unseen cards that would do)


def card_bits(cards: Iterable[BlefCard]) -> int:
    """Return the cards as a bit mask."""
    return sum(1 << card_bit_index(card) for card in cards)


def card_bit_index(card: BlefCard) -> int:
    """Return the index of a card's bit."""
    return _RANK_COUNT * card.suit + card.value


# The hidden cards are a random subset of the unseen ones, so each probability is a number of
# favourable subsets over a number of all. Counting ranks and suits apart keeps the tables small.
def bet_probabilities(seen_cards: int, hidden_count: int) -> list[float]:
    """Return the probability of each bet if `hidden_count` unseen cards are in play too.

    Each choice of the hidden cards is equally likely: bets do not count as evidence.
    """
    suits = [(seen_cards >> low) & _SUIT_MASK for low in _SUIT_OFFSETS]
    unseen = len(DECK) - seen_cards.bit_count()
    by_values = _compute_rank_bet_probabilities(
        sum(_COUNTS_BY_SUIT_BITS[suit] for suit in suits), unseen, hidden_count
    )
    by_suits = _build_suit_probabilities(unseen, hidden_count)
    # The bets by seniority: values, flushes, four of a kind, straight flushes.
    return [
        *by_values[:_FIRST_FLUSH_BET],
        *[by_suits.flushes[suit.bit_count()] for suit in suits],
        *by_values[_FIRST_FLUSH_BET:],
        *[by_suits.card_sets[(cards & ~seen_cards).bit_count()] for cards in _STRAIGHT_FLUSH_BITS],
    ]


def true_bets(cards: int) -> int:
    """Return the bets that hold for these cards, as an integer with a bit for each bet."""
    suits = [(cards >> low) & _SUIT_MASK for low in _SUIT_OFFSETS]
    bets = _find_true_rank_bets(sum(_COUNTS_BY_SUIT_BITS[suit] for suit in suits))
    for table, suit in zip(_TRUE_SUIT_BETS, suits, strict=True):
        bets |= table[suit]
    return bets


def missing_card_bits(bet: int, seen_cards: int) -> int:
    """Return the lowest cards that the pool still needs for a bet to hold, as bits."""
    claim, rest = BETS[bet], [bit for bit in _CARD_BITS if not bit & seen_cards]
    if claim.cards:
        return card_bits(claim.cards) & ~seen_cards
    sets = [(RANK_MASKS[value], count) for value, count in claim.rank_counts]
    sets += [(SUIT_MASKS[colour], count) for colour, count in claim.suit_counts]
    return sum(
        sum([bit for bit in rest if bit & of][: max(0, count - (seen_cards & of).bit_count())])
        for of, count in sets
    )


def _to_requirement(count: int, have: int, total: int) -> CountRequirement:
    return max(0, count - have), total - have


@lru_cache(maxsize=_MAX_PROBABILITIES)
def _compute_probability(needs: tuple[CountRequirement, ...], unseen: int, hidden: int) -> float:
    """Return the probability that the hidden cards meet all requirements.

    It is exact: the numbers of ways multiply like polynomials, whose exponent is the number
    of hidden cards that are used.
    """
    ways = [1]
    for need, rest in needs:
        ways = _multiply_polynomials(
            ways, [comb(rest, n) if n >= need else 0 for n in range(rest + 1)]
        )
    unneeded = unseen - sum(rest for _, rest in needs)
    good = sum(
        count * comb(unneeded, hidden - drawn_count)
        for drawn_count, count in enumerate(ways)
        if drawn_count <= hidden
    )
    return good / comb(unseen, hidden)


def _multiply_polynomials(first: list[int], second: list[int]) -> list[int]:
    """Return the product of two polynomials, given by their coefficients."""
    product = [0] * (len(first) + len(second) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            product[i + j] += a * b
    return product


class _SuitProbabilities(NamedTuple):
    """Probabilities of the bets on suits.

    Those of flushes are by the seen cards of the suit, those of straight flushes by the cards that
    are not seen.
    """

    flushes: Sequence[float]
    card_sets: Sequence[float]


@cache  # an entry for each pair of card counts
def _build_suit_probabilities(unseen: int, hidden: int) -> _SuitProbabilities:
    return _SuitProbabilities(
        [
            _compute_probability(
                (_to_requirement(_FLUSH_SIZE, seen_count, _RANK_COUNT),), unseen, hidden
            )
            if _RANK_COUNT - seen_count <= unseen
            else 0.0  # a number of seen cards that cannot be
            for seen_count in range(_RANK_COUNT + 1)
        ],
        [
            _compute_card_set_probability(missing, unseen, hidden)
            for missing in range(_RANK_COUNT + 1)
        ],
    )


def _compute_card_set_probability(missing: int, unseen: int, hidden: int) -> float:
    """Return the probability that the hidden cards include `missing` specific cards."""
    if missing > hidden:
        return 0.0
    return comb(unseen - missing, hidden - missing) / comb(unseen, hidden)


@lru_cache(maxsize=_MAX_RANK_COUNTS)
def _compute_rank_bet_probabilities(counts: int, unseen: int, hidden: int) -> tuple[float, ...]:
    """Return the probabilities of the bets on ranks alone.

    `counts` has the number of seen cards of each rank, in a few bits each.
    """
    have = [(counts >> (_BITS_PER_COUNT * value)) & _COUNT_MASK for value in range(_RANK_COUNT)]
    claims = _build_claim_probabilities(unseen, hidden)
    probabilities = [
        row[_COUNT_BASE * have[first] + have[two]] for row, first, two in claims.groups
    ]
    lacking = (sum(not have[value] for value in span) for span in _STRAIGHT_RANKS)
    probabilities[_FIRST_STRAIGHT_BET:_FIRST_STRAIGHT_BET] = [
        claims.straights[lacked] for lacked in lacking
    ]
    return tuple(probabilities)


class _ClaimProbabilities(NamedTuple):
    """Probabilities of the claims on one or two ranks, with these ranks, and of straights."""

    groups: Sequence[tuple["_LazyProbabilities", int, int]]
    straights: "_LazyProbabilities"


@cache  # an entry for each pair of card counts
def _build_claim_probabilities(unseen: int, hidden: int) -> _ClaimProbabilities:
    rows: dict[tuple[int, ...], _LazyProbabilities] = {}
    of_two = []
    for bet_index in _GROUP_BETS:
        (first, n), (two, m) = (*BETS[bet_index].rank_counts, (0, 0))[:2]
        row = rows.setdefault((n, m), _LazyProbabilities((n, m), unseen, hidden))
        of_two.append((row, first, two))
    return _ClaimProbabilities(of_two, _LazyProbabilities((), unseen, hidden))


class _LazyProbabilities(dict[int, float]):
    """Lazily computed probabilities of claims of the same sizes, by the cards seen.

    For claims on two ranks the key is `_COUNT_BASE` times the cards of the first rank plus
    those of the second. For a straight it is the number of missing ranks.
    """

    def __init__(self, counts: tuple[int, ...], unseen: int, hidden: int) -> None:
        super().__init__()
        self._claimed_counts, self._unseen_and_hidden = counts, (unseen, hidden)

    def __missing__(self, key: int) -> float:
        claimed = (
            zip(self._claimed_counts, divmod(key, _COUNT_BASE), strict=True)
            if self._claimed_counts
            else ()
        )
        needs = [_to_requirement(n, have, len(SUITS)) for n, have in claimed if n > have]
        needs += [] if self._claimed_counts else [_to_requirement(1, 0, len(SUITS))] * key
        self[key] = probability = _compute_probability(
            tuple(sorted(needs)), *self._unseen_and_hidden
        )
        return probability


def _find_true_rank_bets(counts: int) -> int:
    bets = -1
    for by_count in _POSSIBLE_BETS:
        bets &= by_count[counts & _COUNT_MASK]
        counts >>= _BITS_PER_COUNT
    return bets


def _find_possible_bets(value: int, count: int) -> int:
    """Return the bets that `count` cards of a rank do not rule out, as an integer of bits."""
    needed = (
        (bet_index, dict(BETS[bet_index].rank_counts).get(value, 0)) for bet_index in _RANK_BETS
    )
    return sum(1 << bet_index for bet_index, required in needed if count >= required)


def _find_true_suit_bets(colour: int) -> tuple[int, ...]:
    """Return the bets on suits and cards that each set of cards of a suit makes true."""
    pools = [tuple(BlefCard(value, colour) for value in values) for values in _RANKS_BY_SUIT_BITS]
    return tuple(
        sum(
            1 << bet_index
            for bet_index in (*_FLUSH_BETS, *_STRAIGHT_FLUSH_BETS)
            if BETS[bet_index].holds(pool)
        )
        for pool in pools
    )


_CARD_BITS = [1 << card_bit_index(card) for card in DECK]
_FLUSH_SIZE = BETS[_FIRST_FLUSH_BET].suit_counts[0][1]
_RANKS_BY_SUIT_BITS = [
    [value for value in range(_RANK_COUNT) if suit >> value & 1] for suit in range(_SUIT_MASK + 1)
]
_COUNTS_BY_SUIT_BITS = [
    sum(1 << _BITS_PER_COUNT * value for value in values) for values in _RANKS_BY_SUIT_BITS
]
"""Ranks of a suit's cards: three bits for the number of each rank. The suits can be added up."""
_STRAIGHT_FLUSH_BITS = tuple(card_bits(BETS[bet_index].cards) for bet_index in _STRAIGHT_FLUSH_BETS)
_POSSIBLE_BETS = [
    [_find_possible_bets(value, n) for n in range(_COUNT_BASE)] for value in range(_RANK_COUNT)
]
_TRUE_SUIT_BETS = tuple(_find_true_suit_bets(colour) for colour in range(len(SUITS)))
