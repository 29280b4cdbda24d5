"""Policy of rounds with eight or more cards in play: win probabilities of choices, in a file.

The table does not depend on exact hands. It stores the probability to win the round for each
choice. That of a check depends on how likely the last bet is given the player's cards. That of a
bet depends on its own probability, and on how many of its missing cards the last bet claims, too.
Both also depend on the last bet, and on its overlap with the bet that preceded it. The likelier a
choice is to win, the more often it is taken, so any bet may be a bluff.

The compiled trainer uses the same features: `large_round_policy.c` of
cardsharp_tools/research/blef/native.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp
from pathlib import Path
from zlib import compress

from cardsharp.games.blef.actions import BETS, CHECK
from cardsharp.games.blef.strategies.bet_probabilities import (
    RANK_MASKS,
    bet_probabilities,
    card_bits,
    missing_card_bits,
)
from cardsharp.games.blef.strategies.equilibrium import MixedStrategy
from cardsharp.games.blef.strategies.mapped_file import (
    INTEGER_BYTES,
    MappedTableFile,
    decompress_section,
    map_round_tables,
    write_mapped_file,
)
from cardsharp.games.blef.strategies.table_lookup import NO_BET

# upper ends of the probability classes
PROBABILITY_BINS = (0.03, 0.1, 0.22, 0.38, 0.55, 0.72, 0.88, 0.9999)
PROBABILITY_CLASSES, HELP_CLASSES, OVERLAP_CLASSES = len(PROBABILITY_BINS) + 1, 3, 4
FEATURE_COUNT = PROBABILITY_CLASSES * HELP_CLASSES
"""Number of kinds of bets: by probability class, and by the help of the last bet."""
SOFTMAX_TEMPERATURE = 0.035  # a choice that wins this much more often is taken e times as often
LARGE_ROUND_PROBABILITY_SCALE = 50  # the file stores probabilities in fiftieths
LARGE_ROUNDS_FORMAT = 2
DEFAULT_FILE = Path(str(files("cardsharp.games.blef.strategies") / "tables" / "large.bin"))

_SOFTMAX_WEIGHTS = (
    0.0,
    *(
        exp((parts / LARGE_ROUND_PROBABILITY_SCALE - 0.6) / SOFTMAX_TEMPERATURE)
        for parts in range(LARGE_ROUND_PROBABILITY_SCALE + 1)
    ),
)

CardCounts = tuple[int, int]  # the player's own cards, and the other's


@dataclass(frozen=True, slots=True)
class LargeRoundPolicy:
    """Learned policy of large rounds.

    `rounds` has the starts of a round's rows in the file's body.
    """

    rounds: Mapping[CardCounts, memoryview]
    mapped_file: MappedTableFile

    def read_encoded_probabilities(self, cards: CardCounts, last_bet: int) -> bytes:
        """Return the encoded probabilities after a last bet, one byte each.

        A byte is 0 for a case that was never seen, else 1 plus the probability in fiftieths.
        First come those of the check by probability class and overlap, then those of each
        higher bet by kind and overlap.
        """
        begins = self.rounds[cards]
        return decompress_section(self.mapped_file.body, begins[last_bet + 1], begins[last_bet + 2])


def mixed_strategy(
    policy: LargeRoundPolicy, cards: CardCounts, hand_mask: int, bets: Sequence[int]
) -> MixedStrategy:
    """Return the mixed strategy for these cards in hand; `bets` are the last two bets."""
    previous, last_bet = bets
    row, chances = (
        policy.read_encoded_probabilities(cards, last_bet),
        bet_probabilities(hand_mask, cards[1]),
    )
    overlap = bet_overlap_class(previous, last_bet)
    weights = {}
    if last_bet != NO_BET:
        weights[CHECK] = _SOFTMAX_WEIGHTS[
            row[_classify_probability(chances[last_bet]) * OVERLAP_CLASSES + overlap]
        ]
    start = PROBABILITY_CLASSES * OVERLAP_CLASSES + overlap
    for bet in range(last_bet + 1, len(BETS)):
        kind = _classify_probability(chances[bet]) * HELP_CLASSES
        if last_bet != NO_BET:
            kind += min(shared_missing_card_count(bet, last_bet, hand_mask), HELP_CLASSES - 1)
        weights[bet] = _SOFTMAX_WEIGHTS[row[start + kind * OVERLAP_CLASSES]]
        start += FEATURE_COUNT * OVERLAP_CLASSES
    total = sum(weights.values())
    return tuple((action, weight / total) for action, weight in weights.items() if weight)


def _classify_probability(chance: float) -> int:
    return bisect_right(PROBABILITY_BINS, chance)


@cache  # an entry for each pair of bets
def bet_overlap_class(previous: int, last_bet: int) -> int:
    """Return the overlap with the previous bet: 1 none, 2 some, 3 all cards; 0 without a bet."""
    if NO_BET in (previous, last_bet):
        return 0
    first, two = BETS[previous], BETS[last_bet]
    if _find_bet_suit(previous) != _find_bet_suit(last_bet):
        return 1
    if first.cards and two.cards:
        shared, size = len(first.cards & two.cards), first.size
    elif first.rank_counts:
        shared, size = sum(_find_shared_rank_counts(last_bet, previous).values()), first.size
    else:
        return 3
    return 1 if not shared else 2 if shared < size else 3


def shared_missing_card_count(bet: int, last_bet: int, hand_mask: int) -> int:
    """Return how many of the cards that the hand lacks for a bet the last bet claims too."""
    colour = _find_bet_suit(bet)
    if colour != _find_bet_suit(last_bet):
        return 0
    if BETS[bet].cards and BETS[last_bet].cards:
        return (_find_bet_card_bits(bet) & _find_bet_card_bits(last_bet) & ~hand_mask).bit_count()
    if colour >= 0:
        return min(
            missing_card_bits(candidate, hand_mask).bit_count() for candidate in (bet, last_bet)
        )
    both = _find_shared_rank_counts(bet, last_bet)
    return sum(max(0, n - (hand_mask & RANK_MASKS[value]).bit_count()) for value, n in both.items())


@cache  # an entry for each pair of bets
def _find_shared_rank_counts(bet: int, last_bet: int) -> dict[int, int]:
    of_last = dict(BETS[last_bet].rank_counts)
    both = {value: min(needed, of_last.get(value, 0)) for value, needed in BETS[bet].rank_counts}
    return {value: count for value, count in both.items() if count}


@cache  # an entry for each bet
def _find_bet_suit(bet: int) -> int:
    """Return the suit of a bet, -1 if it is on ranks alone."""
    claim = BETS[bet]
    if claim.cards:
        return next(iter(claim.cards)).suit
    return claim.suit_counts[0][0] if claim.suit_counts else -1


@cache  # an entry for each bet
def _find_bet_card_bits(bet: int) -> int:
    return card_bits(BETS[bet].cards)


@cache
def load_large_round_policy() -> LargeRoundPolicy:
    """Load the packaged policy on first use."""
    return map_policy_file(DEFAULT_FILE)


def map_policy_file(file: Path) -> LargeRoundPolicy:
    """Map a policy file into memory; rows are read on access; raise `ConfigError`."""
    entries, mapped = map_round_tables(file, LARGE_ROUNDS_FORMAT)
    rounds = {
        (player_cards, opponent_cards): mapped.body[at : at + INTEGER_BYTES * (len(BETS) + 2)].cast(
            "I"
        )
        for player_cards, opponent_cards, at in entries
    }
    return LargeRoundPolicy(rounds, mapped)


def write_policy(file: Path, producer: str, rounds: Mapping[CardCounts, bytes]) -> None:
    """Write a learned policy: all rows of each round, one after the other."""
    body, entries = bytearray(), []
    for cards, values in sorted(rounds.items()):
        packed = [compress(row, 9) for row in _split_rows(values)]
        begins = [len(body) + INTEGER_BYTES * (len(packed) + 1)]
        for row in packed:
            begins.append(begins[-1] + len(row))
        entries.append((*cards, len(body)))
        body += b"".join(offset.to_bytes(INTEGER_BYTES, "little") for offset in begins)
        body += b"".join(packed)
        body += bytes(-len(body) % INTEGER_BYTES)
    write_mapped_file(file, LARGE_ROUNDS_FORMAT, producer, entries, bytes(body))


def _split_rows(values: bytes) -> Iterator[bytes]:
    at = 0
    for last_bet in range(NO_BET, len(BETS)):
        row_length = (
            PROBABILITY_CLASSES + FEATURE_COUNT * (len(BETS) - last_bet - 1)
        ) * OVERLAP_CLASSES
        yield values[at : at + row_length]
        at += row_length
