"""What became of a match: the arena's history, our log and what the gateway saw, held together."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from cardsharp.cloud.ports import MatchLog
from cardsharp.deadmansdraw.arena.dto import Json
from workbench.bench.chaos.faults import Suffered
from workbench.bench.judge import actions_of, intent_faults, is_forced, log_faults

MANY = 2
"""So many things must have happened in a turn that it may be lost."""


SWALLOWED = {"no answer (wait)", "blackhole (wait)"}
"""Nobody notices a long poll whose answer is swallowed, but by its limit (docs/reliability.md)."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A turn of ours that the arena ended, how long it was ours, and what happened in it."""

    match_id: str
    number: int
    took: timedelta
    why: tuple[str, ...]

    @property
    def excused(self) -> bool:
        """Whether so much happened that the turn may be lost."""
        return len(self.why) >= MANY or not SWALLOWED.isdisjoint(self.why)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is to be said of one match; sentences for what may never happen."""

    match_id: str
    actions: int
    missing: int
    doubled: int
    unintended: int
    wrong: tuple[str, ...]
    lost: tuple[Lost, ...]
    longest: timedelta
    """The longest time that our turn waited for an action of ours."""

    @property
    def well(self) -> bool:
        """Whether no promise was broken."""
        faults = self.missing or self.doubled or self.unintended or self.wrong
        return not faults and all(turn.excused for turn in self.lost)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The admin's view of a match, for which moves its actions were meant, and the faults."""

    whole: Json
    meant: Sequence[str]
    suffered: Sequence[Suffered]
    us: str


def judge(evidence: Evidence, log: MatchLog) -> Verdict:
    """The verdict on a match that has ended, or should have."""
    whole, us = evidence.whole, evidence.us
    ours = [entry["sequenceId"] for entry in actions_of(whole, [us])]
    logged = {move.sequence for move in log.moves(whole["_id"]) if move.facts is not None}
    met = list(zip(evidence.meant, map(str, ours), strict=False))
    strange = intent_faults(whole, log, [us])
    elsewhere = [f"an action meant for move {meant} met {at}" for meant, at in met if meant != at]
    waits = list(_waits(whole, us))
    return Verdict(
        match_id=whole["_id"],
        actions=len(ours),
        missing=len(set(ours) - logged) + abs(len(evidence.meant) - len(ours)),
        doubled=sum(n - 1 for n in Counter(evidence.meant).values()),
        unintended=len(strange) + len(elsewhere),
        wrong=(*log_faults(whole, log), *strange, *elsewhere),
        lost=tuple(
            Lost(whole["_id"], entry["sequenceId"], took, _why(evidence.suffered, began, took))
            for entry, began, took in waits
            if is_forced(entry)
        ),
        longest=max((took for _, _, took in waits), default=timedelta(0)),
    )


def _waits(whole: Json, us: str) -> list[tuple[Json, datetime, timedelta]]:
    """Our moves, the forced ones too, with since when and for how long each was due."""
    seat = whole["playerids"].index(us)
    moves = whole["moves"]
    return [
        (entry, _at(before), _at(entry) - _at(before))
        for before, entry in pairwise(moves)
        if any(event.get("playerIndex") == seat for event in entry["events"])
    ]


def _at(entry: Json) -> datetime:
    return datetime.fromisoformat(entry["at"])


def _why(suffered: Sequence[Suffered], began: datetime, took: timedelta) -> tuple[str, ...]:
    """What happened while a turn ran, or so shortly before that it was not over yet."""
    end = began + took
    return tuple(
        one.name
        for one in suffered
        if began - (LONG_POLL if one.name in SWALLOWED else SHADOW) <= one.at <= end
    )


LONG_POLL = timedelta(seconds=40)
"""For so long a wait whose answer was swallowed is waited for."""

SHADOW = timedelta(seconds=15)
"""For so long a fault can be felt: a freeze of 12 s, and the lease that runs out."""
