"""What `make explore` explores: the code as it is, and with a rule broken on purpose.

Every state that can be reached is looked at once: first what no fault is needed for. Apart from
the command, so that a process of its own can import it.
"""

import logging
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from unittest import mock

from cardsharp.cloud import attendance, hold, offering, sqlite
from cardsharp.cloud.ports import Lease, MatchRecord, Outwaited
from cardsharp.cloud.trouble import Denied, is_final
from cardsharp.errors import ArenaError
from world.explore import cards
from world.explore.process import no_threads
from world.explore.world import ONE_WORKER, TWO_CARDS, WATCHED, Setting, World

Came = dict[bytes, tuple[bytes, str]]
"""By which state, packed, and which step every state was reached first."""


@dataclass
class Found:
    """What a search found; `by_faults` are the states for which so many faults are needed."""

    by_faults: list[int] = field(default_factory=list)
    steps: int = 0
    seconds: float = 0  # of a processor
    alone: float = 0  # for so many seconds at most nobody attended the match
    wrong: str | None = None
    trace: list[str] = field(default_factory=list)

    @property
    def states(self) -> int:
        return sum(self.by_faults)


def explore(world: World, faults: int) -> Found:
    """All states with up to so many faults; stops at the first thing wrong."""
    began, found = time.process_time(), Found()
    came: Came = {}
    level: Came = {world.pack(world.canonical(world.start())): (b"", "")}
    while level and found.wrong is None and len(found.by_faults) <= faults:
        before, last = len(came), len(found.by_faults) == faults
        level = _level(world, came, level, found, last=last)
        found.by_faults.append(len(came) - before)
    found.seconds, found.alone = time.process_time() - began, world.longest / 2
    return found


def _level(world: World, came: Came, level: Came, found: Found, *, last: bool) -> Came:
    """Look at all that is reached from here without a fault; what one more fault leads to.

    That is of no use where it is the `last`.
    """
    after: Came = {}
    while level:
        packed, how = level.popitem()
        if packed in came:
            continue
        came[packed] = how
        for step in world.steps(world.unpack(packed)):
            found.steps += 1
            if step.wrong is not None:
                found.wrong, found.trace = step.wrong, [*_trace(came, packed), step.words]
                return after
            if step.fault and last:
                continue
            reached = world.pack(world.canonical(step.state))
            if reached not in came:
                words = sys.intern(step.words)
                (after if step.fault else level).setdefault(reached, (packed, words))
    return after


def _trace(came: Came, packed: bytes) -> list[str]:
    words = []
    while packed:
        packed, said = came[packed]
        words.append(said)
    return words[-2::-1]


HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Job:
    """What is explored, and with up to how many faults; what of the code is broken, and how."""

    words: str
    setting: Setting = ONE_WORKER
    faults: int = 1
    broken: tuple[object, str, Any] | None = None

    @contextmanager
    def planted(self) -> Iterator[None]:
        with mock.patch.object(*self.broken) if self.broken else nullcontext():
            yield


SEARCHES = (
    Job("one worker at a time and an onlooker, two cards"),
    Job("one worker at a time and an onlooker, one card", replace(ONE_WORKER, cards=1), 2),
    Job("two workers and an onlooker, one card", replace(TWO_CARDS, cards=1)),
    Job(
        "the same, the workers' clocks an hour before and behind",
        Setting(cards=1, skews=(HOUR, -HOUR)),
    ),
    Job("two workers and an onlooker, two cards", TWO_CARDS),
    Job("two workers and a poller, one card", WATCHED),
    Job("two workers and two pollers, one card", replace(WATCHED, onlookers=2)),
)


def _breathe(self: hold.Hold, _error: ArenaError, _sent: object, _most: object) -> None:
    self.pause(self.timing.breath)


_intend = hold.Hold.intend


def _too_late(self: hold.Hold, sequence: int, intent: Any) -> bool:  # noqa: ANN401
    _intend(self, sequence, intent)
    return True


_act = cards.CardTurn.act


def _again(self: cards.CardTurn, action: str) -> Any:  # noqa: ANN401
    try:
        return _act(self, action)
    except ArenaError as error:
        if not error.doubtful:
            raise
        return _act(self, action)


class _Believed(Denied):
    def lasts(self, error: ArenaError, now: float) -> timedelta:
        return HOUR if is_final(error) else super().lasts(error, now)


def _for_ever(_self: offering.Onlooker, match: MatchRecord, _now: float) -> Outwaited | None:
    return Outwaited(match.beat, timedelta(0)) if match.ttl is None else None


def _anybody(db: sqlite3.Connection, lease: Lease) -> None:
    db.execute("UPDATE matches SET beat = beat + 1 WHERE id = ?", (lease.match_id,))


MUTANTS = (
    Job("no fence", TWO_CARDS, broken=(sqlite, "_own", _anybody)),
    Job("an action without an answer is sent again", broken=(cards.CardTurn, "act", _again)),
    Job(
        "a successor does not wait for what may arrive",
        broken=(hold.Hold, "outwait", lambda *_: False),
    ),
    Job("no wait after an action without an answer", broken=(hold.Hold, "let_arrive", _breathe)),
    Job("no intent is stored", broken=(hold.Hold, "intend", lambda *_: True)),
    Job(
        "an action is sent however long its intent took",
        TWO_CARDS,
        broken=(hold.Hold, "intend", _too_late),
    ),
    Job("a page counts as a refusal", broken=(attendance, "is_refusal", lambda _error: True)),
    Job(
        "another's word is taken for how long nobody was there",
        broken=(offering.Onlooker, "idle", lambda *_: HOUR),
    ),
    Job("one denial closes a match", broken=(hold, "Denied", _Believed)),
    Job("a lease never runs out", WATCHED, broken=(offering.Onlooker, "outwaited", _for_ever)),
)

JOBS = (*SEARCHES, *MUTANTS)


def run(number: int) -> Found:
    logging.disable(logging.CRITICAL)
    job = JOBS[number]
    with no_threads(), job.planted():
        return explore(World(job.setting), job.faults)
