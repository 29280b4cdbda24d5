"""The vault of a match log: who sees a secret, for how long, and what version 0.2 kept.

What its documents do under writers that race is the contract of the port (test_keep.py).
"""

import json
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.cloud_benches import dynamo_log, sqlite_log
from support.cloud_clock import FakeClock

from cardsharp.cloud.adapters import build_vault
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.codec import to_micros
from cardsharp.cloud.dynamodb import DynamoLog
from cardsharp.cloud.dynamodb_items import key, number, text
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


@pytest.mark.parametrize("store", ["sqlite", "moto"])
def test_the_first_secret_stays_until_it_is_replaced_and_no_log_shows_one(
    request: pytest.FixtureRequest, tmp_path: Path, store: str
) -> None:
    client = request.getfixturevalue("moto") if store == "moto" else None
    with dynamo_log(client) if client else sqlite_log(tmp_path) as bench:
        log = bench.log
        if isinstance(log, DynamoLog):
            vault = dynamo_vault(log._table.name, bench.clock, client)
        else:
            vault = sqlite_vault(tmp_path / "deep" / "matches.db", bench.clock)
        with closing(vault):
            assert vault.find("m") is None
            assert vault.add("m", OTHER)
            assert not vault.add("m", ONE)
            assert vault.find("m") == OTHER
            vault.replace("m", ONE)
            assert log.take("m", "ann", SECOND, {"game": "blef"}) is not None
            log.note("m", "kind", {})
            shown = (log.match("m"), log.moves("m"), log.notes("m"), log.matches())
            assert "secret-canary" not in repr(shown)
            bench.clock.advance(LIFE - SECOND)
            assert vault.find("m") == ONE
            bench.clock.advance(SECOND)
            assert vault.find("m") is None


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
