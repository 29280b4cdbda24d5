"""Compiled engine of Euchre as a strategy."""

import ctypes
from functools import cache
from pathlib import Path

from cardsharp.games.euchre.actions import (
    PASS,
    Action,
    Bid,
    DecisionType,
    Defend,
    Discard,
    Play,
)
from cardsharp.games.euchre.position import EuchrePosition
from cardsharp.games.euchre.public_state import MAX_BIDS, PublicState
from cardsharp.games.euchre.strategies import EuchreDecision, EuchreOption
from cardsharp.games.euchre.strategies.bidding import card_mask
from cardsharp.games.euchre.strategies.pimc import POINT_SCALE, SearchBudget
from cardsharp_tools.research.c_library import load_library, struct_fields, unavailable_reason

_DEALT_CARD_COUNT = 20
_MAX_CHOICES = 8
_ALONE_OFFSET = 8

MAX_WORLDS = 8192
MAX_BATCH = 1024


class _Open(ctypes.Structure):
    """Public part of a deal, as `Open` in engine.c."""

    _fields_ = struct_fields(
        "ii..ii.i..",
        "turn_card bids suit alone swapped defences defence plays seat card",
        *[ctypes.c_int * MAX_BIDS] * 2,
        ctypes.c_int * 2,
        *[ctypes.c_int * _DEALT_CARD_COUNT] * 2,
    )


class _Effort(ctypes.Structure):
    _fields_ = struct_fields("iii", "worlds batch work")


class _NativeAnswer(ctypes.Structure):
    """Answer of the engine, as `Answer` in engine.c."""

    _fields_ = struct_fields(
        "iii...", "action worlds choices actions tried totals", *[ctypes.c_int32 * _MAX_CHOICES] * 3
    )


class NativePimcStrategy:
    """Compiled `pimc`: equal decisions without reasons; raises `RuntimeError` if missing.

    Raises `RuntimeError` if it cannot be compiled.
    """

    def __init__(self, effort: SearchBudget | None = None) -> None:
        loaded = native_library()
        if loaded is None:
            raise RuntimeError(
                f"{unavailable_reason() or 'Not compiled.'} Use the player `pimc` itself."
            )
        limit = effort or SearchBudget()
        if limit.batch_size > MAX_BATCH or limit.max_worlds + limit.batch_size > MAX_WORLDS:
            raise ValueError(f"At most {MAX_BATCH} worlds a batch and {MAX_WORLDS} in all.")
        self._library, self._search_limit = loaded, limit
        self._native_limit = _Effort(limit.max_worlds, limit.batch_size, limit.max_work)

    def __reduce__(self) -> tuple[type["NativePimcStrategy"], tuple[SearchBudget]]:
        return NativePimcStrategy, (self._search_limit,)

    def decide(self, view: EuchrePosition) -> EuchreDecision:
        """Return the decision of `pimc`."""
        if len(view.legal_actions) == 1:
            return EuchreDecision(view.legal_actions[0], "The only choice.")
        native_answer, decision_type = _NativeAnswer(), view.decision_type
        effort = ctypes.byref(self._native_limit)
        discard = -1 if view.discard is None else view.discard
        self._library.euchre_decide(
            ctypes.byref(_to_native_state(view.public_state)),
            view.seat,
            list(DecisionType).index(decision_type),
            card_mask(view.hand),
            discard,
            effort,
            ctypes.byref(native_answer),
        )
        tried = zip(native_answer.actions, native_answer.totals, native_answer.tried, strict=True)
        options = tuple(
            EuchreOption(_decode_action(decision_type, action), total / max(1, often) / POINT_SCALE)
            for action, total, often in [*tried][
                : native_answer.choices if native_answer.worlds else 0
            ]
        )
        chosen, reason = _decode_action(decision_type, native_answer.action), "As `pimc`, compiled."
        return EuchreDecision(chosen, reason, options, native_answer.worlds)


@cache
def native_library() -> ctypes.CDLL | None:
    """Return the compiled engine, or None if it is unavailable; raise `ConfigError`."""
    loaded = load_library(Path(__file__).parent / "native")
    if loaded is not None:
        loaded.euchre_begin()
    return loaded


def _to_native_state(table: PublicState) -> _Open:
    plays = [played for trick in table.tricks for played in trick]
    open_state = _Open(table.turn_card, len(table.bids))
    for index, bid in enumerate(table.bids):
        open_state.suit[index] = -1 if bid.suit is None else bid.suit
        open_state.alone[index] = bid.goes_alone
    open_state.swapped, open_state.defences = table.has_discarded, len(table.defense_answers)
    for index, alone in enumerate(table.defense_answers):
        open_state.defence[index] = alone
    open_state.plays = len(plays)
    for index, (seat, card) in enumerate(plays):
        open_state.seat[index], open_state.card[index] = seat, card
    return open_state


def _decode_action(decision_type: DecisionType, action_code: int) -> Action:
    """Return the action that a number of the engine encodes."""
    match decision_type:
        case DecisionType.BID:
            return (
                Bid(action_code % _ALONE_OFFSET - 1, action_code >= _ALONE_OFFSET)
                if action_code
                else PASS
            )
        case DecisionType.DISCARD:
            return Discard(action_code)
        case DecisionType.DEFEND:
            return Defend(goes_alone=bool(action_code))
        case DecisionType.PLAY:
            return Play(action_code)
