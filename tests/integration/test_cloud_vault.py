"""One contract for every vault: what is kept, what a repeat does, and who sees it."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.cloud_clock import FakeClock

from cardsharp.cloud.adapters import build_vault
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.codec import to_micros
from cardsharp.cloud.dynamodb import DynamoLog
from cardsharp.cloud.dynamodb_items import key, number, text
from cardsharp.cloud.ports import MatchLog
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.cloud.sqlite_file import Contents, SqliteFile
from cardsharp.cloud.vault import LIFE, Vault, dynamo_vault, sqlite_vault
from cardsharp.errors import ConfigError, StoreError
from cardsharp.keep.dynamodb import DynamoKeep
from workbench.cloud.template import all_resources, table_request

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

ONE, OTHER = {"player": "secret-canary", "n": 1}, {"player": "another", "n": 2}
SECOND = timedelta(seconds=1)
SCHEMA_OF_0_2 = (
    "CREATE TABLE secrets (id TEXT PRIMARY KEY, body TEXT NOT NULL, expires_at INTEGER NOT NULL)"
)


@dataclass(frozen=True)
class Place:
    """A vault, the match log that it belongs to, and their clock."""

    vault: Vault
    log: MatchLog
    clock: FakeClock


@pytest.fixture(params=["sqlite", "moto"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    clock = FakeClock()
    if request.param == "sqlite":
        log, vault = SqliteLog(tmp_path / "log", clock), sqlite_vault(tmp_path / "log", clock)
        yield Place(vault, log, clock)
        log.close()
        vault.close()
        return
    client = request.getfixturevalue("moto")
    properties = all_resources()["Matches"].properties
    client.create_table(TableName="matches", **table_request(properties))
    table = dynamo_vault("matches", clock, client)
    yield Place(table, DynamoLog("matches", clock, client), clock)
    client.delete_table(TableName="matches")


def test_the_first_secret_stays_until_it_is_replaced(place: Place) -> None:
    assert place.vault.find("m") is None
    assert place.vault.add("m", ONE)
    assert not place.vault.add("m", OTHER)
    assert place.vault.find("m") == ONE
    place.vault.replace("m", OTHER)
    assert place.vault.find("m") == OTHER
    place.vault.replace("new", ONE)
    assert place.vault.find("new") == ONE
    assert place.vault.find("other") is None


def test_a_secret_is_gone_after_its_life_and_can_be_kept_anew(place: Place) -> None:
    place.vault.add("m", ONE)
    place.clock.advance(LIFE - SECOND)
    assert place.vault.find("m") == ONE
    place.clock.advance(SECOND)
    assert place.vault.find("m") is None
    assert place.vault.add("m", OTHER)
    assert place.vault.find("m") == OTHER


def test_nothing_that_shows_a_match_shows_its_secret(place: Place) -> None:
    place.vault.add("m", ONE)
    lease = place.log.take("m", "ann", SECOND, {"game": "blef"})
    assert lease is not None
    place.log.note("m", "kind", {})
    shown = (place.log.match("m"), place.log.moves("m"), place.log.notes("m"), place.log.matches())
    assert "secret-canary" not in repr(shown)
    assert place.vault.find("m") == ONE


def test_a_vault_is_found_by_the_name_of_its_match_log(tmp_path: Path) -> None:
    vault = build_vault(f"sqlite:{tmp_path / 'log'}", SystemClock())
    vault.add("m", ONE)
    vault.close()
    assert (tmp_path / "log.vault").stat().st_mode & 0o077 == 0
    assert isinstance(build_vault("dynamodb:matches", SystemClock()).keep, DynamoKeep)
    with pytest.raises(ConfigError, match="sqlite:FILE or dynamodb:TABLE"):
        build_vault("nowhere", SystemClock())


def test_a_file_of_version_0_2_is_read_and_written_on(tmp_path: Path) -> None:
    clock = FakeClock()
    end = to_micros(clock.now() + 2 * SECOND)
    with closing(sqlite3.connect(tmp_path / "log.vault")) as db:
        db.executescript(f"{SCHEMA_OF_0_2}; PRAGMA user_version = 1")
        db.execute("INSERT INTO secrets VALUES ('m', ?, ?)", (json.dumps(ONE), end))
        db.commit()
    with closing(sqlite_vault(tmp_path / "log", clock)) as vault:
        goes_on_from_version_0_2(vault, clock)
    of_then = Contents("vault", "CARDSHARP_STORE", (SCHEMA_OF_0_2,))
    with pytest.raises(StoreError, match="A newer Cardsharp made the vault"):
        SqliteFile(tmp_path / "log.vault", of_then)


def test_an_item_of_version_0_2_is_read_and_written_on(moto: "DynamoDBClient") -> None:
    clock = FakeClock()
    moto.create_table(TableName="old", **table_request(all_resources()["Matches"].properties))
    end = int((clock.now() + 2 * SECOND).timestamp())
    item = {"secret_json": text(json.dumps(ONE)), "expires_at": number(end)}
    moto.put_item(TableName="old", Item={**key("vault#m", "secret"), **item})
    goes_on_from_version_0_2(dynamo_vault("old", clock, moto), clock)
    (kept,) = moto.scan(TableName="old")["Items"]
    assert json.loads(kept["secret_json"]["S"]) == ONE, "0.2 reads it, should it come back"
    moto.delete_table(TableName="old")


def goes_on_from_version_0_2(vault: Vault, clock: FakeClock) -> None:
    assert vault.find("m") == ONE
    assert not vault.add("m", OTHER)
    vault.replace("m", OTHER)
    assert vault.find("m") == OTHER
    vault.replace("m", ONE)
    clock.advance(2 * SECOND)
    assert vault.find("m") == ONE, "its life began anew"
