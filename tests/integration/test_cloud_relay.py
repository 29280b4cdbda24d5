"""The pollers' generations, and what an operator sets, in the match log's table."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from support.cloud_benches import dynamo_log

from cardsharp.cloud import dynamodb_items as items
from cardsharp.cloud.dynamodb import DynamoLog
from cardsharp.cloud.dynamodb_relay import DynamoRelay
from cardsharp.cloud.dynamodb_switches import DynamoSwitchboard
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.switches import Switches
from workbench.cloud.emulator import Emulator

NOW = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.fixture
def table(emulator: Emulator) -> Iterator[DynamoTable]:
    client = emulator.client("dynamodb")
    with dynamo_log(client) as bench:
        assert isinstance(bench.log, DynamoLog)
        yield DynamoTable(bench.log._table.name, client)


@pytest.fixture
def relays(table: DynamoTable) -> tuple[DynamoRelay, DynamoRelay]:
    """One relay as two pollers see it."""
    return DynamoRelay(table), DynamoRelay(table)


def test_each_poller_begins_the_next_generation_and_all_see_it(
    relays: tuple[DynamoRelay, DynamoRelay],
) -> None:
    one, other = relays
    assert one.newest() == 0
    assert [one.begin(), other.begin(), one.begin()] == [1, 2, 3]
    assert one.newest() == other.newest() == 3


@pytest.mark.parametrize(
    "switches",
    [
        Switches(),
        Switches(paused=True, awake_until=NOW + timedelta(hours=4)),
        Switches(strategy="captain", tags=("a", "b:c"), at_once=4),
        Switches(tags=()),
    ],
)
def test_what_an_operator_sets_is_what_the_functions_read(
    table: DynamoTable, switches: Switches
) -> None:
    DynamoSwitchboard(table).set(Switches(strategy="set before", at_once=9))
    DynamoSwitchboard(table).set(switches)
    assert DynamoSwitchboard(table).read() == switches


def test_a_pause_of_version_0_2_holds_when_a_stack_is_updated(table: DynamoTable) -> None:
    item = {"paused": {"BOOL": True}, "turned_at": items.moment(NOW)}
    table.put({**items.key("control", "pause"), **item})
    assert DynamoSwitchboard(table).read() == Switches(paused=True)
