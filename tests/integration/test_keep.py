"""One contract for every home of documents: versions, all or nothing, order, life, and races."""

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
    dynamo_log,
    dynamodb_store,
    file_store,
    moto_client,
    run_concurrently,
    take_lease,
)

from cardsharp.aws.dynamodb_attributes import item_key, number_attribute, string_attribute
from cardsharp.bot.bootstrap import build_vault
from cardsharp.core.clock import SystemClock
from cardsharp.errors import ConfigError, WriteConflict
from cardsharp.store.codec import to_micros
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


KeepBench = StoreFixture[DocumentStore]
SECOND = timedelta(seconds=1)
ONE, OTHER = Key("game#1", "header"), Key("game#1", "move#1")


@pytest.fixture(params=["sqlite", "ministack"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KeepBench]:
    """A keep, its clock, and what opens it as another process would."""
    if request.param == "sqlite":
        opened: AbstractContextManager[StoreFixture[Any]] = file_store(
            SqliteDocumentStore, tmp_path
        )
    else:
        client = request.getfixturevalue("emulator").client("dynamodb")
        opened = dynamodb_store(DynamoDocumentStore, "blefTable", client)
    with opened as ready:
        yield ready


def body(keep: DocumentStore, key: Key = ONE) -> Any:  # noqa: ANN401 - any JSON
    found = keep.get(key)
    return None if found is None else (found.version, dict(found.body))


def test_several_documents_change_together_or_not_at_all(bench: KeepBench) -> None:
    third = Key("game#1", "move#2")
    bench.store.commit(Put(ONE, {"a": 1}), Put(Key("game#2", "header"), {}))
    for stale in (
        Put(ONE, {"b": 1}),
        Put(ONE, {}, expected_version=2),
        Delete(ONE, 2),
        Delete(OTHER, 1),
    ):
        with pytest.raises(WriteConflict):
            bench.store.commit(Put(third, {}), stale)
        assert body(bench.store) == (1, {"a": 1})
        assert bench.store.get(third) is bench.store.get(OTHER) is None
    bench.store.commit(Put(OTHER, {}), Delete(ONE, 1), Put(third, {"c": 3}))
    assert [one.key for one in bench.store.query("game#1")] == [OTHER, third]


def test_what_is_written_is_read_at_once_by_all_also_if_unread(bench: KeepBench) -> None:
    """Whoever read it before is too late."""
    assert bench.store.get(ONE) is None
    bench.store.commit(Put(ONE, {"a": ["ü", None, 1.5]}, expected_version=None))
    for keep in (bench.store, bench.reopen()):
        assert body(keep) == (1, {"a": ["ü", None, 1.5]})
    bench.reopen().commit(
        Put(ONE, {"b": 2}, expected_version=None), Put(OTHER, {}, expected_version=None)
    )
    assert body(bench.store) == (2, {"b": 2})
    assert body(bench.store, OTHER) == (1, {})
    with pytest.raises(WriteConflict):
        bench.store.commit(Put(ONE, {}, expected_version=1))
    bench.reopen().commit(Put(ONE, {}, expected_version=2))
    assert body(bench.store) == (3, {})
    for _ in range(2):
        bench.store.commit(Delete(ONE, None))
        assert bench.reopen().get(ONE) is None


def test_a_range_is_in_order_from_a_key_on_and_of_one_partition(bench: KeepBench) -> None:
    numbers = [3, 1, 10, 2]
    bench.store.commit(*(Put(Key("p", f"m{n:03}"), {"n": n}) for n in numbers), Put(ONE, {}))
    assert [one.body["n"] for one in bench.store.query("p")] == sorted(numbers)
    assert [one.body["n"] for one in bench.store.query("p", exclusive_start="m001", limit=2)] == [
        2,
        3,
    ]
    assert list(bench.store.query("q")) == []


def test_a_list_has_what_stands_in_it_since_a_moment_the_last_first(bench: KeepBench) -> None:
    now = bench.clock.now()

    def put(n: int, expected: int = 0, name: str = "open") -> None:
        shown = {"nicknames_json": f"[{n}]", "is_started": n > 2}
        listed = IndexEntry(name, now + n * SECOND, shown) if name else None
        bench.store.commit(Put(Key("p", f"m{n}"), {}, expected, index_entry=listed))

    for n in (3, 1, 2, 4):
        put(n)
    put(4, 1, name="")
    put(5, name="another")
    found = bench.reopen().query_index("open", now + SECOND, 9)
    assert [(key, (one.sort_time - now) / SECOND, dict(one.attributes)) for key, one in found] == [
        (Key("p", "m3"), 3, {"nicknames_json": "[3]", "is_started": True}),
        (Key("p", "m2"), 2, {"nicknames_json": "[2]", "is_started": False}),
    ]
    assert len(bench.store.query_index("open", now, 1)) == 1


def test_of_those_who_count_at_once_nobody_is_lost_and_none_beyond_the_most(
    bench: KeepBench,
) -> None:
    end = bench.clock.now() + 9 * SECOND

    assert (
        sum(
            run_concurrently(
                8, lambda _: try_commit(bench.reopen(), Increment(ONE, 1, end, max_value=5))
            )
        )
        == 5
    )
    bench.store.commit(Put(OTHER, {}), Increment(ONE, -2, end))
    with pytest.raises(WriteConflict):
        bench.store.commit(Put(OTHER, {}), Increment(ONE, 9, end))
    assert [one.body for one in bench.store.query("game#1")] == [{"count": 3}, {}]
    bench.clock.advance(9 * SECOND)
    assert bench.store.get(ONE) is None


def test_a_writer_knows_its_own_write_again_also_under_those_of_others() -> None:
    """The answer to its first write does not come, and meanwhile others write on."""
    clock = FakeClock()
    with moto_client() as client, stamina.set_testing(True, attempts=2):
        name = create_table(client, "blefTable")
        others, lost = DynamoDocumentStore(name, clock, client), iter([True])
        others.commit(Put(ONE, {}))

        def update_item(**asked: Any) -> Any:  # noqa: ANN401 - as boto3 has it
            answer = client.update_item(**asked)
            if next(lost, False):
                for version in range(2, RECEIPT_SLOTS + 1):
                    others.commit(Put(ONE, {}, version))
                raise EndpointConnectionError(endpoint_url="https://aws.example")
            return answer

        losing: Any = SimpleNamespace(update_item=update_item, get_item=client.get_item)
        mine = DynamoDocumentStore(name, clock, losing)
        mine.commit(Put(ONE, {"mine": True}, 1))
        with pytest.raises(WriteConflict):
            mine.commit(Put(ONE, {}, 2))


def test_what_has_expired_is_not_there_and_can_be_written_anew(bench: KeepBench) -> None:
    end = bench.clock.now() + 2 * SECOND
    bench.store.commit(Put(ONE, {"old": 1}, expires_at=end), Put(OTHER, {}))
    bench.clock.advance(SECOND)
    assert body(bench.store) == (1, {"old": 1})
    bench.clock.advance(SECOND)
    assert bench.store.get(ONE) is None
    assert [one.key for one in bench.store.query("game#1")] == [OTHER]
    with pytest.raises(WriteConflict):
        bench.store.commit(Put(ONE, {}, expected_version=1))
    bench.store.commit(Put(ONE, {"new": 1}))
    assert body(bench.store) == (1, {"new": 1})


def test_writers_that_race_lose_no_update(bench: KeepBench) -> None:
    """Each counts both documents up, in one commit, as often as it takes; one begins them."""
    keys = (ONE, OTHER)

    def raise_both(_: int) -> None:
        keep, left = bench.reopen(), 5
        while left:
            now = [body(keep, key) or (0, {"n": 0}) for key in keys]
            counted = [
                Put(key, {"n": told["n"] + 1}, version)
                for key, (version, told) in zip(keys, now, strict=True)
            ]
            left -= try_commit(keep, *counted)

    run_concurrently(4, raise_both)
    assert [body(bench.store, key) for key in keys] == [(20, {"n": 20})] * 2


WAYS = st.sampled_from(["put", "list", "delete", "add"])
NUMBERS = count()
NO_MATTER = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@settings(max_examples=20, suppress_health_check=NO_MATTER)
@given(st.lists(st.tuples(WAYS, st.sampled_from("abc"), st.integers(0, 3)), max_size=16))
def test_every_home_is_as_a_file_in_memory(
    bench: KeepBench, done: list[tuple[str, str, int]]
) -> None:
    """Any sequence of changes, right or wrong about the versions."""
    model, now = SqliteDocumentStore(MEMORY_PATH, bench.clock), bench.clock.now()
    name, day = f"partition {next(NUMBERS)}", timedelta(days=1)
    for way, sort, n in done:
        key, shown = Key(name, sort), IndexEntry(name, now, {"nicknames_json": f"{n}"})
        change = {
            "put": Put(key, {"s": sort}, n),
            "list": Put(key, {"s": sort}, n, index_entry=shown),
            "delete": Delete(key, n or 1),
            "add": Increment(Key(name, f"{sort} counted"), n - 1, now + day, max_value=2),
        }[way]
        assert try_commit(bench.store, change) is try_commit(model, change)
    assert list(bench.store.query(name)) == list(model.query(name))
    found, wanted = (sorted(one.query_index(name, now - day, 9)) for one in (bench.store, model))
    assert found == wanted


# --- the vault of a match log: who sees a secret, for how long, and what version 0.2 kept -------


ANN, BOB = {"player": "secret-canary", "n": 1}, {"player": "another", "n": 2}
SCHEMA_OF_0_2 = (
    "CREATE TABLE secrets (id TEXT PRIMARY KEY, body TEXT NOT NULL, expires_at INTEGER NOT NULL)"
)


def test_the_first_secret_stays_until_it_is_replaced_and_for_its_life(bench: KeepBench) -> None:
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


def test_a_vault_is_found_by_the_name_of_its_match_log() -> None:
    assert isinstance(build_vault("dynamodb:matches", SystemClock()).documents, DynamoDocumentStore)
    with pytest.raises(ConfigError, match="sqlite:FILE or dynamodb:TABLE"):
        build_vault("nowhere", SystemClock())


def test_a_file_of_version_0_2_is_read_and_written_on(tmp_path: Path) -> None:
    clock = FakeClock()
    end = to_micros(clock.now() + 2 * SECOND)
    with closing(sqlite3.connect(tmp_path / "log.vault")) as db:
        db.executescript(f"{SCHEMA_OF_0_2}; PRAGMA user_version = 1")
        db.execute("INSERT INTO secrets VALUES ('m', ?, ?)", (json.dumps(ANN), end))
        db.commit()
    with closing(build_vault(f"sqlite:{tmp_path / 'log'}", clock)) as vault:
        goes_on_from_version_0_2(vault, clock)


def test_an_item_of_version_0_2_is_read_and_written_on_and_shown_by_no_log(
    moto: "DynamoDBClient",
) -> None:
    with dynamo_log(moto) as bench:
        log, clock, table = bench.log, bench.clock, bench.log._table.name
        end = int((clock.now() + 2 * SECOND).timestamp())
        item = {
            "secret_json": string_attribute(json.dumps(ANN)),
            "expires_at": number_attribute(end),
        }
        moto.put_item(TableName=table, Item={**item_key("vault#m", "secret"), **item})
        goes_on_from_version_0_2(VAULT_FACTORY.open_table(table, clock, moto), clock)
        (kept,) = moto.scan(TableName=table)["Items"]
        assert json.loads(kept["secret_json"]["S"]) == ANN, "0.2 reads it, should it come back"
        take_lease(log)
        log.add_note("m", "kind", {})
        shown = (log.match("m"), log.moves("m"), log.notes("m"), log.matches())
        assert "secret-canary" not in repr(shown)


def goes_on_from_version_0_2(vault: SecretVault, clock: FakeClock) -> None:
    assert vault.find("m") == ANN
    assert not vault.add("m", BOB)
    vault.replace("m", BOB)
    assert vault.find("m") == BOB
    vault.replace("m", ANN)
    clock.advance(2 * SECOND)
    assert vault.find("m") == ANN, "its life began anew"
