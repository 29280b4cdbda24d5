"""What a stack played is kept on this machine before its table drops it."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from support.cloud_benches import environment
from support.cloud_clock import FakeClock

from cardsharp.cloud.adapters import build_log
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.dynamodb import DynamoLog
from workbench.cloud.emulator import Emulator
from workbench.operate.export import export

TTL = timedelta(seconds=30)


@pytest.fixture
def log(emulator: Emulator) -> Iterator[DynamoLog]:
    table = emulator.create(prefix="export").tables["Matches"]
    with environment(emulator.environment):
        yield DynamoLog(table, FakeClock(), keep=timedelta(days=90))


def played(log: DynamoLog, name: str) -> None:
    lease = log.take(name, "ann", TTL, {"game": "deadmansdraw"})
    assert lease is not None
    log.intend(lease, 0, {"action": "Draw"})
    log.record(lease, {0: {"drew": "Key2"}, 1: {"ended": True}})
    log.finish(lease, {"result": "won"})


def test_finished_matches_are_copied_once_with_all_that_they_have(
    log: DynamoLog, tmp_path: Path
) -> None:
    played(log, "first")
    assert log.take("running", "ann", TTL) is not None
    file = tmp_path / "mine.db"
    assert export(log, file) == 1
    played(log, "second")
    assert export(log, file) == 1, "only what is new"
    here = build_log(f"sqlite:{file}", SystemClock())
    assert {one.match_id for one in here.matches()} == {"first", "second"}
    copy, origin = here.match("first"), log.match("first")
    assert copy is not None
    assert origin is not None
    assert (copy.header, copy.outcome) == (origin.header, origin.outcome)
    assert (copy.started, copy.finished) == (origin.started, origin.finished)
    assert here.moves("first") == log.moves("first")
