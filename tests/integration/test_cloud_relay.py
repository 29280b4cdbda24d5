"""The pollers' generations in the match log's table."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from support.cloud_benches import dynamo_log

from cardsharp.cloud.dynamodb import DynamoLog
from cardsharp.cloud.dynamodb_relay import DynamoRelay
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.relay import Alone

NOW = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.fixture(params=["ministack", "moto"])
def relays(request: pytest.FixtureRequest) -> Iterator[tuple[DynamoRelay, DynamoRelay]]:
    """One relay as two pollers see it."""
    if request.param == "moto":
        client = request.getfixturevalue("moto")
    else:
        client = request.getfixturevalue("emulator").client("dynamodb")
    with dynamo_log(client) as bench:
        assert isinstance(bench.log, DynamoLog)
        table = DynamoTable(bench.log._table.name, client)
        yield DynamoRelay(table), DynamoRelay(table)


def test_each_poller_begins_the_next_generation_and_all_see_it(
    relays: tuple[DynamoRelay, DynamoRelay],
) -> None:
    one, other = relays
    assert one.newest() == 0
    assert [one.begin(), other.begin(), one.begin()] == [1, 2, 3]
    assert one.newest() == other.newest() == 3


def test_an_operator_keeps_quiet_pollers_awake_for_a_while(
    relays: tuple[DynamoRelay, DynamoRelay],
) -> None:
    one, operator = relays
    assert one.awake_until() < NOW
    operator.stay_awake(NOW + timedelta(hours=4))
    assert one.awake_until() == NOW + timedelta(hours=4)
    assert Alone().awake_until() > NOW


def test_a_poller_at_home_has_no_successor() -> None:
    assert Alone().begin() == Alone().newest()
