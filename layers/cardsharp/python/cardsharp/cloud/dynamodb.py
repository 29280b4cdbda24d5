"""The match log in one DynamoDB table.

| pk       | sk          | attributes                                                         |
|----------|-------------|--------------------------------------------------------------------|
| match#ID | header      | match_status, match_day, started_at, header_json, claim_beat,      |
|          |             | claim_ttl, lease_owner, lease_fence, lease_idle, announced_by,     |
|          |             | announced_idle, outcome_json, finished_at, expires_at              |
| match#ID | move#000012 | intent_json, facts_json, fence, expires_at                         |
| match#ID | note#AT#…   | kind, body_json, expires_at (seconds; the table's time to live)    |

Matches and moves have `expires_at` where the owner keeps them for a time only. The indexes by-day
(match_day, started_at) and by-status (match_status, started_at) hold keys only, so renewing a lease
writes nothing to them. Bodies are packed JSON (`packing`), plain as version 0.2 wrote them; moments
and durations are microseconds.
Actions used: GetItem, BatchGetItem, Query, PutItem, UpdateItem.
"""

import uuid
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, timedelta
from typing import TYPE_CHECKING

from cardsharp.cloud import dynamodb_items as items
from cardsharp.cloud.aws import Unmet
from cardsharp.cloud.codec import NOTE_LIFE, reopened, withdrawn
from cardsharp.cloud.dynamodb_items import Told, Value
from cardsharp.cloud.dynamodb_reader import DynamoReader
from cardsharp.cloud.ports import (
    Body,
    Clock,
    Lease,
    MatchRecord,
    MoveRecord,
    NoteRecord,
    Outwaited,
    Status,
)
from cardsharp.errors import Conflict

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient
    from types_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_OURS = "lease_fence = :fence AND lease_owner = :owner"
_BEAT = "claim_beat = if_not_exists(claim_beat, :zero) + :one"
_GIVEN_BACK = " REMOVE lease_owner, lease_idle, announced_by, announced_idle"
_BORN = "started_at = if_not_exists(started_at, :now), match_day = if_not_exists(match_day, :day), "
_ONE: Mapping[str, Told] = {"zero": 0, "one": 1}
_CHUNK = 50  # writes in one transaction, below the 100 actions and the 4 MB


class DynamoLog(DynamoReader):
    """A `MatchLog` in the DynamoDB table of that name, in the region of AWS_DEFAULT_REGION.

    What is written is kept for `keep` and then dropped by the table, or for ever without it.
    """

    def __init__(
        self,
        table: str,
        clock: Clock,
        client: "DynamoDBClient | None" = None,
        keep: timedelta | None = None,
    ) -> None:
        super().__init__(table, client)
        self._clock = clock
        self._keep = keep
        # What an update sets besides, so that the table drops the item in time.
        self._expires = "" if keep is None else ", expires_at = :expires"

    def close(self) -> None:
        """Leave the connections open: they are for the whole process."""

    def announce(self, match_id: str, ttl: timedelta, seen: Outwaited | None = None) -> bool:
        """Announce a running match that is free, or still as it was seen: True for one caller."""
        is_open, idle = "attribute_not_exists(claim_ttl)", timedelta(0)
        states = {"announced": Status.ANNOUNCED, "finished": Status.FINISHED}
        values = {**self._birth(), **states, "ttl": ttl, "us": str(uuid.uuid4())}
        if seen is not None:
            is_open, idle = f"({is_open} OR claim_beat = :seen)", seen.idle
            values["seen"] = seen.beat
        try:
            self._table.update(
                items.header_key(match_id),
                f"SET {_BORN}{_BEAT}, match_status = if_not_exists(match_status, :announced), "
                f"claim_ttl = :ttl, announced_by = :us, announced_idle = :idle{self._expires}",
                # A repeat after a lost answer meets its own announcement.
                f"attribute_not_exists(pk) OR announced_by = :us OR "
                f"(match_status <> :finished AND {is_open})",
                items.values(**values, idle=idle),
            )
        except Unmet:
            return False
        return True

    def take(
        self, match_id: str, owner: str, ttl: timedelta, header: Body | None = None
    ) -> Lease | None:
        """Take the lease of a match that is free, announced or this owner's; else None."""
        states = {"running": Status.RUNNING, "finished": Status.FINISHED}
        values = {**self._birth(), **states, "owner": owner, "ttl": ttl, "header": header or {}}
        try:
            item = self._table.update(
                items.header_key(match_id),
                f"SET {_BORN}{_BEAT}, match_status = :running, lease_owner = :owner, "
                "lease_fence = if_not_exists(lease_fence, :zero) + :one, claim_ttl = :ttl, "
                "lease_idle = if_not_exists(announced_idle, :zero), "
                f"header_json = if_not_exists(header_json, :header){self._expires} "
                "REMOVE announced_by, announced_idle",
                "attribute_not_exists(pk) OR (match_status <> :finished AND "
                "(attribute_not_exists(lease_owner) OR attribute_exists(announced_idle) "
                "OR lease_owner = :owner))",
                items.values(**values),
            )
        except Unmet:
            return None
        return items.to_match(item).lease

    def renew(self, lease: Lease, ttl: timedelta) -> None:
        """Renew the lease; raises `Conflict` if it is no longer ours."""
        update = ", claim_ttl = :ttl REMOVE announced_by, announced_idle"
        self._update_ours(lease, update, ttl=ttl)

    def release(self, lease: Lease, rest: timedelta | None = None) -> None:
        """Give the lease back; quiet if it is already lost."""
        with suppress(Conflict):
            if rest is None:
                self._update_ours(lease, f"{_GIVEN_BACK}, claim_ttl")
            else:
                self._update_ours(lease, f", claim_ttl = :rest{_GIVEN_BACK}", rest=rest)

    def describe(self, lease: Lease, header: Body) -> None:
        """Replace the match's header facts."""
        self._update_ours(lease, ", header_json = :header", header=header)

    def intend(self, lease: Lease, sequence: int, intent: Body) -> None:
        """Write what move `sequence` is going to be; `Conflict` if it already has facts.

        The lease is looked at first, and a later one's move is never written over. Whoever takes
        the match between the two has waited until the lease was out, when nothing is sent any more
        (`Hold.intend`): so it costs two units in place of a transaction's four.
        """
        values = items.values(intent=intent, fence=lease.fence, **self._expiry())
        self._update_ours(lease, "")
        try:
            self._table.update(
                items.move_key(lease.match_id, sequence),
                f"SET intent_json = :intent, fence = :fence{self._expires}",
                "attribute_not_exists(facts_json) "
                "AND (attribute_not_exists(fence) OR fence <= :fence)",
                values,
            )
        except Unmet as unmet:
            raise Conflict(
                f"Move {sequence} of match {lease.match_id} was already played, or is another's."
            ) from unmet

    def record(self, lease: Lease, facts: Mapping[int, Body]) -> None:
        """Write the facts of moves by sequence; a move that already has facts keeps them."""
        told = {
            sequence: items.values(facts=body, fence=lease.fence, **self._expiry())
            for sequence, body in sorted(facts.items())
        }
        # Without facts the lease is still checked.
        self._update_ours(lease, "")
        for sequence, values in told.items():
            # Those of an older lease give way.
            with suppress(Unmet):
                self._table.update(
                    items.move_key(lease.match_id, sequence),
                    f"SET facts_json = :facts, fence = :fence{self._expires}",
                    "fence < :fence OR (attribute_not_exists(facts_json) "
                    "AND (attribute_not_exists(fence) OR fence = :fence))",
                    values,
                )

    def withdraw(self, lease: Lease, sequence: int) -> None:
        """Take out the moves from `sequence` on; each is kept as a note."""
        lost = [move for move in self.moves(lease.match_id) if move.sequence >= sequence]
        writes = [write for move in reversed(lost) for write in self._withdrawing(lease, move)]
        key = items.header_key(lease.match_id)
        beat = self._table.updating(key, f"SET {_BEAT}", _OURS, _ours(lease))
        # The last first and each with its note, so that what is left is a history at any moment.
        for start in range(0, max(1, len(writes)), _CHUNK):
            try:
                self._table.write([beat, *writes[start : start + _CHUNK]])
            except Unmet as unmet:  # of the beat, for the others have no condition
                raise _lost(lease) from unmet

    def finish(self, lease: Lease, outcome: Body) -> None:
        """Close the match with its outcome and clear the lease; quiet if it is finished."""
        update = ", match_status = :finished, outcome_json = :outcome, finished_at = :now"
        update += f"{_GIVEN_BACK}, claim_ttl"
        now = self._clock.now()
        try:
            self._update_ours(lease, update, finished=Status.FINISHED, outcome=outcome, now=now)
        except Conflict:
            record = self.match(lease.match_id)
            if record is None or record.status is not Status.FINISHED:
                raise

    def reopen(self, match: MatchRecord) -> bool:
        """Make a match run again that is finished as this record says: True for one caller."""
        if match.finished is None:
            return False
        note = self._noting(match.match_id, reopened(match, self._clock.now()))
        opened = self._table.updating(
            items.header_key(match.match_id),
            f"SET {_BEAT}, match_status = :running REMOVE outcome_json, finished_at",
            "finished_at = :finished",
            items.values(**_ONE, running=Status.RUNNING, finished=match.finished),
        )
        try:
            self._table.write([opened, note])
        except Unmet:
            return False
        return True

    def note(self, match_id: str, kind: str, body: Body) -> None:
        """Keep a debugging note for two weeks; the table drops it by itself."""
        self._table.put(items.note_item(match_id, NoteRecord(kind, self._clock.now(), body)))

    def notes(self, match_id: str) -> list[NoteRecord]:
        """The unexpired debugging notes of a match, oldest first."""
        found = map(items.to_note, self._table.under(items.partition(match_id), items.NOTE))
        # The table drops them hours or days too late.
        return [note for note in found if note.at + NOTE_LIFE > self._clock.now()]

    def running(self) -> list[MatchRecord]:
        """The running matches with their present leases; a new one may show late."""
        return self.matches(status=Status.RUNNING, limit=-1)

    def _birth(self) -> dict[str, Told]:
        now = self._clock.now()
        return {**_ONE, "now": now, "day": str(now.astimezone(UTC).date()), **self._expiry()}

    def _expiry(self) -> dict[str, Told]:
        """The second from which the table may drop what is written now."""
        if self._keep is None:
            return {}
        return {"expires": int((self._clock.now() + self._keep).timestamp())}

    def _update_ours(self, lease: Lease, update: str, **told: Told) -> None:
        key, values = items.header_key(lease.match_id), {**items.values(**told), **_ours(lease)}
        try:
            self._table.update(key, f"SET {_BEAT}{update}", _OURS, values)
        except Unmet as unmet:
            raise _lost(lease) from unmet

    def _withdrawing(self, lease: Lease, move: MoveRecord) -> "list[TransactWriteItemTypeDef]":
        """The emptying of a move, without the right to delete, and the keeping of what it was."""
        emptied = self._table.updating(
            items.move_key(lease.match_id, move.sequence),
            "SET fence = :fence REMOVE intent_json, facts_json",
            "",
            items.values(fence=lease.fence),
        )
        return [emptied, self._noting(lease.match_id, withdrawn(move, self._clock.now()))]

    def _noting(self, match_id: str, note: NoteRecord) -> "TransactWriteItemTypeDef":
        """The writing of a note without the right to put, which the poller has not got."""
        item = items.note_item(match_id, note)
        key = {name: item.pop(name) for name in ("pk", "sk")}
        update = "SET " + ", ".join(f"{name} = :{name}" for name in item)
        return self._table.updating(key, update, "", {f":{name}": item[name] for name in item})


def _ours(lease: Lease) -> dict[str, Value]:
    return items.values(**_ONE, fence=lease.fence, owner=lease.owner)


def _lost(lease: Lease) -> Conflict:
    return Conflict(f"Match {lease.match_id} is no longer held by {lease.owner}.")
