"""Shipped files of trained tables: how they are written, and loaded for compiled play."""

import ctypes
from array import array
from collections.abc import Mapping
from itertools import combinations_with_replacement
from pathlib import Path
from typing import NamedTuple

from cardsharp.errors import ConfigError
from cardsharp.games.blef.actions import BETS
from cardsharp.games.blef.rules import MIN_PLAYERS, max_cards
from cardsharp.games.blef.strategies.large_round_policy import (
    FEATURE_COUNT,
    OVERLAP_CLASSES,
    PROBABILITY_CLASSES,
    LargeRoundPolicy,
)
from cardsharp.games.blef.strategies.policy_tables import PolicyRows, RolePolicy, read_tables
from cardsharp.games.blef.strategies.table_lookup import NO_BET
from cardsharp_tools.research.blef.native import (
    CfrTrainer,
    HandSizes,
    RoundPlayer,
    RoundTable,
    build_round_index_tables,
    build_round_table,
    native_library,
)

MIN_REACH = 1e-5  # a row that a hand reaches less often is not stored
ROW, _ROW_NUMBER_BYTES = 24, 4  # bytes of a packed row (twelve choices), and of its number


def average_policy_rows(learner: CfrTrainer) -> tuple[PolicyRows, PolicyRows]:
    """Return the average policies of the starter and of the other player.

    Rows in which a hand only checks, and rows that it seldom reaches, are left out.
    """
    return _pack_rows(learner, 0), _pack_rows(learner, 1)


def _pack_rows(learner: CfrTrainer, role: int) -> PolicyRows:
    shape = learner.index_tables
    max_rows = (shape.bet_count + 1) ** 2 * shape.class_count * shape.hand_counts[role]
    row_numbers, rows = (
        ctypes.create_string_buffer(max_rows * byte_count)
        for byte_count in (_ROW_NUMBER_BYTES, ROW)
    )
    row_count = native_library().pack_policy_rows(
        ctypes.byref(shape), role, learner.strategy_sums[role], MIN_REACH, row_numbers, rows
    )
    used_rows = memoryview(rows)[: row_count * ROW]
    trimmed_rows = [
        _trim_row(bytes(used_rows[start : start + ROW])) for start in range(0, len(used_rows), ROW)
    ]
    return PolicyRows(array("I", row_numbers.raw[: row_count * _ROW_NUMBER_BYTES]), trimmed_rows)


def _trim_row(row: bytes) -> bytes:
    chances = row[1::2]
    return row[: 2 * chances.index(0)] if 0 in chances else row


def to_round_table(cards: HandSizes, tables: tuple[RolePolicy, RolePolicy]) -> RoundTable:
    """Return a shipped table in the form of the compiled players."""
    return build_round_table(build_round_index_tables(cards), [*map(_collect_rows, tables)])


def load_tables(file: Path) -> dict[HandSizes, RoundTable]:
    """Return the tables of a file by hand sizes (starter, other); raise `ConfigError`."""
    tables = read_tables(file)
    if not tables.mapped_file.is_intact():
        raise ConfigError(f"{file} is damaged: its rows are not those that were written.")
    return {cards: to_round_table(cards, packed) for cards, packed in tables.rounds.items()}


def _collect_rows(policy: RolePolicy) -> PolicyRows:
    row_numbers, rows = array("I"), list[bytes]()
    for last_bet in range(policy.part_count):
        part = policy.rows_after_bet(last_bet)
        row_numbers.extend(
            policy.last_bet_stride * last_bet + row_number for row_number in part.numbers
        )
        rows += part.rows
    return PolicyRows(row_numbers, rows)


_MIN_CARDS, _MAX_CARDS = 8, 18
_SEED_BASE = 1

ROUNDS: tuple[HandSizes, ...] = tuple(
    cards
    for cards in combinations_with_replacement(range(1, max_cards(MIN_PLAYERS) + 1), 2)
    if _MIN_CARDS <= sum(cards) <= _MAX_CARDS
)  # rounds that are trained; in larger ones `bayes` is better
_LAST_BET_COUNT = len(BETS) + 1
_TABLE_BYTES = OVERLAP_CLASSES * sum(
    PROBABILITY_CLASSES + FEATURE_COUNT * bets for bets in range(_LAST_BET_COUNT)
)
"""Bytes of a policy for one pair of hand sizes."""


class TrainingAmount(NamedTuple):
    """Amount of training of a round."""

    steps: int = 250
    deals: int = 400


def train_large_round(cards: HandSizes, amount: TrainingAmount) -> dict[HandSizes, bytes]:
    """Train a large round; return the policies by the player's and the opponent's hand size."""
    buffers = ctypes.create_string_buffer(_TABLE_BYTES), ctypes.create_string_buffer(_TABLE_BYTES)
    seed = (_SEED_BASE * 16 + cards[0]) * 16 + cards[1]
    if not native_library().train_large_round(*cards, amount.steps, amount.deals, seed, *buffers):
        raise MemoryError("Not enough memory for the training.")
    return {cards: buffers[0].raw, cards[::-1]: buffers[1].raw}


def set_large_round_policies(
    player: RoundPlayer, large_rounds: Mapping[HandSizes, bytes]
) -> RoundPlayer:
    """Install the policies of large rounds in a player and return it."""
    for (player_cards, other_cards), values in large_rounds.items():
        player.large_policies[player_cards][other_cards] = values
    return player


def policy_bytes_by_hand_sizes(policy: LargeRoundPolicy) -> dict[HandSizes, bytes]:
    """Return each trained round's policy as bytes in the trainer's format, by hand sizes."""
    lasts = range(NO_BET, len(BETS))
    return {
        cards: b"".join(policy.read_encoded_probabilities(cards, last_bet) for last_bet in lasts)
        for cards in policy.rounds
    }
