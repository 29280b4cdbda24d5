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

_MAX_PLAYS = 20
_MAX_CHOICES = 8
_ALONE_OFFSET = 8

MAX_WORLDS = 8192
MAX_BATCH = 1024


class _NativePublicState(ctypes.Structure):
    """Public part of a deal, as `PublicState` in position.h."""

    _fields_ = struct_fields(
        "ii..ii.i..",
        "turn_card bid_count suit goes_alone has_discarded defense_count defense_answers "
        "play_count seat card",
        *[ctypes.c_int * MAX_BIDS] * 2,
        ctypes.c_int * 2,
        *[ctypes.c_int * _MAX_PLAYS] * 2,
    )


class _NativeSearchBudget(ctypes.Structure):
    """Limits of a search, as `SearchBudget` in pimc.c."""

    _fields_ = struct_fields("iii", "max_worlds batch_size max_work")


class _NativeAnswer(ctypes.Structure):
    """Answer of the engine, as `Answer` in pimc.c."""

    _fields_ = struct_fields(
        "iii...",
        "action world_count choice_count actions try_counts totals",
        *[ctypes.c_int32 * _MAX_CHOICES] * 3,
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
        self._native_budget = _NativeSearchBudget(
            limit.max_worlds, limit.batch_size, limit.max_work
        )

    def __reduce__(self) -> tuple[type["NativePimcStrategy"], tuple[SearchBudget]]:
        return NativePimcStrategy, (self._search_limit,)

    def decide(self, view: EuchrePosition) -> EuchreDecision:
        """Return the decision of `pimc`."""
        if len(view.legal_actions) == 1:
            return EuchreDecision(view.legal_actions[0], "The only choice.")
        native_answer, decision_type = _NativeAnswer(), view.decision_type
        discard = -1 if view.discard is None else view.discard
        self._library.euchre_decide(
            ctypes.byref(_to_native_state(view.public_state)),
            view.seat,
            list(DecisionType).index(decision_type),
            card_mask(view.hand),
            discard,
            ctypes.byref(self._native_budget),
            ctypes.byref(native_answer),
        )
        choice_count = native_answer.choice_count if native_answer.world_count else 0
        options = tuple(
            EuchreOption(
                _decode_action(decision_type, native_answer.actions[choice]),
                native_answer.totals[choice]
                / max(1, native_answer.try_counts[choice])
                / POINT_SCALE,
            )
            for choice in range(choice_count)
        )
        chosen, reason = _decode_action(decision_type, native_answer.action), "As `pimc`, compiled."
        return EuchreDecision(chosen, reason, options, native_answer.world_count)


@cache
def native_library() -> ctypes.CDLL | None:
    """Return the compiled engine, or None if it is unavailable; raise `ConfigError`."""
    loaded = load_library(Path(__file__).parent / "native")
    if loaded is not None:
        loaded.euchre_init()
    return loaded


def _to_native_state(public_state: PublicState) -> _NativePublicState:
    plays = [play for trick in public_state.tricks for play in trick]
    native_state = _NativePublicState(public_state.turn_card, len(public_state.bids))
    for index, bid in enumerate(public_state.bids):
        native_state.suit[index] = -1 if bid.suit is None else bid.suit
        native_state.goes_alone[index] = bid.goes_alone
    native_state.has_discarded = public_state.has_discarded
    native_state.defense_count = len(public_state.defense_answers)
    for index, defends_alone in enumerate(public_state.defense_answers):
        native_state.defense_answers[index] = defends_alone
    native_state.play_count = len(plays)
    for index, (seat, card) in enumerate(plays):
        native_state.seat[index], native_state.card[index] = seat, card
    return native_state


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
