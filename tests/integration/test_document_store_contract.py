"""Contract of every document store: versions, atomic commits, order, expiry and races."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from datetime import timedelta
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import stamina
from botocore.exceptions import EndpointConnectionError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.store_fixtures import (
    FakeClock,
    StoreFixture,
    acquire_lease,
    moto_client,
    new_dynamodb_log,
    new_dynamodb_store,
    new_file_store,
    run_concurrently,
)

from cardsharp.aws.dynamodb_attributes import item_key, number_attribute, string_attribute
from cardsharp.bot.bootstrap import build_vault
from cardsharp.core.clock import SystemClock
from cardsharp.core.timestamps import to_micros
from cardsharp.errors import ConfigError, StoreError, WriteConflict
from cardsharp.store.documents import (
    Delete,
    DocumentStore,
    Increment,
    IndexEntry,
    Key,
    Put,
    try_commit,
)
from cardsharp.store.dynamodb_documents import RECEIPT_SLOTS, DynamoDocumentStore
from cardsharp.store.secret_vault import SECRET_TTL, VAULT_FACTORY, SecretVault
from cardsharp.store.sqlite_documents import SqliteDocumentStore
from cardsharp.store.sqlite_file import MEMORY_PATH
from cardsharp_tools.local_cloud.template_files import create_table

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient


DocumentStoreFixture = StoreFixture[DocumentStore]
SECOND = timedelta(seconds=1)
HEADER_KEY, MOVE_KEY = Key("game#1", "header"), Key("game#1", "move#1")


@pytest.fixture(params=["sqlite", "ministack"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DocumentStoreFixture]:
    """A document store with its clock, and a function that opens it as another process would."""
    if request.param == "sqlite":
        store_context: AbstractContextManager[StoreFixture[Any]] = new_file_store(
            SqliteDocumentStore, tmp_path
        )
    else:
        client = request.getfixturevalue("emulator").client("dynamodb")
        store_context = new_dynamodb_store(DynamoDocumentStore, "BlefTable", client)
    with store_context as store_fixture:
        yield store_fixture


def read_version_and_body(store: DocumentStore, key: Key = HEADER_KEY) -> Any:  # noqa: ANN401 - any JSON
    document = store.get(key)
    return None if document is None else (document.version, dict(document.body))


def test_a_body_that_cannot_be_stored_is_refused_and_nothing_is_written(
    bench: DocumentStoreFixture,
) -> None:
    """The error names the store: not the match log, whose bodies have the same form."""
    for invalid_value in (float("nan"), object(), "x" * 64_000):
        with pytest.raises(StoreError, match="The document store stores"):
            bench.store.commit(Put(MOVE_KEY, {}), Put(HEADER_KEY, {"bad": invalid_value}))
        assert bench.store.get(HEADER_KEY) is bench.store.get(MOVE_KEY) is None


def test_several_documents_change_together_or_not_at_all(bench: DocumentStoreFixture) -> None:
    third_key = Key("game#1", "move#2")
    bench.store.commit(Put(HEADER_KEY, {"a": 1}), Put(Key("game#2", "header"), {}))
    for invalid_write in (
        Put(HEADER_KEY, {"b": 1}),
        Put(HEADER_KEY, {}, expected_version=2),
        Delete(HEADER_KEY, 2),
        Delete(MOVE_KEY, 1),
    ):
        with pytest.raises(WriteConflict):
            bench.store.commit(Put(third_key, {}), invalid_write)
        assert read_version_and_body(bench.store) == (1, {"a": 1})
        assert bench.store.get(third_key) is bench.store.get(MOVE_KEY) is None
    bench.store.commit(Put(MOVE_KEY, {}), Delete(HEADER_KEY, 1), Put(third_key, {"c": 3}))
    assert [document.key for document in bench.store.query("game#1")] == [MOVE_KEY, third_key]


def test_a_write_is_visible_to_every_reader_immediately(bench: DocumentStoreFixture) -> None:
    """A commit that expects the previous version raises `WriteConflict`."""
    assert bench.store.get(HEADER_KEY) is None
    bench.store.commit(Put(HEADER_KEY, {"a": ["ü", None, 1.5]}, expected_version=None))
    for store in (bench.store, bench.reopen()):
        assert read_version_and_body(store) == (1, {"a": ["ü", None, 1.5]})
    bench.reopen().commit(
        Put(HEADER_KEY, {"b": 2}, expected_version=None), Put(MOVE_KEY, {}, expected_version=None)
    )
    assert read_version_and_body(bench.store) == (2, {"b": 2})
    assert read_version_and_body(bench.store, MOVE_KEY) == (1, {})
    with pytest.raises(WriteConflict):
        bench.store.commit(Put(HEADER_KEY, {}, expected_version=1))
    bench.reopen().commit(Put(HEADER_KEY, {}, expected_version=2))
    assert read_version_and_body(bench.store) == (3, {})
    for _ in range(2):
        bench.store.commit(Delete(HEADER_KEY, None))
        assert bench.reopen().get(HEADER_KEY) is None


def test_a_query_returns_a_partition_in_order_from_its_start_key(
    bench: DocumentStoreFixture,
) -> None:
    numbers = [3, 1, 10, 2]
    bench.store.commit(
        *(Put(Key("p", f"m{number:03}"), {"n": number}) for number in numbers), Put(HEADER_KEY, {})
    )
    assert [document.body["n"] for document in bench.store.query("p")] == sorted(numbers)
    assert [
        document.body["n"] for document in bench.store.query("p", exclusive_start="m001", limit=2)
    ] == [
        2,
        3,
    ]
    assert list(bench.store.query("q")) == []


def test_an_index_query_returns_entries_since_a_time_newest_first(
    bench: DocumentStoreFixture,
) -> None:
    start = bench.clock.now()

    def put(number: int, expected: int = 0, name: str = "open") -> None:
        attributes = {"nicknames_json": f"[{number}]", "is_started": number > 2}
        index_entry = IndexEntry(name, start + number * SECOND, attributes) if name else None
        bench.store.commit(Put(Key("p", f"m{number}"), {}, expected, index_entry=index_entry))

    for number in (3, 1, 2, 4):
        put(number)
    put(4, 1, name="")
    put(5, name="another")
    entries = bench.reopen().query_index("open", start + SECOND, 9)
    assert [
        (key, (entry.sort_time - start) / SECOND, dict(entry.attributes)) for key, entry in entries
    ] == [
        (Key("p", "m3"), 3, {"nicknames_json": "[3]", "is_started": True}),
        (Key("p", "m2"), 2, {"nicknames_json": "[2]", "is_started": False}),
    ]
    assert len(bench.store.query_index("open", start, 1)) == 1


def test_concurrent_increments_are_all_counted_up_to_the_maximum(
    bench: DocumentStoreFixture,
) -> None:
    expiry = bench.clock.now() + 9 * SECOND

    assert (
        sum(
            run_concurrently(
                8,
                lambda _: try_commit(bench.reopen(), Increment(HEADER_KEY, 1, expiry, max_value=5)),
            )
        )
        == 5
    )
    bench.store.commit(Put(MOVE_KEY, {}), Increment(HEADER_KEY, -2, expiry))
    with pytest.raises(WriteConflict):
        bench.store.commit(Put(MOVE_KEY, {}), Increment(HEADER_KEY, 9, expiry))
    assert [document.body for document in bench.store.query("game#1")] == [{"count": 3}, {}]
    bench.clock.advance(9 * SECOND)
    assert bench.store.get(HEADER_KEY) is None


def test_a_writer_recognizes_its_write_under_later_ones() -> None:
    """The response to its first attempt is lost, and other writers commit before its retry."""
    clock = FakeClock()
    with moto_client() as client, stamina.set_testing(True, attempts=2):
        name = create_table(client, "BlefTable")
        other_store, lost_responses = DynamoDocumentStore(name, clock, client), iter([True])
        other_store.commit(Put(HEADER_KEY, {}))

        def update_item(**params: Any) -> Any:  # noqa: ANN401 - as boto3 has it
            response = client.update_item(**params)
            if next(lost_responses, False):
                for version in range(2, RECEIPT_SLOTS + 1):
                    other_store.commit(Put(HEADER_KEY, {}, version))
                raise EndpointConnectionError(endpoint_url="https://aws.example")
            return response

        faulty_client: Any = SimpleNamespace(update_item=update_item, get_item=client.get_item)
        store = DynamoDocumentStore(name, clock, faulty_client)
        store.commit(Put(HEADER_KEY, {"mine": True}, 1))
        with pytest.raises(WriteConflict):
            store.commit(Put(HEADER_KEY, {}, 2))


def test_an_expired_document_is_absent_and_can_be_created(bench: DocumentStoreFixture) -> None:
    expiry = bench.clock.now() + 2 * SECOND
    bench.store.commit(Put(HEADER_KEY, {"old": 1}, expires_at=expiry), Put(MOVE_KEY, {}))
    bench.clock.advance(SECOND)
    assert read_version_and_body(bench.store) == (1, {"old": 1})
    bench.clock.advance(SECOND)
    assert bench.store.get(HEADER_KEY) is None
    assert [document.key for document in bench.store.query("game#1")] == [MOVE_KEY]
    with pytest.raises(WriteConflict):
        bench.store.commit(Put(HEADER_KEY, {}, expected_version=1))
    bench.store.commit(Put(HEADER_KEY, {"new": 1}))
    assert read_version_and_body(bench.store) == (1, {"new": 1})


def test_writers_that_race_lose_no_update(bench: DocumentStoreFixture) -> None:
    """Each writer increments both documents in one commit, and retries until it succeeds."""
    keys = (HEADER_KEY, MOVE_KEY)

    def increment_both(_: int) -> None:
        store, remaining = bench.reopen(), 5
        while remaining:
            versions_and_bodies = [
                read_version_and_body(store, key) or (0, {"n": 0}) for key in keys
            ]
            writes = [
                Put(key, {"n": content["n"] + 1}, version)
                for key, (version, content) in zip(keys, versions_and_bodies, strict=True)
            ]
            remaining -= try_commit(store, *writes)

    run_concurrently(4, increment_both)
    assert [read_version_and_body(bench.store, key) for key in keys] == [(20, {"n": 20})] * 2


OPERATIONS = st.sampled_from(["put", "list", "delete", "add"])
PARTITION_NUMBERS = count()
SUPPRESSED_HEALTH_CHECKS = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@settings(max_examples=20, suppress_health_check=SUPPRESSED_HEALTH_CHECKS)
@given(st.lists(st.tuples(OPERATIONS, st.sampled_from("abc"), st.integers(0, 3)), max_size=16))
def test_every_store_behaves_as_sqlite_in_memory(
    bench: DocumentStoreFixture, done: list[tuple[str, str, int]]
) -> None:
    """Each store agrees with SQLite in memory on any changes with right or wrong versions."""
    model, start = SqliteDocumentStore(MEMORY_PATH, bench.clock), bench.clock.now()
    name, day = f"partition {next(PARTITION_NUMBERS)}", timedelta(days=1)
    for operation, sort, number in done:
        key, entry = Key(name, sort), IndexEntry(name, start, {"nicknames_json": f"{number}"})
        change = {
            "put": Put(key, {"s": sort}, number),
            "list": Put(key, {"s": sort}, number, index_entry=entry),
            "delete": Delete(key, number or 1),
            "add": Increment(Key(name, f"{sort} counted"), number - 1, start + day, max_value=2),
        }[operation]
        assert try_commit(bench.store, change) is try_commit(model, change)
    assert list(bench.store.query(name)) == list(model.query(name))
    actual, expected = (
        sorted(store.query_index(name, start - day, 9)) for store in (bench.store, model)
    )
    assert actual == expected


# --- the vault of a match log: who sees a secret, for how long, and what version 0.2 kept -------


ANN, BOB = {"player": "secret-canary", "n": 1}, {"player": "another", "n": 2}
SCHEMA_OF_0_2 = (
    "CREATE TABLE secrets (id TEXT PRIMARY KEY, body TEXT NOT NULL, expires_at INTEGER NOT NULL)"
)


def test_the_first_secret_stays_until_it_is_replaced_and_for_its_life(
    bench: DocumentStoreFixture,
) -> None:
    vault = SecretVault(bench.store, bench.clock)
    assert vault.find("m") is None
    assert vault.add("m", BOB)
    assert not vault.add("m", ANN)
    assert vault.find("m") == BOB
    vault.replace("m", ANN)
    bench.clock.advance(SECRET_TTL - SECOND)
    assert vault.find("m") == ANN
    bench.clock.advance(SECOND)
    assert vault.find("m") is None


def test_the_vault_follows_the_name_of_the_match_log() -> None:
    assert isinstance(build_vault("dynamodb:matches", SystemClock()).documents, DynamoDocumentStore)
    with pytest.raises(ConfigError, match="sqlite:FILE or dynamodb:TABLE"):
        build_vault("nowhere", SystemClock())


def test_a_file_of_version_0_2_is_read_and_written_on(tmp_path: Path) -> None:
    clock = FakeClock()
    expiry_micros = to_micros(clock.now() + 2 * SECOND)
    with closing(sqlite3.connect(tmp_path / "log.vault")) as db:
        db.executescript(f"{SCHEMA_OF_0_2}; PRAGMA user_version = 1")
        db.execute("INSERT INTO secrets VALUES ('m', ?, ?)", (json.dumps(ANN), expiry_micros))
        db.commit()
    with closing(build_vault(f"sqlite:{tmp_path / 'log'}", clock)) as vault:
        assert_vault_continues_from_version_0_2(vault, clock)


def test_a_secret_of_version_0_2_is_readable_writable_and_hidden_from_the_log(
    moto: "DynamoDBClient",
) -> None:
    with new_dynamodb_log(moto) as bench:
        log, clock, table = bench.log, bench.clock, bench.log._table.name
        expiry_seconds = int((clock.now() + 2 * SECOND).timestamp())
        item = {
            "secret_json": string_attribute(json.dumps(ANN)),
            "expires_at": number_attribute(expiry_seconds),
        }
        moto.put_item(TableName=table, Item={**item_key("vault#m", "secret"), **item})
        assert_vault_continues_from_version_0_2(
            VAULT_FACTORY.open_dynamodb_store(table, clock, moto), clock
        )
        (stored_item,) = moto.scan(TableName=table)["Items"]
        assert json.loads(stored_item["secret_json"]["S"]) == ANN, (
            "0.2 reads it, should it come back"
        )
        acquire_lease(log)
        log.add_note("m", "kind", {})
        log_contents = (log.match("m"), log.moves("m"), log.notes("m"), log.matches())
        assert "secret-canary" not in repr(log_contents)


def assert_vault_continues_from_version_0_2(vault: SecretVault, clock: FakeClock) -> None:
    assert vault.find("m") == ANN
    assert not vault.add("m", BOB)
    vault.replace("m", BOB)
    assert vault.find("m") == BOB
    vault.replace("m", ANN)
    clock.advance(2 * SECOND)
    assert vault.find("m") == ANN, "its life began anew"
