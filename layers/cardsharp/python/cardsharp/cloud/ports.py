"""The ports of the cloud: what handlers and use cases may ask of clock, queue and match log.

Bodies (headers, intents, facts, outcomes, notes) are JSON objects; the game decides what is in
them and parses them again at its own edge. Adapters raise `StoreError` for a failing backend and
`Conflict` where a condition did not hold.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Protocol

Body = Mapping[str, object]  # a JSON object: string keys, and values that `json.dumps` takes
NOW = timedelta()  # no delay
Remaining = Callable[[], timedelta]  # how much time an invocation has left


class Signal(Protocol):
    """Something that wakes a waiter, such as `threading.Event` and `threading.Condition`."""

    def wait(self, timeout: float | None = None) -> bool:
        """Whether the signal came within `timeout` seconds."""


class Clock(Protocol):
    """Time as an argument, so that tests own it."""

    def now(self) -> datetime:
        """The current time, aware and in UTC."""

    def monotonic(self) -> float:
        """Seconds that never go back, for measuring durations."""

    def sleep(self, duration: timedelta) -> None:
        """Wait for `duration`."""

    def wait(self, signal: Signal, timeout: timedelta) -> bool:
        """Wait for `signal`: True as soon as it comes, False when `timeout` is over without it."""


@dataclass(frozen=True, slots=True)
class Message:
    """One delivery of a queued body; `receipt` belongs to this delivery only."""

    body: str
    message_id: str
    receipt: str
    receive_count: int
    sent_at: datetime


class Queue(Protocol):
    """A standard queue: at least once, in no promised order.

    A received message is invisible to others for the queue's visibility timeout. Whoever does not
    delete it gets it again, and after `max_receives` deliveries it becomes a dead letter.
    """

    def send(self, body: str, delay: timedelta = NOW) -> None:
        """Put a message at the end of the queue, to be received after `delay`: whole seconds."""

    def send_all(self, messages: Sequence[tuple[str, timedelta]]) -> None:
        """Put bodies with their delays on the queue, in as few requests as can be."""

    def receive(self, wait: timedelta) -> Message | None:
        """Receive a visible message, waiting at most `wait` for one."""

    def postpone(self, receipt: str, delay: timedelta) -> None:
        """Have a received message visible again after `delay`; quiet if it is already gone."""

    def delete(self, message: Message) -> None:
        """Remove a received message for good; quiet if it is already gone."""


class Status(StrEnum):
    """How far a match is, as its header in the match log says."""

    ANNOUNCED = "announced"
    RUNNING = "running"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to attend one match, for as long as it is renewed.

    `fence` grows by one with every take of the match, so a writer that was away too long is told
    apart from its successor. `idle` is for how long, at least, nobody had held the match when it
    was taken. There is no moment in it, for no two machines agree on one: its holder counts by its
    own clock since the last renewal, and everybody else is an onlooker (`Outwaited`).
    """

    match_id: str
    owner: str
    fence: int
    idle: timedelta = field(default=timedelta(0), compare=False)


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """A match's header as stored; `lease` is the last one not given back, alive or not.

    `beat` grows with every announcement, take and write under a lease. Such a write keeps others
    away for `ttl`; None is for a match that is free. `announced` says that a message is under way.
    """

    match_id: str
    status: Status
    started: datetime
    header: Body
    beat: int = 0
    ttl: timedelta | None = None
    lease: Lease | None = None
    announced: bool = False
    outcome: Body | None = None
    finished: datetime | None = None
    fault: str | None = None  # what of it cannot be read, and is empty here

    @property
    def rests(self) -> bool:
        """Whether it was released to rest for `ttl`: nobody is there or on the way."""
        return self.ttl is not None and self.lease is None and not self.announced


@dataclass(frozen=True, slots=True)
class Outwaited:
    """That a match stood at this beat for as long as its `ttl` or longer: for `idle`.

    Whoever says so has measured it by its own clock, from one look to another.
    """

    beat: int
    idle: timedelta


@dataclass(frozen=True, slots=True)
class MoveRecord:
    """One move: what we meant to do (`intent`) and what the arena says happened (`facts`)."""

    sequence: int
    intent: Body | None
    facts: Body | None
    fault: str | None = None  # what of it cannot be read, and is None here


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """A debugging note on a match, such as the exact input of a failed turn; it expires."""

    kind: str
    at: datetime
    body: Body


class MatchReader(Protocol):
    """What anybody may read, always as of now except where it says otherwise."""

    def match(self, match_id: str) -> MatchRecord | None:
        """The header of a match, or None if the log does not know it."""

    def moves(self, match_id: str) -> list[MoveRecord]:
        """All moves of a match in the order of their sequence."""

    def matches(
        self, day: date | None = None, status: Status | None = None, limit: int = 100
    ) -> list[MatchRecord]:
        """Headers, the last started first; a change may show late, leases too.

        Of matches that began at one moment, such as the deals of a table, the last played is first.
        `day` is the UTC day of the match's first announcement or take.
        """

    def notes(self, match_id: str) -> list[NoteRecord]:
        """The unexpired debugging notes of a match, oldest first."""


class MatchLog(MatchReader, Protocol):
    """The match log: headers, moves and leases, in one place and under one set of conditions.

    Whatever is written under a lease raises `Conflict` if that is lost.
    """

    def announce(self, match_id: str, ttl: timedelta, seen: Outwaited | None = None) -> bool:
        """Announce a running match that is free, or still as it was seen: True for one caller.

        That caller sends the message; the announcement keeps others from it for `ttl`, or until
        the take. A lease that it passes over can still be renewed until then.
        """

    def take(
        self, match_id: str, owner: str, ttl: timedelta, header: Body | None = None
    ) -> Lease | None:
        """Take the lease of a match that is free, announced or this owner's; else None.

        The first take makes the match "running" and stores `header`; later ones keep it. A
        finished match cannot be taken.
        """

    def renew(self, lease: Lease, ttl: timedelta) -> None:
        """Renew the lease, run out or not; raises `Conflict` if it is no longer ours."""

    def reopen(self, match: MatchRecord) -> bool:
        """Make a match run again that is finished as this record says: True for one caller.

        It keeps all that it has, and its outcome as a note of the kind "reopened".
        """

    def release(self, lease: Lease, rest: timedelta | None = None) -> None:
        """Give the lease back; quiet if it is already lost.

        A match that is to `rest` is free, but for those who have not outwaited it for so long.
        """

    def running(self) -> list[MatchRecord]:
        """The running matches with their present leases; a new one may show late."""

    def describe(self, lease: Lease, header: Body) -> None:
        """Replace the match's header facts (players, tags, strategy)."""

    def intend(self, lease: Lease, sequence: int, intent: Body) -> None:
        """Write what move `sequence` is going to be; `Conflict` also when it already has facts."""

    def record(self, lease: Lease, facts: Mapping[int, Body]) -> None:
        """Write the facts of moves by sequence; a move that already has facts keeps them."""

    def withdraw(self, lease: Lease, sequence: int) -> None:
        """Take out the moves from `sequence` on, for the arena went back to before them.

        Each is kept as a note of the kind "withdrawn" and may be intended and recorded anew.
        """

    def finish(self, lease: Lease, outcome: Body) -> None:
        """Close the match with its outcome and clear the lease; quiet if it is finished."""

    def note(self, match_id: str, kind: str, body: Body) -> None:
        """Keep a debugging note for two weeks; needs no lease and touches nothing else."""

    def close(self) -> None:
        """Let go of files and connections; nothing is asked of it any more."""


class Relay:
    """The generations of the poller: each begins one, and listens until it sees a later one.

    So no second is without a listener, however unevenly the schedule starts them. Here is that of
    a home on this machine, which runs one poller at a time; methods raise `StoreError`.
    """

    def begin(self) -> int:
        """A new generation's number, one more than any before; here 0, always."""
        return 0

    def newest(self) -> int:
        """The number of the generation that began last; told late, a poller listens longer."""
        return 0
