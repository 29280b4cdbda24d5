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

_BETS, _VALUES, _MAX_CARDS = len(BETS), 6, 11
_CODES, _PLACES = 5**_VALUES, 80_000

HandSizes = tuple[int, int]  # cards of the player who begins, and of the other
Weights: TypeAlias = "ctypes.Array[ctypes.c_float]"
"""Numbers of one role by hand, place and choice."""


class _Bet(ctypes.Structure):
    _fields_ = struct_fields(".bI", "values colour cards", ctypes.c_uint8 * _VALUES)


class RoundIndexTables(ctypes.Structure):
    """ctypes structure for `Setup` of blef.h: the sizes and index tables of a round."""

    _fields_ = struct_fields(
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
    _fields_ = struct_fields(
        "...ddd",
        "setup regrets sums explore tremble habits",
        ctypes.POINTER(RoundIndexTables),
        *[ctypes.c_void_p * 2] * 2,
    )


class RoundTable(ctypes.Structure):
    """ctypes structure for `Table` of blef.h: the policy tables of a round."""

    _fields_ = struct_fields(
        ".....",
        "setup rows numbers places choices",
        ctypes.POINTER(RoundIndexTables),
        ctypes.c_int32 * 2,
        *[ctypes.c_char_p * 2] * 3,
    )


class RoundPlayer(ctypes.Structure):
    """ctypes structure for `Player` of blef.h."""

    _fields_ = struct_fields(
        "idd..",
        "kind check bet tables large",
        (ctypes.POINTER(RoundTable) * (_MAX_CARDS + 1)) * (_MAX_CARDS + 1),
        (ctypes.c_char_p * (_MAX_CARDS + 1)) * (_MAX_CARDS + 1),
    )


class _RoundView(ctypes.Structure):
    _fields_ = struct_fields(
        "iI.i.",
        "role hand cards said bet",
        ctypes.c_int32 * 2,
        ctypes.c_uint8 * _BETS,
    )


@cache
def native_library() -> ctypes.CDLL:
    """Return the compiled library; raise `ConfigError` if there is no compiler or it fails."""
    loaded = load_library(Path(__file__).parent / "native")
    if loaded is None:
        raise ConfigError(f"{unavailable_reason()} Only compiled code can train tables.")
    declare_function(loaded.train, "PQq", "?")
    declare_function(loaded.lay_out, "P")
    declare_function(loaded.pack, "PiPdPP")
    declare_function(loaded.fade, "Pqf")
    declare_function(loaded.play_rounds, "PPiiQq", "q")
    declare_function(loaded.local_best_response, "PiiiiQq", "q")
    declare_function(loaded.respond_to, "PPiQ")
    declare_function(loaded.learn_large, "iiiiQPP", "?")
    declare_function(loaded.holds, "iI", "?")
    declare_function(loaded.odds, "IiP")
    bets = (_Bet * _BETS)()
    for bet_index, bet in enumerate(BETS):
        for value, needed in bet.rank_counts:
            bets[bet_index].values[value] = needed
        bets[bet_index].colour = bet.suit_counts[0][0] if bet.suit_counts else -1
        bets[bet_index].cards = card_bits(bet.cards)
    loaded.blef_begin(bets)
    loaded.large_begin()
    return loaded


def build_round_index_tables(cards: HandSizes) -> RoundIndexTables:
    """Return the sizes and index tables of a round as a C structure."""
    shape = TableShape(cards)
    setup = RoundIndexTables(
        cards=cards, hands=tuple(len(number_by_hand(card_count)) for card_count in cards)
    )
    setup.bets = len(shape.bets)
    setup.place[:] = [-1] * _BETS
    for bet_index, bet in enumerate(shape.bets):
        setup.bet[bet_index], setup.place[bet] = bet, bet_index
        setup.class_of[bet_index + 1] = shape.third_last_bet_class(bet)
    setup.classes, setup.high = shape.third_last_bet_class_count, 1 + shape.full_house_index
    for hand_size in cards:
        for hand, hand_number in number_by_hand(hand_size).items():
            setup.hand[sum(5**value for value in hand)] = hand_number
    native_library().lay_out(ctypes.byref(setup))
    return setup


_EXPLORE, _TREMBLE = 0.5, 0.03
_SMALL, _HABITS = 6, 0.05
"""Rate of the opponent's habits with more than six cards in play; with fewer it is 0."""


class CfrTrainer:
    """Trainer of a round's two tables; `sums` holds the average policy.

    The other player explores sometimes (`tremble`), and sometimes bets like players who look at
    their own cards only (`habits`). So the trainer also learns answers to bets that an equilibrium
    never makes.
    """

    def __init__(self, cards: HandSizes) -> None:
        self.setup = build_round_index_tables(cards)
        sizes = [hands * self.setup.span for hands in self.setup.hands]
        self.regrets = [(ctypes.c_float * value_count)() for value_count in sizes]
        self.strategy_sums = [(ctypes.c_float * value_count)() for value_count in sizes]
        self._learning = _Learning(
            setup=ctypes.pointer(self.setup),
            explore=_EXPLORE,
            tremble=_TREMBLE,
            habits=_HABITS if sum(cards) > _SMALL else 0,
        )
        for role in (0, 1):
            self._learning.regrets[role] = ctypes.addressof(self.regrets[role])
            self._learning.sums[role] = ctypes.addressof(self.strategy_sums[role])

    def train(self, seed: int, deal_count: int) -> None:
        """Train on `deal_count` deals."""
        if not native_library().train(ctypes.byref(self._learning), seed, deal_count):
            raise MemoryError("Not enough memory for the training.")

    def discount(self, regrets: float, sums: float) -> None:
        """Multiply the regrets and the strategy sums by these factors.

        This reduces the weight of earlier training.
        """
        for many, by in ((self.regrets, regrets), (self.strategy_sums, sums)):
            for values in many:
                native_library().fade(values, len(values), by)


def build_round_table(setup: RoundIndexTables, role_tables: Sequence[PolicyRows]) -> RoundTable:
    """Return the C table of these policies, by role."""
    round_table = RoundTable(setup=ctypes.pointer(setup))
    for role, table in enumerate(role_tables):
        row_offsets = array("I", accumulate(map(len, table.rows), initial=0))
        round_table.numbers[role] = array("I", table.numbers).tobytes()
        round_table.places[role] = row_offsets.tobytes()
        round_table.choices[role] = b"".join(table.rows)
        round_table.rows[role] = len(table.numbers)
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
    round_player = RoundPlayer(kind=("threshold", "tables").index(kind), check=check, bet=bet)
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
    view = _RoundView(role=len(bets) % 2, hand=hand, cards=hand_sizes, said=len(bets))
    view.bet[: len(bets)] = bets
    action: int = native_library().respond_to(
        ctypes.byref(opponent), ctypes.byref(view), depth, seed
    )
    if action < 0:
        raise MemoryError("Not enough memory for a local best response.")
    return action
