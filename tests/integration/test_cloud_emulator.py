"""Tests of the AWS emulator: the template's tables and queues, settings, and its end."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.store_fixtures import acquire_lease, require_match, set_environment

from cardsharp.aws import ssm_credentials
from cardsharp.aws.dynamodb_attributes import item_key
from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.bot.control.dynamodb_control import DynamoPollerGenerations, DynamoRuntimeSettings
from cardsharp.bot.control.runtime_settings import RuntimeSettings
from cardsharp.core.clock import SystemClock
from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.arena_bot.settings import ArenaBotSettings
from cardsharp.store.dynamodb_match_items import timestamp_attribute
from cardsharp.store.match_log import MoveRecord
from cardsharp.store.match_log_factory import build_match_log
from cardsharp_tools.local_cloud.emulator import EmulatedResources, Emulator

TTL = timedelta(seconds=30)
CANARY = "canary-19c4"


@pytest.fixture(scope="module")
def stack(emulator: Emulator) -> EmulatedResources:
    return emulator.create_resources()


@pytest.fixture
def aws(emulator: Emulator) -> Iterator[Emulator]:
    """Set the emulator's environment variables, so that boto3 uses it."""
    with set_environment(emulator.environment):
        yield emulator


def test_data_stored_by_version_0_2_can_be_read_and_continued(
    stack: EmulatedResources, aws: Emulator
) -> None:
    """A match that version 0.2 stored with plain JSON texts is continued."""
    table, timestamp = stack.tables["Matches"], int(SystemClock().now().timestamp())
    match = {
        "match_status": "running",
        "match_day": "2026-11-01",
        "started_at": timestamp * 1_000_000,
    }
    match |= {"header_json": '{"game":"deadmansdraw"}', "claim_beat": 7, "lease_fence": 1}
    move = {"intent_json": '{"action":"Draw"}', "facts_json": '{"drew":"Key2"}', "fence": 1}
    note = {"kind": "refused", "body_json": '{"answer":"no"}', "expires_at": timestamp + 3600}
    items = ("header", match), ("move#000000", move), (f"note#{timestamp * 1_000_000:020}#x", note)
    for sort, attributes in items:
        attributes |= {"pk": "match#old", "sk": sort}
        item = {
            name: {"N" if isinstance(value, int) else "S": str(value)}
            for name, value in attributes.items()
        }
        aws.client("dynamodb").put_item(TableName=table, Item=item)
    log = build_match_log(f"dynamodb:{table}", SystemClock())
    assert require_match(log, "old").header == {"game": "deadmansdraw"}
    assert [stored_note.body for stored_note in log.notes("old")] == [{"answer": "no"}]
    lease = acquire_lease(log, name="old")
    log.write_intent(lease, 1, {"action": "EndTurn"})
    log.write_facts(lease, {0: {"drew": "Key2"}, 1: {"ended": True}})
    assert log.moves("old") == [
        MoveRecord(0, {"action": "Draw"}, {"drew": "Key2"}),
        MoveRecord(1, {"action": "EndTurn"}, {"ended": True}),
    ]
    log.finish(lease, {"result": "won"})


def test_items_with_a_retention_have_an_expiry_time(
    stack: EmulatedResources, aws: Emulator
) -> None:
    store, days = f"dynamodb:{stack.tables['Matches']}", timedelta(days=3)
    for name, retention in (("brief", days), ("kept", None)):
        log = build_match_log(store, SystemClock(), retention)
        lease = acquire_lease(log, name=name)
        log.write_intent(lease, 0, {"draw": True})
        log.write_facts(lease, {0: {"drew": "Key"}, 1: {"drew": "Map"}})
        log.finish(lease, {})
    due = SystemClock().now().timestamp() + days.total_seconds()
    table = DynamoTable(stack.tables["Matches"], aws.client("dynamodb"))
    expiring_times, unlimited_times = (
        [item.get("expires_at", {}).get("N") for item in table.query_prefix(f"match#{name}")]
        for name in ("brief", "kept")
    )
    assert [int(expiry_time) for expiry_time in expiring_times if expiry_time] == pytest.approx(
        [due] * 3, abs=60
    )
    assert unlimited_times == [None] * 3


def test_a_malformed_secret_is_refused_without_being_displayed(aws: Emulator) -> None:
    store = aws.client("ssm")
    for name, value in {"text": CANARY, "half": f'{{"password": "{CANARY}"}}'}.items():
        ssm_credentials.ssm_provider.cache_clear()
        store.put_parameter(Name=name, Value=value, Type="SecureString")
        variables = {"CARDSHARP_ARENA_URL": "https://a.example", "CARDSHARP_SECRET_ID": name}
        with pytest.raises(
            ConfigError, match=f"The secret {name} must be a JSON like"
        ) as error_info:
            ArenaBotSettings.load(variables).credentials()
        assert CANARY not in f"{error_info.value!r}{error_info.value.__cause__}"
    ssm_credentials.ssm_provider.cache_clear()


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for a process as Linux can")
def test_an_emulator_does_not_outlive_a_parent_that_was_killed() -> None:
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            """
import sys
from cardsharp_tools.local_cloud.emulator import Emulator
with Emulator() as running:
    print(running._process.pid, running.folder, flush=True)
    sys.stdin.read()
""",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with parent:
        pid, folder = parent.stdout.readline().split()
        emulator_fd = os.pidfd_open(int(pid))
        parent.send_signal(signal.SIGKILL)
        assert select.select([emulator_fd], [], [], 20)[0], "it still runs"
        os.close(emulator_fd)
    assert not Path(folder).exists()


@pytest.fixture
def table(stack: EmulatedResources, emulator: Emulator) -> DynamoTable:
    return DynamoTable(stack.tables["Matches"], emulator.client("dynamodb"))


def test_r28_each_poller_begins_the_next_generation_and_all_see_it(table: DynamoTable) -> None:
    first_generations, second_generations = (
        DynamoPollerGenerations(table),
        DynamoPollerGenerations(table),
    )
    assert first_generations.latest_generation() == 0
    assert [
        first_generations.start_generation(),
        second_generations.start_generation(),
        first_generations.start_generation(),
    ] == [
        1,
        2,
        3,
    ]
    assert first_generations.latest_generation() == second_generations.latest_generation() == 3


def test_settings_written_by_an_operator_are_read_by_functions(table: DynamoTable) -> None:
    """Functions read every setting, also a pause that version 0.2 stored."""
    for settings in (
        RuntimeSettings(strategy="set before", at_once=9),
        RuntimeSettings(paused=True, awake_until=datetime(2026, 11, 22, tzinfo=UTC)),
        RuntimeSettings(strategy="captain", tags=("a", "b:c"), at_once=4),
        RuntimeSettings(tags=()),
        RuntimeSettings(),
    ):
        DynamoRuntimeSettings(table).set(settings)
        assert DynamoRuntimeSettings(table).read() == settings
    item = {"paused": {"BOOL": True}, "turned_at": timestamp_attribute(SystemClock().now())}
    table.put({**item_key("control", "pause"), **item})
    assert DynamoRuntimeSettings(table).read() == RuntimeSettings(paused=True)
