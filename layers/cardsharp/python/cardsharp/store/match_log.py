"""Port of the match log: its records, and the reads and writes under a lease.

It stands beside the document store, on which its conditions would cost twice the write units
or more requests (docs/decisions/0020-documents-under-what-is-kept.md).

Bodies (headers, intents, facts, outcomes, notes) are JSON objects; the game defines their
content and parses them itself. Adapters raise `StoreError` for a failing backend and
`WriteConflict` if a condition did not hold.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol

Body = Mapping[str, object]  # a JSON object


class MatchStatus(StrEnum):
    """Status of a match, as its header in the match log says."""

    ANNOUNCED = "announced"
    RUNNING = "running"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to attend one match, for as long as it is renewed.

    `fence_token` grows by one with every acquisition of the match, so a writer that was away
    too long is told apart from its successor. `prior_idle_time` is for how long, at least,
    nobody had the lease when it was acquired. There is no timestamp in it, because clocks of
    machines differ: its owner counts from the last renewal by its local clock, and every other
    process observes it (`ExpiredLease`).
    """

    match_id: str
    owner: str
    fence_token: int
    prior_idle_time: timedelta = field(default=timedelta(0), compare=False)


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """A match's stored header; `lease` is the last one that was not released, valid or expired.

    `lease_version` grows with every queue mark, acquisition and write under a lease. Such a
    write excludes other workers for `ttl`; None means that the match is free. `is_queued` says
    that a message about the match is on its way.
    """

    match_id: str
    status: MatchStatus
    started_at: datetime
    header: Body
    lease_version: int = 0
    ttl: timedelta | None = None
    lease: Lease | None = None
    is_queued: bool = False
    outcome: Body | None = None
    finished_at: datetime | None = None
    read_error: str | None = None  # describes the parts that cannot be read and are empty here

    @property
    def is_parked(self) -> bool:
        """True if it was released for `ttl`: no worker attends it or has been asked to."""
        return self.ttl is not None and self.lease is None and not self.is_queued


@dataclass(frozen=True, slots=True)
class ExpiredLease:
    """Proof that a match was unchanged since `lease_version` for `idle_for`, at least its `ttl`.

    The observer has measured that by its local clock, from one observation to another.
    """

    lease_version: int
    idle_for: timedelta


@dataclass(frozen=True, slots=True)
class MoveRecord:
    """One move: our intended action (`intent`) and what the arena recorded (`facts`)."""

    sequence: int
    intent: Body | None
    facts: Body | None
    read_error: str | None = None  # describes the parts that cannot be read and are None here


@dataclass(frozen=True, slots=True)
class MoveSummary:
    """A move as a person wants to see it in a row of a table; no program reads it back.

    `action` is what was done, `cards` are the cards that it showed or named, and `description`
    is the move in words. `scores` are the players' after it, in the order of their seats.
    `reason` is why we decided so. What a game does not have is None.
    """

    turn: int | None = None
    player: str | None = None
    action: str | None = None
    cards: tuple[str, ...] | None = None
    description: str | None = None
    scores: tuple[float, ...] | None = None
    reason: str | None = None
    played_at: datetime | None = None


NO_SUMMARY = MoveSummary()
Summaries = Mapping[int, MoveSummary]  # of moves, by their sequence
NO_SUMMARIES: Summaries = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class DebugNote:
    """A debugging note on a match, such as the exact input of a failed turn; it expires."""

    kind: str
    created_at: datetime
    body: Body


class MatchReader(Protocol):
    """Read access to a match log; always consistent unless a method says otherwise."""

    def match(self, match_id: str) -> MatchRecord | None:
        """Return the header of a match, None if the log does not have it."""

    def moves(self, match_id: str) -> list[MoveRecord]:
        """Return all moves of a match in the order of their sequence."""

    def matches(
        self,
        day: date | None = None,
        status: MatchStatus | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> list[MatchRecord]:
        """Return headers, the last started first; a recent change may be missing, also of a lease.

        Among matches with the same start, such as the deals of a table, the last played is
        first. `day` is the UTC day on which a match was first queued or acquired. With `cursor`,
        the id of a match, the list begins with the match after it, so that a long list is read
        page by page.
        """

    def notes(self, match_id: str) -> list[DebugNote]:
        """Return the unexpired debugging notes of a match, oldest first."""


class MatchLog(MatchReader, Protocol):
    """The match log: headers, moves and leases, in one place and under one set of conditions.

    Every write under a lease raises `WriteConflict` if the lease is lost.
    """

    def mark_queued(
        self, match_id: str, ttl: timedelta, expired_lease: ExpiredLease | None = None
    ) -> bool:
        """Mark a running match as queued if it is free or unchanged; True for one caller only.

        That caller sends the message. The mark keeps other callers away for `ttl`, or until a
        worker acquires the match. Until then the owner of an expired lease can still renew it.
        """

    def acquire_lease(
        self, match_id: str, owner: str, ttl: timedelta, header: Body | None = None
    ) -> Lease | None:
        """Acquire the lease of a match that is free, queued or this owner's; else None.

        The first acquisition makes the match "running" and stores `header`; later ones do not
        change it. The lease of a finished match cannot be acquired.
        """

    def renew_lease(self, lease: Lease, ttl: timedelta) -> None:
        """Renew the lease, expired or not; raise `WriteConflict` if it is no longer ours."""

    def reopen(self, match: MatchRecord) -> bool:
        """Make a match run again that is finished as in this record; True for one caller only.

        All its data stays, and its outcome is preserved as a note of the kind "reopened".
        """

    def release_lease(self, lease: Lease, park_for: timedelta | None = None) -> None:
        """Release the lease; quiet if it is already lost.

        With `park_for` the match is free only for a caller that has observed it unchanged for
        that long.
        """

    def running_matches(self) -> list[MatchRecord]:
        """Return the running matches with their current leases; a new one may be missing."""

    def update_header(self, lease: Lease, header: Body) -> None:
        """Replace the match's header facts (players, tags, strategy)."""

    def write_intent(
        self, lease: Lease, sequence: int, intent: Body, summary: MoveSummary = NO_SUMMARY
    ) -> None:
        """Write the intent of move `sequence`; raise `WriteConflict` also if it has facts.

        The `summary` is for people who look into the store; a log may leave it out.
        """

    def write_facts(
        self, lease: Lease, facts: Mapping[int, Body], summaries: Summaries = NO_SUMMARIES
    ) -> None:
        """Write the facts of moves by sequence; a move that already has facts keeps them.

        The `summaries` add to what `write_intent` was given, or replace it.
        """

    def retract_moves(self, lease: Lease, sequence: int) -> None:
        """Remove the moves from `sequence` on, because the arena went back to before them.

        Each is preserved as a note of the kind "withdrawn" and may be intended and recorded
        again.
        """

    def finish(self, lease: Lease, outcome: Body) -> None:
        """Close the match with its outcome and clear the lease; quiet if it is finished."""

    def add_note(self, match_id: str, kind: str, body: Body) -> None:
        """Write a debugging note for two weeks; needs no lease and changes nothing else."""

    def close(self) -> None:
        """Release files and connections; the log cannot be used afterwards."""
