"""Items of a match log as versions up to 0.3 wrote them, rewritten as plain attributes."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from cardsharp.aws.client import ConditionFailed
from cardsharp.aws.dynamodb_attributes import Item, Value, item_key, timestamp_value
from cardsharp.aws.dynamodb_table import DynamoTable, build_set_clause
from cardsharp.errors import StoreError
from cardsharp.store import dynamodb_match_items as items
from cardsharp.store.codec import decode
from cardsharp.store.dynamodb_match_reader import DynamoMatchReader
from cardsharp.store.match_log import (
    NO_SUMMARY,
    MatchRecord,
    MatchStatus,
    MoveRecord,
    MoveSummary,
    Summaries,
)

Summarize = Callable[[MatchRecord, Sequence[MoveRecord]], Summaries]

_LEGACY_HEADER_NAMES = ("header_json", "outcome_json")


def legacy_finished_match_ids(table: DynamoTable) -> list[str]:
    """Return the ids of the finished matches whose items an earlier version wrote."""
    keys = table.query_index_keys(
        "by-status", "match_status = :key", items.expression_values(key=MatchStatus.FINISHED)
    )
    headers = table.batch_get([{"pk": key["pk"], "sk": key["sk"]} for key in keys])
    return sorted(
        header["pk"]["S"].partition("#")[2]
        for header in headers
        if any(name in header for name in _LEGACY_HEADER_NAMES)
    )


def rewrite_match(
    table: DynamoTable, reader: DynamoMatchReader, match_id: str, summarize: Summarize
) -> None:
    """Rewrite the items of a finished match as plain attributes, and add what people read.

    An item that cannot be read stays as it is, and so does one that changes meanwhile. The
    header comes last, so that an interrupted match is rewritten by the next attempt.
    """
    record, moves = reader.match(match_id), reader.moves(match_id)
    if record is None:
        return
    summaries = _build_summaries(record, moves, summarize)
    stored = table.query_prefix(items.match_partition(match_id))
    # "header" is before "move#" and "note#" in the order of the sort keys.
    for item in sorted(stored, key=lambda item: item["sk"]["S"], reverse=True):
        _rewrite_legacy_item(table, item, summaries)


def _build_summaries(
    record: MatchRecord, moves: Sequence[MoveRecord], summarize: Summarize
) -> Summaries:
    try:
        summaries = summarize(record, moves)
    except StoreError:
        summaries = {}
    return {
        move.sequence: _add_reason(summaries.get(move.sequence, NO_SUMMARY), move) for move in moves
    }


def _add_reason(summary: MoveSummary, move: MoveRecord) -> MoveSummary:
    reason = (move.intent or {}).get("reason")
    return replace(summary, reason=reason) if isinstance(reason, str) else summary


def _rewrite_legacy_item(table: DynamoTable, item: Item, summaries: Summaries) -> None:
    legacy = {
        old_name: new_name for new_name, old_name in items.LEGACY_NAMES.items() if old_name in item
    }
    try:
        bodies = {
            new_name: items.map_or_json_attribute(_decode_legacy_body(item[old_name]))
            for old_name, new_name in legacy.items()
        }
    except StoreError:
        return
    if not legacy:
        return
    attributes = {**bodies, **_build_readable_attributes(item, summaries)}
    clause, values, names = build_set_clause(attributes)
    values |= {f":{old_name}": item[old_name] for old_name in legacy}
    try:
        table.update_and_return(
            item_key(item["pk"]["S"], item["sk"]["S"]),
            f"{clause} REMOVE {', '.join(legacy)}",
            " AND ".join(f"{old_name} = :{old_name}" for old_name in legacy),
            values,
            names,
        )
    except ConditionFailed:
        return


def _decode_legacy_body(attribute: Value) -> dict[str, object]:
    return decode(attribute["B"] if "B" in attribute else attribute["S"])


def _build_readable_attributes(item: Item, summaries: Summaries) -> dict[str, Value]:
    """Return the attributes for people, which earlier versions did not write."""
    sort_key = item["sk"]["S"]
    if sort_key.startswith(items.MOVE_PREFIX):
        sequence = int(sort_key.removeprefix(items.MOVE_PREFIX))
        return items.move_summary_attributes(sequence, summaries.get(sequence, NO_SUMMARY))
    return {
        f"{name}_iso": items.to_attribute(items.iso_text(timestamp_value(item[name])))
        for name in ("started_at", "finished_at")
        if name in item
    }
