"""One contract for every vault: what is kept, what a repeat does, and who sees it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from support.cloud_clock import FakeClock

from cardsharp.cloud.adapters import build_vault
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.dynamodb import DynamoLog
from cardsharp.cloud.dynamodb_vault import DynamoVault
from cardsharp.cloud.ports import MatchLog
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.cloud.sqlite_vault import SqliteVault
from cardsharp.cloud.vault import LIFE, Vault
from cardsharp.errors import ConfigError
from workbench.cloud.template import all_resources, table_request

ONE, OTHER = {"player": "secret-canary", "n": 1}, {"player": "another", "n": 2}
SECOND = timedelta(seconds=1)


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
        log, vault = SqliteLog(tmp_path / "log", clock), SqliteVault(tmp_path / "log", clock)
        yield Place(vault, log, clock)
        log.close()
        vault.close()
        return
    client = request.getfixturevalue("moto")
    properties = all_resources()["Matches"].properties
    client.create_table(TableName="matches", **table_request(properties))
    table = DynamoVault("matches", clock, client)
    yield Place(table, DynamoLog("matches", clock, client), clock)
    client.delete_table(TableName="matches")


def test_the_first_secret_stays_until_it_is_replaced(place: Place) -> None:
    assert place.vault.find("m") is None
    assert place.vault.add("m", ONE)
    place.vault.add("m", OTHER)
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
    assert isinstance(vault, SqliteVault)
    vault.close()
    assert (tmp_path / "log.vault").stat().st_mode & 0o077 == 0
    assert isinstance(build_vault("dynamodb:matches", SystemClock()), DynamoVault)
    with pytest.raises(ConfigError, match="sqlite:FILE or dynamodb:TABLE"):
        build_vault("nowhere", SystemClock())
