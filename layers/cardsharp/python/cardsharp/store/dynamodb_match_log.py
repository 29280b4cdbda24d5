"""The match log in one DynamoDB table, whose items a person can read (docs/match-log.md).

| pk       | sk          | attributes                                                          |
|----------|-------------|---------------------------------------------------------------------|
| match#ID | header      | match_status, match_day, started_at, started_at_iso, header,        |
|          |             | claim_beat, claim_ttl, lease_owner, lease_fence, lease_idle,        |
|          |             | announced_by, announced_idle, outcome, finished_at, finished_at_iso |
| match#ID | move#000012 | sequence, turn, player, action, cards, description, scores, reason, |
|          |             | played_at, intent, facts, fence                                     |
| match#ID | note#AT#…   | kind, created_at_iso, details                                       |

Bodies (header, outcome, intent, facts, details) are maps, see `dynamodb_match_items`. Moments and
durations are in microseconds; `expires_at` is the second from which the table may drop an item.
Matches and moves have it if the log has a retention time, notes always. The indexes by-day
(match_day, started_at) and by-status (match_status, started_at) have keys only, so renewing a
lease does not write to them.

Actions used: GetItem, BatchGetItem, Query, PutItem, UpdateItem.
"""

import uuid
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cardsharp.aws.client import ConditionFailed
from cardsharp.aws.dynamodb_attributes import Value
from cardsharp.aws.dynamodb_table import TableWrite, build_set_clause
from cardsharp.core.clock import Clock
from cardsharp.errors import WriteConflict
from cardsharp.store import dynamodb_match_items as items
from cardsharp.store.dynamodb_match_items import AttributeInput
from cardsharp.store.dynamodb_match_reader import DynamoMatchReader
from cardsharp.store.match_log import (
    NO_SUMMARIES,
    NO_SUMMARY,
    Body,
    DebugNote,
    ExpiredLease,
    Lease,
    MatchRecord,
    MatchStatus,
    MoveRecord,
    MoveSummary,
    Summaries,
)
from cardsharp.store.match_records import (
    NOTE_TTL,
    lease_conflict,
    reopened_outcome_note,
    retracted_move_note,
)

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

_LEASE_CONDITION = "lease_fence = :fence AND lease_owner = :owner"
_VERSION_CLAUSE = "claim_beat = if_not_exists(claim_beat, :zero) + :one"
_RELEASE_CLAUSE = " REMOVE lease_owner, lease_idle, announced_by, announced_idle"
_CREATION_CLAUSE = (
    "started_at = if_not_exists(started_at, :now), match_day = if_not_exists(match_day, :day), "
    "started_at_iso = if_not_exists(started_at_iso, :now_iso), "
)
_COUNTER_VALUES: Mapping[str, AttributeInput] = {"zero": 0, "one": 1}
_NO_FACTS_CONDITION = "attribute_not_exists(facts) AND attribute_not_exists(facts_json)"
_EMPTY_MOVE_UPDATE = "SET fence = :fence REMOVE intent, facts, intent_json, facts_json, "
_EMPTY_MOVE_UPDATE += ", ".join(f"#{name}" for name in items.SUMMARY_NAMES)
_SUMMARY_PLACEHOLDERS = {f"#{name}": name for name in items.SUMMARY_NAMES}
_MAX_WRITES = 20  # writes in one transaction: ten moves and their notes have less than the 4 MB


class DynamoMatchLog(DynamoMatchReader):
    """`MatchLog` in a DynamoDB table, in the region of AWS_DEFAULT_REGION.

    The table deletes items after `retention`; None keeps them for ever.
    """

    def __init__(
        self,
        table: str,
        clock: Clock,
        client: "DynamoDBClient | None" = None,
        retention: timedelta | None = None,
    ) -> None:
        super().__init__(table, client)
        self._clock = clock
        self._retention = retention
        # Sets the time at which the table deletes the item, in each update.
        self._expiry_clause = "" if retention is None else ", expires_at = :expires"

    def close(self) -> None:
        """Leave the connections open: they are for the whole process."""

    def mark_queued(
        self, match_id: str, ttl: timedelta, expired_lease: ExpiredLease | None = None
    ) -> bool:
        """Mark a running match as queued if it is free or unchanged; True for one caller only."""
        is_free, idle = "attribute_not_exists(claim_ttl)", timedelta(0)
        states = {"announced": MatchStatus.ANNOUNCED, "finished": MatchStatus.FINISHED}
        values = {**self._creation_values(), **states, "ttl": ttl, "us": str(uuid.uuid4())}
        if expired_lease is not None:
            is_free, idle = f"({is_free} OR claim_beat = :seen)", expired_lease.idle_for
            values["seen"] = expired_lease.lease_version
        try:
            self._table.update_and_return(
                items.header_key(match_id),
                f"SET {_CREATION_CLAUSE}{_VERSION_CLAUSE}, "
                "match_status = if_not_exists(match_status, :announced), "
                "claim_ttl = :ttl, announced_by = :us, "
                f"announced_idle = :idle{self._expiry_clause}",
                # A retry whose first response was lost finds our own mark and succeeds again.
                f"attribute_not_exists(pk) OR announced_by = :us OR "
                f"(match_status <> :finished AND {is_free})",
                items.expression_values(**values, idle=idle),
            )
        except ConditionFailed:
            return False
        return True

    def acquire_lease(
        self, match_id: str, owner: str, ttl: timedelta, header: Body | None = None
    ) -> Lease | None:
        """Acquire the lease of a match that is free, queued or this owner's; else None."""
        states = {"running": MatchStatus.RUNNING, "finished": MatchStatus.FINISHED}
        values = {
            **self._creation_values(),
            **states,
            "owner": owner,
            "ttl": ttl,
            "header": header or {},
        }
        try:
            item = self._table.update_and_return(
                items.header_key(match_id),
                f"SET {_CREATION_CLAUSE}{_VERSION_CLAUSE}, "
                "match_status = :running, lease_owner = :owner, "
                "lease_fence = if_not_exists(lease_fence, :zero) + :one, claim_ttl = :ttl, "
                "lease_idle = if_not_exists(announced_idle, :zero), "
                f"header = if_not_exists(header, :header){self._expiry_clause} "
                "REMOVE announced_by, announced_idle",
                "attribute_not_exists(pk) OR (match_status <> :finished AND "
                "(attribute_not_exists(lease_owner) OR attribute_exists(announced_idle) "
                "OR lease_owner = :owner))",
                items.expression_values(**values),
            )
        except ConditionFailed:
            return None
        return items.match_from_item(item).lease

    def renew_lease(self, lease: Lease, ttl: timedelta) -> None:
        """Renew the lease; raise `WriteConflict` if it is no longer ours."""
        update = ", claim_ttl = :ttl REMOVE announced_by, announced_idle"
        self._update_leased(lease, update, ttl=ttl)

    def release_lease(self, lease: Lease, park_for: timedelta | None = None) -> None:
        """Release the lease; quiet if it is already lost."""
        with suppress(WriteConflict):
            if park_for is None:
                self._update_leased(lease, f"{_RELEASE_CLAUSE}, claim_ttl")
            else:
                self._update_leased(lease, f", claim_ttl = :rest{_RELEASE_CLAUSE}", rest=park_for)

    def update_header(self, lease: Lease, header: Body) -> None:
        """Replace the match's header facts."""
        self._update_leased(lease, ", header = :header REMOVE header_json", header=header)

    def write_intent(
        self, lease: Lease, sequence: int, intent: Body, summary: MoveSummary = NO_SUMMARY
    ) -> None:
        """Write the intent of move `sequence`; raise `WriteConflict` if it already has facts.

        The lease is checked first, in a separate write, and a move of a later lease is never
        overwritten. A worker that acquires the match between the two writes has waited until
        our lease expired, when nothing is sent any more
        (`LeaseKeeper.log_intent_within_lease`). So this costs half of a transaction's write units.
        """
        move = self._move_attributes(lease, sequence, summary, intent=intent)
        self._update_leased(lease, "")
        try:
            self._set_move(
                lease.match_id,
                sequence,
                move,
                f"{_NO_FACTS_CONDITION} AND (attribute_not_exists(fence) OR fence <= :fence)",
            )
        except ConditionFailed as failure:
            raise WriteConflict(
                f"Move {sequence} of match {lease.match_id} was already played, or is another's."
            ) from failure

    def write_facts(
        self, lease: Lease, facts: Mapping[int, Body], summaries: Summaries = NO_SUMMARIES
    ) -> None:
        """Write the facts of moves by sequence; a move that already has facts keeps them."""
        moves = {
            sequence: self._move_attributes(
                lease, sequence, summaries.get(sequence, NO_SUMMARY), facts=body
            )
            for sequence, body in sorted(facts.items())
        }
        # The lease is checked even if there are no facts to write. As in `write_intent`, checking
        # it in a write of its own costs one write unit, a transaction would double every unit.
        self._update_leased(lease, "")
        for sequence, move in moves.items():
            # Facts that an earlier lease wrote are replaced; those of this lease are kept.
            with suppress(ConditionFailed):
                self._set_move(
                    lease.match_id,
                    sequence,
                    move,
                    f"fence < :fence OR ({_NO_FACTS_CONDITION} "
                    "AND (attribute_not_exists(fence) OR fence = :fence))",
                )

    def retract_moves(self, lease: Lease, sequence: int) -> None:
        """Remove the moves from `sequence` on; each is preserved as a note."""
        missing_moves = [move for move in self.moves(lease.match_id) if move.sequence >= sequence]
        writes = [
            write
            for move in reversed(missing_moves)
            for write in self._retraction_writes(lease, move)
        ]
        key = items.header_key(lease.match_id)
        version_write = self._table.build_update(
            key, f"SET {_VERSION_CLAUSE}", _LEASE_CONDITION, _lease_values(lease)
        )
        # The last moves first, and each with its note in one transaction: if we die in between,
        # the moves that remain are still a complete history up to some move.
        for start in range(0, max(1, len(writes)), _MAX_WRITES):
            try:
                self._table.transact_write([version_write, *writes[start : start + _MAX_WRITES]])
            except ConditionFailed as failure:  # only the write of the version has a condition
                raise lease_conflict(lease) from failure

    def finish(self, lease: Lease, outcome: Body) -> None:
        """Close the match with its outcome and clear the lease; quiet if it is finished."""
        update = ", match_status = :finished, outcome = :outcome, finished_at = :now"
        update += f", finished_at_iso = :now_iso{_RELEASE_CLAUSE}, claim_ttl"
        values: dict[str, AttributeInput] = {
            "finished": MatchStatus.FINISHED,
            "outcome": outcome,
            **_timestamp_values(self._clock.now()),
        }
        try:
            self._update_leased(lease, update, **values)
        except WriteConflict:
            record = self.match(lease.match_id)
            if record is None or record.status is not MatchStatus.FINISHED:
                raise

    def reopen(self, match: MatchRecord) -> bool:
        """Make a match run again that is finished as in this record; True for one caller only."""
        if match.finished_at is None:
            return False
        note = self._note_write(match.match_id, reopened_outcome_note(match, self._clock.now()))
        reopen_write = self._table.build_update(
            items.header_key(match.match_id),
            f"SET {_VERSION_CLAUSE}, match_status = :running "
            "REMOVE outcome, outcome_json, finished_at, finished_at_iso",
            "finished_at = :finished",
            items.expression_values(
                **_COUNTER_VALUES, running=MatchStatus.RUNNING, finished=match.finished_at
            ),
        )
        try:
            self._table.transact_write([reopen_write, note])
        except ConditionFailed:
            return False
        return True

    def add_note(self, match_id: str, kind: str, body: Body) -> None:
        """Write a debugging note for two weeks; the table then deletes it."""
        self._table.put(items.note_item(match_id, DebugNote(kind, self._clock.now(), body)))

    def notes(self, match_id: str) -> list[DebugNote]:
        """Return the unexpired debugging notes of a match, oldest first."""
        notes = map(
            items.note_from_item,
            self._table.query_prefix(items.match_partition(match_id), items.NOTE_PREFIX),
        )
        # DynamoDB deletes expired items hours or days late.
        return [note for note in notes if note.created_at + NOTE_TTL > self._clock.now()]

    def running_matches(self) -> list[MatchRecord]:
        """Return the running matches with their current leases; a new one may be missing."""
        return self.matches(status=MatchStatus.RUNNING, limit=-1)

    def _creation_values(self) -> dict[str, AttributeInput]:
        timestamp = self._clock.now()
        return {
            **_COUNTER_VALUES,
            **_timestamp_values(timestamp),
            "day": str(timestamp.astimezone(UTC).date()),
            **self._expiry_values(),
        }

    def _expiry_values(self) -> dict[str, AttributeInput]:
        """Return the second from which the table may delete an item, empty without retention."""
        if self._retention is None:
            return {}
        return {"expires": int((self._clock.now() + self._retention).timestamp())}

    def _move_attributes(
        self, lease: Lease, sequence: int, summary: MoveSummary, **body: Body
    ) -> dict[str, Value]:
        """Return the attributes of a move to write, with the fence of the lease."""
        attributes: dict[str, AttributeInput] = {"fence": lease.fence_token, **body}
        if self._retention is not None:
            attributes["expires_at"] = self._expiry_values()["expires"]
        return {
            **{name: items.to_attribute(value) for name, value in attributes.items()},
            **items.move_summary_attributes(sequence, summary),
        }

    def _set_move(
        self, match_id: str, sequence: int, attributes: Mapping[str, Value], condition: str
    ) -> None:
        """Set attributes of a move; a body replaces that of an earlier version of the format."""
        removed = [
            old_name for new_name, old_name in items.LEGACY_NAMES.items() if new_name in attributes
        ]
        clause, values, names = build_set_clause(attributes)
        self._table.update_and_return(
            items.move_key(match_id, sequence),
            f"{clause} REMOVE {', '.join(removed)}",
            condition,
            values,
            names,
        )

    def _update_leased(self, lease: Lease, update: str, **attributes: AttributeInput) -> None:
        key, values = (
            items.header_key(lease.match_id),
            {**items.expression_values(**attributes), **_lease_values(lease)},
        )
        try:
            self._table.update_and_return(
                key, f"SET {_VERSION_CLAUSE}{update}", _LEASE_CONDITION, values
            )
        except ConditionFailed as failure:
            raise lease_conflict(lease) from failure

    def _retraction_writes(self, lease: Lease, move: MoveRecord) -> list[TableWrite]:
        """Return the writes that empty a move and preserve its content as a note.

        The role has no permission to delete items.
        """
        empty_write = self._table.build_update(
            items.move_key(lease.match_id, move.sequence),
            _EMPTY_MOVE_UPDATE,
            "",
            items.expression_values(fence=lease.fence_token),
            _SUMMARY_PLACEHOLDERS,
        )
        return [
            empty_write,
            self._note_write(lease.match_id, retracted_move_note(move, self._clock.now())),
        ]

    def _note_write(self, match_id: str, note: DebugNote) -> TableWrite:
        """Return the write of a note as an update, because the poller's role may not put items."""
        item = items.note_item(match_id, note)
        key = {name: item.pop(name) for name in ("pk", "sk")}
        clause, values, names = build_set_clause(item)
        return self._table.build_update(key, clause, "", values, names)


def _timestamp_values(timestamp: datetime) -> dict[str, AttributeInput]:
    """Return a timestamp as a number for programs and as a text for people."""
    return {"now": timestamp, "now_iso": items.iso_text(timestamp)}


def _lease_values(lease: Lease) -> dict[str, Value]:
    return items.expression_values(**_COUNTER_VALUES, fence=lease.fence_token, owner=lease.owner)
