"""The compiled engine as a strategy."""

import ctypes
from functools import cache
from pathlib import Path

from cardsharp.euchre.actions import PASS, Action, Bid, Defend, Discard, Play, Question
from cardsharp.euchre.position import Position
from cardsharp.euchre.strategies import Decision, Option
from cardsharp.euchre.strategies.bidding import card_set
from cardsharp.euchre.strategies.pimc import POINT, Effort
from cardsharp.euchre.table import MAX_BIDS, Table
from research.compiling import load, members, why_not

_DEAL = 20
_CHOICES = 8
_ALONE = 8

MOST_WORLDS = 8192
MOST_BATCH = 1024


class _Open(ctypes.Structure):
    """The open part of a deal, as `Open` in engine.c."""

    _fields_ = members(
        "ii..ii.i..",
        "turn_card bids suit alone swapped defences defence plays seat card",
        *[ctypes.c_int * MAX_BIDS] * 2,
        ctypes.c_int * 2,
        *[ctypes.c_int * _DEAL] * 2,
    )


class _Effort(ctypes.Structure):
    _fields_ = members("iii", "worlds batch work")


class _Answer(ctypes.Structure):
    """What the engine answers, as `Answer` in engine.c."""

    _fields_ = members(
        "iii...", "action worlds choices actions tried totals", *[ctypes.c_int32 * _CHOICES] * 3
    )


class Compiled:
    """`pimc` compiled: equal answers and figures without reasons; else raises `RuntimeError`."""

    def __init__(self, effort: Effort | None = None) -> None:
        found = library()
        if found is None:
            raise RuntimeError(f"{why_not() or 'Not compiled.'} Use the player `pimc` itself.")
        limit = effort or Effort()
        if limit.batch > MOST_BATCH or limit.worlds + limit.batch > MOST_WORLDS:
            raise ValueError(f"At most {MOST_BATCH} worlds a batch and {MOST_WORLDS} in all.")
        self._library, self._limit = found, limit
        self._effort = _Effort(limit.worlds, limit.batch, limit.work)

    def __reduce__(self) -> tuple[type["Compiled"], tuple[Effort]]:
        return Compiled, (self._limit,)

    def decide(self, view: Position) -> Decision:
        """What `pimc` decides."""
        if len(view.choices) == 1:
            return Decision(view.choices[0], "The only choice.")
        answer, asked = _Answer(), view.question
        effort = ctypes.byref(self._effort)
        discard = -1 if view.discard is None else view.discard
        self._library.euchre_decide(
            ctypes.byref(_open(view.table)),
            view.seat,
            list(Question).index(asked),
            card_set(view.hand),
            discard,
            effort,
            ctypes.byref(answer),
        )
        tried = zip(answer.actions, answer.totals, answer.tried, strict=True)
        options = tuple(
            Option(_action_of(asked, action), total / max(1, often) / POINT)
            for action, total, often in [*tried][: answer.choices if answer.worlds else 0]
        )
        chosen, reason = _action_of(asked, answer.action), "As `pimc`, compiled."
        return Decision(chosen, reason, options, answer.worlds)


@cache
def library() -> ctypes.CDLL | None:
    """The compiled engine, None if there is no compiler or it is off; raises `ConfigError`."""
    found = load(Path(__file__).parent / "native")
    if found is not None:
        found.euchre_begin()
    return found


def _open(table: Table) -> _Open:
    plays = [played for trick in table.tricks for played in trick]
    told = _Open(table.turn_card, len(table.bids))
    for number, bid in enumerate(table.bids):
        told.suit[number] = -1 if bid.suit is None else bid.suit
        told.alone[number] = bid.alone
    told.swapped, told.defences = table.swapped, len(table.defences)
    for number, alone in enumerate(table.defences):
        told.defence[number] = alone
    told.plays = len(plays)
    for number, (seat, card) in enumerate(plays):
        told.seat[number], told.card[number] = seat, card
    return told


def _action_of(question: Question, number: int) -> Action:
    """The action that a number of the engine stands for."""
    match question:
        case Question.BID:
            return Bid(number % _ALONE - 1, number >= _ALONE) if number else PASS
        case Question.DISCARD:
            return Discard(number)
        case Question.DEFEND:
            return Defend(alone=bool(number))
        case Question.PLAY:
            return Play(number)
