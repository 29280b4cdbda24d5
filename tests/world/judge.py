"""The one judge: the arena's history, our log, and what the network saw, held together.

A fault of ours is an action that was missing, doubled or not meant, that met another state than it
was decided on or was refused, a log that differs, and a turn that was ended by force unless so much
happened in it that it may be lost.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

from cardsharp.cloud.ports import MatchLog
from workbench.bench.judge import actions_of, intent_faults, is_forced, log_faults
from world.faults import Kind
from world.network import Accepted, Refused

Json = dict[str, Any]

MANY = 2
"""So many things must have happened in a turn that it may be lost."""

SWALLOWED = {f"{kind} (wait)" for kind in (Kind.TIMED_OUT, Kind.SWALLOWED)}
"""Nobody notices a long poll whose answer is swallowed, but by its limit (docs/reliability.md)."""

LONG_POLL = timedelta(seconds=40)
"""For so long a wait whose answer was swallowed is waited for."""

SHADOW = timedelta(seconds=15)
"""For so long a fault can be felt: a freeze of 12 s, and the lease that runs out."""


class Suffered(NamedTuple):
    """A fault and when it began."""

    at: datetime
    name: str


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of ours: its last move's number, and since when and for how long it was ours.

    Of one that was ended by force, since the move before.
    """

    number: int
    began: datetime
    took: timedelta
    forced: bool


@dataclass(frozen=True, slots=True)
class Lost:
    """A turn of ours that the arena ended, and what happened in it."""

    turn: Turn
    why: tuple[str, ...]

    @property
    def excused(self) -> bool:
        """Whether so much happened that the turn may be lost."""
        return len(self.why) >= MANY or not SWALLOWED.isdisjoint(self.why)

    def __str__(self) -> str:
        why = ", ".join(self.why) or "nothing"
        return f"move {self.turn.number} was lost ({self.turn.took.total_seconds():.1f} s): {why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is to be said of one match; sentences for what may never happen."""

    match: object
    actions: int
    wrong: tuple[str, ...]
    refused: tuple[Refused, ...]
    lost: tuple[Lost, ...]
    turns: tuple[Turn, ...]

    @property
    def faults(self) -> list[str]:
        """Every promise that was broken."""
        lost = [str(one) for one in self.lost if not one.excused]
        return [*self.wrong, *map(str, self.refused), *lost]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The admin's view of a match that has ended, what the network saw of it, and its faults."""

    whole: Json
    us: str
    accepted: Sequence[Accepted]
    refused: Sequence[Refused] = ()
    suffered: Sequence[Suffered] = ()


def judge(match: object, evidence: Evidence, log: MatchLog) -> Verdict:
    """The verdict on a match that has ended, or should have."""
    whole, us = evidence.whole, evidence.us
    turns = tuple(turns_of(whole, us))
    lost = tuple(Lost(turn, _why(evidence.suffered, turn)) for turn in turns if turn.forced)
    return Verdict(
        match=match,
        actions=len(evidence.accepted),
        wrong=(
            *log_faults(whole, log),
            *intent_faults(whole, log, [us]),
            *(fault for one in evidence.accepted for fault in one.faults),
            *_strangers(evidence),
        ),
        refused=tuple(
            one for one in evidence.refused if not _was_late(one, lost, evidence.accepted)
        ),
        lost=lost,
        turns=turns,
    )


def _was_late(refused: Refused, lost: Sequence[Lost], accepted: Sequence[Accepted]) -> bool:
    """Whether a turn that was over was to be ended, and the arena's watchdog was first.

    The opponent may have moved since, while the arena was cut off, and nobody of ours.
    """
    if refused.action.get("etype") != "EndTurn":
        return False
    ours = [one.sequence for one in accepted if one.sequence < refused.sequence]
    return any(max(ours, default=-1) < one.turn.number < refused.sequence for one in lost)


def _strangers(evidence: Evidence) -> Iterable[str]:
    """Where what the network carried is not what the arena has as our moves, each once."""
    played = [one.sequence for one in evidence.accepted]
    ours = [entry["sequenceId"] for entry in actions_of(evidence.whole, [evidence.us])]
    if played != ours:
        yield f"played were {played}, and {ours} count as ours"


def turns_of(whole: Json, us: str) -> Iterator[Turn]:
    """Our turns in the arena's own history."""
    seat, began = whole["playerids"].index(us), _at(whole["moves"][0])
    for before, entry in pairwise(whole["moves"]):
        kinds = {event["eventType"] for event in entry["events"]}
        if {"TurnEnded", "MatchStarted"} & {event["eventType"] for event in before["events"]}:
            began = _at(before)
        mine = any(event.get("playerIndex") == seat for event in entry["events"])
        if mine and (kinds & {"TurnEnded", "MatchEnded"} or is_forced(entry)):
            since = _at(before) if is_forced(entry) else began
            yield Turn(entry["sequenceId"], since, _at(entry) - since, is_forced(entry))


def _at(entry: Json) -> datetime:
    return datetime.fromisoformat(entry["at"])


def _why(suffered: Sequence[Suffered], turn: Turn) -> tuple[str, ...]:
    """What happened while a turn ran, or so shortly before that it was not over yet."""
    end = turn.began + turn.took
    return tuple(
        one.name
        for one in suffered
        if turn.began - (LONG_POLL if one.name in SWALLOWED else SHADOW) <= one.at <= end
    )
