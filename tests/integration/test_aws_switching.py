"""What `cardsharp cloud set` and `export` write, refuse and say, at a stack's own tables."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.cloud_benches import dynamo_log, known, taken
from support.cloud_clock import FakeClock

from cardsharp.cloud.adapters import build_log
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.dynamodb import DynamoLog
from cardsharp.cloud.ports import MatchLog
from cardsharp.cloud.switches import Switches
from cardsharp.deadmansdraw.game import GAME
from cardsharp.errors import ConfigError
from workbench.cli.switching import SwitchesWanted, listening, settings
from workbench.operate.export import export
from workbench.operate.orders import change, held
from workbench.operate.stack import Stack

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

NOW = datetime.now(UTC)
DEPLOYED = {"Strategy": "", "MatchTags": "day one, b", "MatchLimit": "6", "Listening": "quiet"}


@pytest.fixture
def stack(moto: "DynamoDBClient") -> Iterator[Stack]:
    with dynamo_log(moto) as bench:
        outputs = {"MatchTable": bench.log._table.name}
        yield Stack("test", NOW, False, DEPLOYED, outputs, {}, lambda _service: moto)  # noqa: FBT003


def test_what_is_set_holds_until_its_default_is_asked_for(stack: Stack) -> None:
    change(stack, paused=True)
    change(stack, **SwitchesWanted(strategy="draw-2", tag=("final",), at_once=4).changes())
    assert settings(held(stack)) == "strategy draw-2 (set), tags final (set), 4 at once (set)"
    change(stack, **SwitchesWanted(all_tags=True, default=("strategy", "at-once")).changes())
    assert settings(held(stack)) == f"strategy {GAME.default_strategy}, all tags (set), 6 at once"
    assert stack.switchboard.read() == Switches(paused=True, tags=())


def test_what_cannot_be_is_refused_and_changes_nothing(stack: Stack) -> None:
    change(stack, strategy="draw-3")
    with pytest.raises(ConfigError, match="No strategy is called 'captian'"):
        change(stack, tags=("final",), **SwitchesWanted(strategy="captian").changes())
    with pytest.raises(ConfigError, match="At most 6 can be played at once: that is MatchLimit"):
        change(stack, tags=("final",), **SwitchesWanted(at_once=7).changes())
    assert stack.switchboard.read() == Switches(strategy="draw-3")


def test_a_quiet_stack_says_when_it_listens_all_the_same(stack: Stack) -> None:
    assert listening(held(stack)) == "quiet"
    change(stack, awake_until=NOW + timedelta(hours=4))
    assert listening(held(stack)).startswith("quiet, always until 20")
    change(stack, awake_until=NOW - timedelta(hours=4))
    assert listening(held(stack)) == "quiet"


# --- a copy of what was played --------------------------------------------------------------------


def played(log: MatchLog, name: str) -> None:
    lease = taken(log, name=name)
    log.intend(lease, 0, {"action": "Draw"})
    log.record(lease, {0: {"drew": "Key2"}, 1: {"ended": True}})
    log.finish(lease, {"result": "won"})


def test_finished_matches_are_copied_once_with_all_that_they_have(
    moto: "DynamoDBClient", stack: Stack, tmp_path: Path
) -> None:
    log = DynamoLog(stack.outputs["MatchTable"], FakeClock(), moto, keep=timedelta(days=90))
    played(log, "first")
    taken(log, name="running")
    file = tmp_path / "mine.db"
    assert export(log, file) == 1
    played(log, "second")
    assert export(log, file) == 1, "only what is new"
    here = build_log(f"sqlite:{file}", SystemClock())
    assert {one.match_id for one in here.matches()} == {"first", "second"}
    copy, origin = known(here, "first"), known(log, "first")
    assert (copy.header, copy.outcome) == (origin.header, origin.outcome)
    assert (copy.started, copy.finished) == (origin.started, origin.finished)
    assert here.moves("first") == log.moves("first")
