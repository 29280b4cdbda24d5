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
from cardsharp.cloud.relay import Alone
from cardsharp.cloud.switches import NoSwitchboard, Switches

NOW = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.fixture(params=["ministack", "moto"])
def table(request: pytest.FixtureRequest) -> Iterator[DynamoTable]:
    if request.param == "moto":
        client = request.getfixturevalue("moto")
    else:
        client = request.getfixturevalue("emulator").client("dynamodb")
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


def test_nothing_is_set_in_a_new_table(table: DynamoTable) -> None:
    assert DynamoSwitchboard(table).read() == Switches()
    assert NoSwitchboard().read().awake_until == datetime.max.replace(tzinfo=UTC)


def test_a_pause_of_version_0_2_holds_when_a_stack_is_updated(table: DynamoTable) -> None:
    item = {"paused": {"BOOL": True}, "turned_at": items.moment(NOW)}
    table.put({**items.key("control", "pause"), **item})
    assert DynamoSwitchboard(table).read() == Switches(paused=True)


def test_what_was_written_into_the_table_by_hand_may_be_wrong(table: DynamoTable) -> None:
    item = {"at_once": {"N": "-1"}, "strategy": {"S": "captain"}, "tags": {"L": []}}
    table.put({**items.key("control", "pause"), **item})
    assert DynamoSwitchboard(table).read() == Switches(strategy="captain", tags=())


def test_a_poller_at_home_has_no_successor() -> None:
    assert Alone().begin() == Alone().newest()
