"""Practice orders: what an operator may ask for, and what is created."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.arena import ADMIN_PASSWORD, ALICE, DUMMY, write_players
from support.bot_events import EVENTS, context, event_of
from support.bot_stage import ours

import practice.app
import worker.app
from cardsharp.cloud.ports import Status
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from workbench.arena.server import ArenaServer
from workbench.bench.judge import intent_faults, log_faults
from workbench.stage.clouds import embedded_in
from workbench.stage.side import assembled

ORDERS = sorted(EVENTS.glob("practice_*.json"))


@contextmanager
def at_arena(
    folder: Path, *, slow_down: bool = False, **more: str
) -> Iterator[tuple[ArenaServer, Any]]:
    config = ArenaConfig(
        players=write_players(folder),
        admin_password=ADMIN_PASSWORD,
        poll_timeout=timedelta(seconds=0.1),
        slow_down=slow_down,
    )
    with ArenaServer(config) as arena:
        variables = {**ours(arena.url), **embedded_in(folder / "matches.db").settings, **more}
        with assembled(variables) as assembly:
            yield arena, assembly


@pytest.mark.parametrize("order", ORDERS, ids=[order.stem for order in ORDERS])
def test_an_ordered_match_is_created_as_ordered_and_played_on_both_sides(
    tmp_path: Path, order: Path
) -> None:
    event = json.loads(order.read_text())
    with at_arena(tmp_path, CARDSHARP_DUMMY_STRATEGY="draw-3") as (arena, assembly):
        ids = practice.app.handler(event, context())["match_ids"]
        while message := assembly.queue.receive(timedelta(0)):
            worker.app.handler(event_of(message.body), context())
            assembly.queue.delete(message)
        wholes = [arena.look(match_id) for match_id in ids]
        faults = [
            fault
            for whole in wholes
            for fault in (
                *log_faults(whole, assembly.log),
                *intent_faults(whole, assembly.log, [ALICE, DUMMY]),
            )
        ]
        finished = assembly.log.matches(status=Status.FINISHED)
    assert len(ids) == event.get("matches", 1)
    assert faults == []
    other = DUMMY if event.get("opponent") == "dummy" else ALICE
    for whole in wholes:
        given = whole["creationParams"]
        assert whole["playerids"] == [ALICE, other]
        assert given.get("tags", []) == event.get("tags", [])
        assert given.get("timeout") == event.get("timeout_seconds")
        assert given.get("drawPile") == event.get("draw_pile")
        assert given.get("banks") == event.get("banks")
        assert "seed" not in event or given["randomSeed"] == event["seed"]
    assert {record.outcome["result"] for record in finished if record.outcome} == {"both seats"}


def test_no_more_matches_are_created_than_the_limit_of_requests_feeds(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """100 requests a minute feed six matches with turns of 7 s, without a limit any number."""
    event = {"matches": 8, "timeout_seconds": 7}
    with at_arena(tmp_path, slow_down=True):
        first = practice.app.handler(event, context())["match_ids"]
        free = practice.app.handler({"matches": 8}, context())["match_ids"]
    assert [len(first), len(free)] == [6, 8]
    assert "created 6 of 8 matches: the limit of requests feeds 6 at once" in caplog.text
