"""What `cardsharp cloud set` and `export` write, refuse and say, at a stack's own tables."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.cloud_benches import dynamo_log, environment
from support.cloud_clock import FakeClock

from cardsharp.cloud.adapters import build_log
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.dynamodb import DynamoLog
from cardsharp.cloud.switches import Switches
from cardsharp.deadmansdraw.game import GAME
from cardsharp.errors import ConfigError
from workbench.cli.switching import SwitchesWanted, listening, settings
from workbench.cloud.emulator import Emulator
from workbench.operate.export import export
from workbench.operate.stack import Stack
from workbench.operate.switching import change, held

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

NOW = datetime.now(UTC)
DEPLOYED = {"Strategy": "", "MatchTags": "day one, b", "MatchLimit": "6", "Listening": "quiet"}


@pytest.fixture
def stack(moto: "DynamoDBClient") -> Iterator[Stack]:
    with dynamo_log(moto) as bench:
        assert isinstance(bench.log, DynamoLog)
        outputs = {"MatchTable": bench.log._table.name}
        yield Stack(
            name="test",
            changed=NOW,
            protected=False,
            parameters=DEPLOYED,
            outputs=outputs,
            ids={},
            client=lambda _service: moto,
        )


def test_what_is_set_holds_until_its_default_is_asked_for(stack: Stack) -> None:
    change(stack, paused=True)
    change(stack, **SwitchesWanted(strategy="draw-2", tag=("final",), at_once=4).changes())
    assert settings(held(stack)) == "strategy draw-2 (set), tags final (set), 4 at once (set)"
    change(stack, **SwitchesWanted(all_tags=True, default=("strategy", "at-once")).changes())
    assert settings(held(stack)) == f"strategy {GAME.default_strategy}, all tags (set), 6 at once"
    assert stack.switchboard.read() == Switches(paused=True, tags=())


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (
            SwitchesWanted(strategy="captian"),
            "No strategy is called 'captian'. There are: .*captain",
        ),
        (SwitchesWanted(at_once=7), "At most 6 can be played at once: that is MatchLimit"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(
    stack: Stack, wanted: SwitchesWanted, told: str
) -> None:
    change(stack, strategy="draw-3")
    with pytest.raises(ConfigError, match=told):
        change(stack, tags=("final",), **wanted.changes())
    assert stack.switchboard.read() == Switches(strategy="draw-3")


def test_a_quiet_stack_says_when_it_listens_all_the_same(stack: Stack) -> None:
    assert listening(held(stack)) == "quiet"
    change(stack, awake_until=NOW + timedelta(hours=4))
    assert listening(held(stack)).startswith("quiet, always until 20")
    change(stack, awake_until=NOW - timedelta(hours=4))
    assert listening(held(stack)) == "quiet"


# --- a copy of what was played --------------------------------------------------------------------


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
