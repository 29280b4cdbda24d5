"""Trainer and players of Blef in C, as Python calls them; they need a C compiler."""

import ctypes
from array import array
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from math import sqrt
from pathlib import Path
from typing import TypeAlias

from cardsharp.analysis.ratings import Z_95
from cardsharp.errors import ConfigError
from cardsharp.games.blef.actions import BETS
from cardsharp.games.blef.strategies.bet_probabilities import card_bits
from cardsharp.games.blef.strategies.policy_tables import PolicyRows
from cardsharp.games.blef.strategies.table_lookup import TableShape, number_by_hand
from cardsharp_tools.lab.confidence_interval import Interval
from cardsharp_tools.research.c_library import (
    declare_function,
    load_library,
    struct_fields,
    unavailable_reason,
)

_BETS, _RANKS, _MAX_CARDS = len(BETS), 6, 11
_HAND_CODES, _MAX_HISTORIES = 5**_RANKS, 80_000

HandSizes = tuple[int, int]  # cards of the player who begins, and of the other
Weights: TypeAlias = "ctypes.Array[ctypes.c_float]"
"""Numbers of one role by hand, place and choice."""


class _Bet(ctypes.Structure):
    """ctypes structure for `Bet` of bet_probabilities.h."""

    _fields_ = struct_fields(".bI", "rank_counts suit cards", ctypes.c_uint8 * _RANKS)


class RoundIndexTables(ctypes.Structure):
    """ctypes structure for `TableShape` of table_lookup.h: sizes and index tables of a round."""

    _fields_ = struct_fields(
        "..i..ii...i",
        "hand_sizes hand_counts bet_count bets bet_index first_high_bet class_count class_of_bet "
        "hand_numbers row_starts hand_stride",
        *[ctypes.c_int32 * 2] * 2,
        ctypes.c_uint8 * _BETS,
        ctypes.c_int8 * _BETS,
        ctypes.c_uint8 * (_BETS + 1),
        ctypes.c_int16 * _HAND_CODES,
        ctypes.c_int32 * _MAX_HISTORIES,
    )


class _CfrTraining(ctypes.Structure):
    """ctypes structure for `CfrTraining` of cfr_training.c."""

    _fields_ = struct_fields(
        "...ddd",
        "shape regrets strategy_sums explore_rate tremble_rate habit_rate",
        ctypes.POINTER(RoundIndexTables),
        *[ctypes.c_void_p * 2] * 2,
    )


class RoundTable(ctypes.Structure):
    """ctypes structure for `RoundTable` of players.h: the policy tables of a round."""

    _fields_ = struct_fields(
        ".....",
        "shape row_counts row_numbers row_offsets rows",
        ctypes.POINTER(RoundIndexTables),
        ctypes.c_int32 * 2,
        *[ctypes.c_char_p * 2] * 3,
    )


class RoundPlayer(ctypes.Structure):
    """ctypes structure for `RoundPlayer` of players.h."""

    _fields_ = struct_fields(
        "idd..",
        "kind check_threshold bet_threshold tables large_policies",
        (ctypes.POINTER(RoundTable) * (_MAX_CARDS + 1)) * (_MAX_CARDS + 1),
        (ctypes.c_char_p * (_MAX_CARDS + 1)) * (_MAX_CARDS + 1),
    )


class NativeRoundView(ctypes.Structure):
    """ctypes structure for `RoundView` of players.h: a round as the player to move sees it."""

    _fields_ = struct_fields(
        "iI.i.",
        "role hand hand_sizes bet_count bets",
        ctypes.c_int32 * 2,
        ctypes.c_uint8 * _BETS,
    )


@cache
def native_library() -> ctypes.CDLL:
    """Return the compiled library; raise `ConfigError` if there is no compiler or it fails."""
    loaded = load_library(Path(__file__).parent / "native")
    if loaded is None:
        raise ConfigError(f"{unavailable_reason()} Only compiled code can train tables.")
    declare_function(loaded.train_cfr, "PQq", "?")
    declare_function(loaded.build_row_starts, "P")
    declare_function(loaded.pack_policy_rows, "PiPdPP")
    declare_function(loaded.discount, "Pqf")
    declare_function(loaded.play_rounds, "PPiiQq", "q")
    declare_function(loaded.local_best_response, "PiiiiQq", "q")
    declare_function(loaded.respond_to_player, "PPiQ")
    declare_function(loaded.train_large_round, "iiiiQPP", "?")
    declare_function(loaded.bet_holds, "iI", "?")
    declare_function(loaded.bet_probabilities, "IiP")
    bets = (_Bet * _BETS)()
    for bet_index, bet in enumerate(BETS):
        for rank, card_count in bet.rank_counts:
            bets[bet_index].rank_counts[rank] = card_count
        bets[bet_index].suit = bet.suit_counts[0][0] if bet.suit_counts else -1
        bets[bet_index].cards = card_bits(bet.cards)
    loaded.init_bets(bets)
    loaded.init_large_rounds()
    return loaded


def build_round_index_tables(cards: HandSizes) -> RoundIndexTables:
    """Return the sizes and index tables of a round as a C structure."""
    shape = TableShape(cards)
    index_tables = RoundIndexTables(
        hand_sizes=cards, hand_counts=tuple(len(number_by_hand(size)) for size in cards)
    )
    index_tables.bet_count = len(shape.bets)
    index_tables.bet_index[:] = [-1] * _BETS
    for bet_index, bet in enumerate(shape.bets):
        index_tables.bets[bet_index], index_tables.bet_index[bet] = bet, bet_index
        index_tables.class_of_bet[bet_index + 1] = shape.third_last_bet_class(bet)
    index_tables.class_count = shape.third_last_bet_class_count
    index_tables.first_high_bet = 1 + shape.full_house_index
    for hand_size in cards:
        for hand, hand_number in number_by_hand(hand_size).items():
            index_tables.hand_numbers[sum(5**rank for rank in hand)] = hand_number
    native_library().build_row_starts(ctypes.byref(index_tables))
    return index_tables


_EXPLORE_RATE, _TREMBLE_RATE = 0.5, 0.03
_MAX_CARDS_WITHOUT_HABITS, _HABIT_RATE = 6, 0.05
"""Rate of the opponent's habits with more cards in play; with fewer it is 0."""


def table_sizes(index_tables: RoundIndexTables) -> list[int]:
    """Return the number of values in the tables of the player who begins, and of the other."""
    return [count * index_tables.hand_stride for count in index_tables.hand_counts]


class CfrTrainer:
    """Trainer of a round's two tables; `strategy_sums` holds the average policy.

    The other player sometimes bets at random (`tremble_rate`), and sometimes like players who look
    at their own cards only (`habit_rate`). So the trainer also learns answers to bets that an
    equilibrium never makes.
    """

    def __init__(self, cards: HandSizes) -> None:
        self.index_tables = build_round_index_tables(cards)
        sizes = table_sizes(self.index_tables)
        self.regrets = [(ctypes.c_float * value_count)() for value_count in sizes]
        self.strategy_sums = [(ctypes.c_float * value_count)() for value_count in sizes]
        self._training = _CfrTraining(
            shape=ctypes.pointer(self.index_tables),
            explore_rate=_EXPLORE_RATE,
            tremble_rate=_TREMBLE_RATE,
            habit_rate=_HABIT_RATE if sum(cards) > _MAX_CARDS_WITHOUT_HABITS else 0,
        )
        for role in (0, 1):
            self._training.regrets[role] = ctypes.addressof(self.regrets[role])
            self._training.strategy_sums[role] = ctypes.addressof(self.strategy_sums[role])

    def train(self, seed: int, deal_count: int) -> None:
        """Train on `deal_count` deals."""
        if not native_library().train_cfr(ctypes.byref(self._training), seed, deal_count):
            raise MemoryError("Not enough memory for the training.")

    def discount(self, regrets: float, sums: float) -> None:
        """Multiply the regrets and the strategy sums by these factors.

        This reduces the weight of earlier training.
        """
        for role_values, factor in ((self.regrets, regrets), (self.strategy_sums, sums)):
            for values in role_values:
                native_library().discount(values, len(values), factor)


def build_round_table(
    index_tables: RoundIndexTables, role_tables: Sequence[PolicyRows]
) -> RoundTable:
    """Return the C table of these policies, by role."""
    round_table = RoundTable(shape=ctypes.pointer(index_tables))
    for role, table in enumerate(role_tables):
        row_offsets = array("I", accumulate(map(len, table.rows), initial=0))
        round_table.row_counts[role] = len(table.numbers)
        round_table.row_numbers[role] = array("I", table.numbers).tobytes()
        round_table.row_offsets[role] = row_offsets.tobytes()
        round_table.rows[role] = b"".join(table.rows)
    return round_table


def build_round_player(
    kind: str,
    tables: Mapping[HandSizes, RoundTable] | None = None,
    check: float = -1,
    bet: float = 0.5,
) -> RoundPlayer:
    """Return a C player of rounds.

    It plays by tables, or by the thresholds `check` and `bet`.
    """
    round_player = RoundPlayer(
        kind=("threshold", "tables").index(kind), check_threshold=check, bet_threshold=bet
    )
    for (player_cards, other_cards), table in (tables or {}).items():
        round_player.tables[player_cards][other_cards] = ctypes.pointer(table)
    return round_player


def play_rounds(
    first_player: RoundPlayer,
    second_player: RoundPlayer,
    hand_sizes: HandSizes,
    seed: int,
    round_count: int,
) -> float:
    """Play rounds and return the share that the first player, who begins, wins."""
    players = ctypes.byref(first_player), ctypes.byref(second_player)
    won: int = native_library().play_rounds(*players, *hand_sizes, seed, round_count)
    return won / round_count


def local_exploitability(
    hand_sizes: HandSizes, opponent: RoundPlayer, depth: int, seed: int, round_count: int
) -> Interval:
    """Return a local best response's gain over an equal share: 95 % interval, mean of both seats.

    A true best response gains at least as much, so this bounds the exploitability from below.
    """
    each, respond = round_count // 2, native_library().local_best_response
    won = [
        respond(ctypes.byref(opponent), *hand_sizes, role, depth, seed + role, each) / each
        for role in (0, 1)
    ]
    if min(won) < 0:
        raise MemoryError("Not enough memory for a local best response.")
    spread = sum(share * (1 - share) / each for share in won) / len(won) ** 2
    margin, mean = Z_95 * sqrt(spread), sum(won) / len(won) - 0.5
    return Interval(mean - margin, mean + margin)


def find_local_best_response(
    opponent: RoundPlayer,
    hand_sizes: HandSizes,
    hand_and_bets: tuple[int, Sequence[int]],
    depth: int,
    seed: int,
) -> int:
    """Return the action of a local best response to a player of tables.

    `hand_sizes` are of the player who begins and of the other. `hand_and_bets` has the hand of the
    player to move as a bit mask, and all bets of the round.
    """
    hand, bets = hand_and_bets
    view = NativeRoundView(
        role=len(bets) % 2, hand=hand, hand_sizes=hand_sizes, bet_count=len(bets)
    )
    view.bets[: len(bets)] = bets
    action: int = native_library().respond_to_player(
        ctypes.byref(opponent), ctypes.byref(view), depth, seed
    )
    if action < 0:
        raise MemoryError("Not enough memory for a local best response.")
    return action
