"""Tests of the match log's items in DynamoDB: readable attributes, and old formats."""

import base64
import json
import lzma
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from fault_simulation.fault_matrix import SERVERS
from fault_simulation.match_harness import MatchHarness
from fault_simulation.stores import aws_stores
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.store_fixtures import FakeClock, acquire_lease, new_dynamodb_log, require_match

from cardsharp.aws.dynamodb_attributes import json_attribute, json_value
from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.errors import StoreError
from cardsharp.store.dynamodb_match_items import LEGACY_NAMES
from cardsharp.store.dynamodb_match_log import DynamoMatchLog
from cardsharp.store.match_log import MoveRecord, MoveSummary
from cardsharp_tools.operations.export import export_missing_matches, rewrite_legacy_matches

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

SAMPLE = Path(__file__).parents[1] / "samples" / "match_items_0_3.json.xz"
"""The header, a note and the first moves of a match that version 0.3 played and packed."""

PACKED_MATCH_ID = "6b0c175abe5ebab4253e1a06"

texts = st.text(st.characters(exclude_categories=()), max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
json_bodies = st.dictionaries(texts, json_values, max_size=5)


@pytest.fixture(scope="module")
def log(moto: "DynamoDBClient") -> Iterator[DynamoMatchLog]:
    with new_dynamodb_log(moto) as bench:
        yield bench.log


@pytest.fixture(scope="module")
def moto() -> Iterator["DynamoDBClient"]:
    from support.store_fixtures import moto_client  # noqa: PLC0415 - of the module, not of a test

    with moto_client() as client:
        yield client


def query_match_items(moto: "DynamoDBClient", table: str, match_id: str) -> list[dict[str, Any]]:
    pages = moto.get_paginator("query").paginate(
        TableName=table,
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": f"match#{match_id}"}},
    )
    return [item for page in pages for item in page["Items"]]


def attribute_types(attribute: Mapping[str, Any]) -> Iterator[str]:
    """Yield the types of an attribute and of all that is in it."""
    ((kind, value),) = attribute.items()
    yield kind
    if kind in {"M", "L"}:
        for inner in value.values() if kind == "M" else value:
            yield from attribute_types(inner)


def all_attribute_types(items: list[dict[str, Any]]) -> set[str]:
    return {kind for item in items for value in item.values() for kind in attribute_types(value)}


# --- what is written is read back equal -----------------------------------------------------------


@given(json_values)
@example(2**126)
@example(1e30)
@example(10**38 - 1)
@example(-1e-119)
def test_a_json_value_is_equal_after_a_round_trip_or_is_refused(value: object) -> None:
    try:
        attribute = json_attribute(value)
    except ValueError:
        return
    assert json_value(attribute) == value


@pytest.mark.parametrize(
    "value", [10**38, 1e200, 1e-121, "\ud800", {"": 1}, {"\ud800": 1}, [[[]] * 3]]
)
def test_a_value_that_dynamodb_cannot_store_is_rejected(value: object) -> None:
    for _ in range(30 if value == [[[]] * 3] else 0):
        value = [value]
    with pytest.raises(ValueError, match=r"digits|small|surrogates|empty|levels"):
        json_attribute(value)


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(header=json_bodies, intent=json_bodies, facts=json_bodies)
@example(header={}, intent={"deep": json.loads("[" * 40 + "]" * 40)}, facts={"worth": 1e-300})
@example(header={"": 2**200}, intent={"name": "\ud800"}, facts={"hands": {"": []}})
def test_every_stored_body_is_read_back_equal(
    log: DynamoMatchLog,
    header: dict[str, object],
    intent: dict[str, object],
    facts: dict[str, object],
) -> None:
    name = str(uuid4())
    lease = acquire_lease(log, name=name)
    log.update_header(lease, header)
    log.write_intent(lease, 0, intent, MoveSummary(1, "ann", "Draw", reason="\ud800 why"))
    log.write_facts(lease, {0: facts}, {0: MoveSummary(scores=(1, 2), cards=("Key2",))})
    log.add_note(name, "kind", intent)
    log.finish(lease, facts)
    match = require_match(log, name)
    assert (match.header, match.outcome, match.read_error) == (header, facts, None)
    assert log.moves(name) == [MoveRecord(0, intent, facts)]
    assert [note.body for note in log.notes(name)] == [intent]


def test_the_largest_bodies_can_be_withdrawn(log: DynamoMatchLog) -> None:
    """A transaction has at most 4 MB, so more than one is needed."""
    body, lease = {"n": "x" * 31_900}, acquire_lease(log, name="large")
    for sequence in range(11):
        log.write_intent(lease, sequence, body)
    log.write_facts(lease, dict.fromkeys(range(11), body))
    log.retract_moves(lease, 0)
    assert log.moves("large") == []
    assert len(log.notes("large")) == 11


# --- what a person sees ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "fields"),
    [
        (
            "deadmansdraw",
            {"turn", "player", "action", "cards", "description", "scores", "played_at"},
        ),
        ("blef", {"turn", "player", "action"}),
    ],
)
def test_a_played_match_has_no_binary_and_the_fields_that_a_person_looks_for(
    game: str, fields: set[str], tmp_path: Path
) -> None:
    with aws_stores() as factory:
        match_harness = MatchHarness(SERVERS[game], tmp_path, store_factory=factory)
        match_harness.run_match()
        items = list(match_harness.log._table.query_prefix(f"match#{match_harness.match_id}"))
        match_harness.close()
    assert match_harness.observed_violations == []
    assert not {"B", "BS"} & all_attribute_types(items)
    header, *moves = (item for item in items if not item["sk"]["S"].startswith("note#"))
    assert "M" in header["header"]
    assert header["outcome"]["M"]["result"]["S"] in {"won", "lost", "tied"}
    assert header["started_at_iso"]["S"] < header["finished_at_iso"]["S"]
    assert header["started_at_iso"]["S"][-5] + header["started_at_iso"]["S"][-1] == ".Z"
    assert [int(move["sequence"]["N"]) for move in moves] == [
        int(move["sk"]["S"].removeprefix("move#")) for move in moves
    ]
    assert fields <= {name for move in moves for name in move}
    bot_moves = [move for move in moves if "intent" in move]
    assert bot_moves
    for move in bot_moves:
        assert {"turn", "player", "action", "reason", "facts"} <= move.keys()
        assert move["reason"] == move["intent"]["M"]["reason"]
        assert "L" in move["intent"]["M"]["options"]
    if "scores" in fields:
        final_scores = [int(score["N"]) for score in moves[-1]["scores"]["L"]]
        assert final_scores == [int(score["N"]) for score in header["outcome"]["M"]["scores"]["L"]]


def test_a_withdrawn_move_leaves_only_its_fence(
    moto: "DynamoDBClient", log: DynamoMatchLog
) -> None:
    lease = acquire_lease(log, name="back")
    summary = MoveSummary(1, "ann", "Draw", ("Key2",), "Key2", (0, 2), "why", log._clock.now())
    log.write_intent(lease, 0, {"action": "Draw"}, summary)
    log.write_facts(lease, {0: {"drew": 2}}, {0: summary})
    log.retract_moves(lease, 0)
    moves = [
        candidate
        for candidate in query_match_items(moto, log._table.name, "back")
        if candidate["sk"]["S"][:5] == "move#"
    ]
    assert [item.keys() for item in moves] == [{"pk", "sk", "fence"}]


# --- items of earlier versions --------------------------------------------------------------------


def put_packed_match(moto: "DynamoDBClient", table: str, match_id: str = PACKED_MATCH_ID) -> None:
    for item in json.loads(lzma.decompress(SAMPLE.read_bytes())):
        attributes = {
            name: {"B": base64.b64decode(value["B"])} if "B" in value else value
            for name, value in item.items()
        }
        moto.put_item(TableName=table, Item={**attributes, "pk": {"S": f"match#{match_id}"}})


def test_a_packed_match_is_read_continued_and_rewritten_by_an_export(
    moto: "DynamoDBClient", log: DynamoMatchLog, tmp_path: Path
) -> None:
    """The rewritten match is equal, and a second export has nothing to rewrite."""
    table = DynamoTable(log._table.name, moto)
    put_packed_match(moto, table.name)
    log._clock.elapsed -= log._clock.now() - require_match(log, PACKED_MATCH_ID).started_at
    match, moves, notes = (
        require_match(log, PACKED_MATCH_ID),
        log.moves(PACKED_MATCH_ID),
        log.notes(PACKED_MATCH_ID),
    )
    assert (match.read_error, match.header["game"], len(moves)) == (None, "deadmansdraw", 20)
    assert all(move.read_error is None and move.facts for move in moves)
    assert [note.kind for note in notes] == ["decision"]
    assert notes[0].body
    packed_items = query_match_items(moto, table.name, PACKED_MATCH_ID)
    assert "B" in all_attribute_types(packed_items)
    assert export_missing_matches(log, tmp_path / "mine.db") >= 1
    assert rewrite_legacy_matches(table, log) == 1
    assert (
        require_match(log, PACKED_MATCH_ID),
        log.moves(PACKED_MATCH_ID),
        log.notes(PACKED_MATCH_ID),
    ) == (
        match,
        moves,
        notes,
    )
    rewritten_items = query_match_items(moto, table.name, PACKED_MATCH_ID)
    assert "B" not in all_attribute_types(rewritten_items)
    assert not {name for item in rewritten_items for name in item} & {*LEGACY_NAMES.values()}
    header, *move_items = (
        item for item in rewritten_items if not item["sk"]["S"].startswith("note#")
    )
    assert header["started_at_iso"]["S"].startswith("2026-11-29T")
    assert all({"sequence", "turn", "player", "scores"} <= move.keys() for move in move_items)
    assert all("reason" in move for move in move_items if "intent" in move)
    assert rewrite_legacy_matches(table, log) == 0


def test_a_running_match_of_the_previous_version_continues(
    moto: "DynamoDBClient", log: DynamoMatchLog
) -> None:
    """The header stays until it is replaced; a move with facts accepts no other intent."""
    put_packed_match(moto, log._table.name, "old")
    old_record, moves = require_match(log, "old"), log.moves("old")
    assert log.reopen(old_record)
    lease = log.acquire_lease("old", "ann", FakeClock().now() - FakeClock().now(), {"game": "?"})
    assert lease is not None
    assert require_match(log, "old").header == old_record.header
    played_sequence = next(move.sequence for move in moves if move.intent is not None)
    with pytest.raises(StoreError, match="already played"):
        log.write_intent(lease, played_sequence, {"action": "Draw"})
    log.write_facts(lease, {played_sequence: {"other": True}})
    assert log.moves("old") == moves or log.moves("old")[played_sequence].facts == {"other": True}
    log.update_header(lease, {"game": "deadmansdraw", "names": ["a", "b"]})
    log.retract_moves(lease, 15)
    log.write_intent(lease, 15, {"action": "Draw"})
    log.finish(lease, {"result": "won"})
    match = require_match(log, "old")
    assert (match.header["names"], match.outcome) == (["a", "b"], {"result": "won"})
    assert log.moves("old")[-1] == MoveRecord(15, {"action": "Draw"}, None)
    assert math.isclose(match.started_at.timestamp(), old_record.started_at.timestamp())


def test_an_unreadable_body_is_reported_and_not_rewritten(
    moto: "DynamoDBClient", log: DynamoMatchLog
) -> None:
    table = DynamoTable(log._table.name, moto)
    put_packed_match(moto, table.name, "torn")
    moto.update_item(
        TableName=table.name,
        Key={"pk": {"S": "match#torn"}, "sk": {"S": "move#000003"}},
        UpdateExpression="SET facts_json = :x",
        ExpressionAttributeValues={":x": {"B": b"\x78\xbb1234"}},
    )
    assert rewrite_legacy_matches(table, log) >= 1
    unreadable_sequences = [move.sequence for move in log.moves("torn") if move.read_error]
    assert unreadable_sequences == [3]
    legacy_items = [
        candidate
        for candidate in query_match_items(moto, table.name, "torn")
        if {*LEGACY_NAMES.values()} & candidate.keys()
    ]
    assert [item["sk"]["S"] for item in legacy_items] == ["move#000003"]
