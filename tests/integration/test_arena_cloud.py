"""Tests of the arena in the cloud: many processes that share one table."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
import requests
from fault_simulation.faults import FaultInjector, FaultKind, FaultPlan
from fault_simulation.stores import AWS_ERRORS
from fault_simulation.virtual_clock import VirtualClock
from requests.auth import HTTPDigestAuth
from support.arena_server import (
    ADMIN,
    ALICE,
    BOB,
    PASSWORDS,
    ArenaHttpClient,
    BackgroundRequest,
    ManualClock,
    write_players,
)
from support.cloud_arena import ITEM_TTL, ArenaFactory, cloud_arena_factory

from cardsharp.aws.dynamodb_attributes import item_key, string_attribute
from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.errors import StoreError, WriteConflict
from cardsharp.games.deadmansdraw.arena.access.dynamo_players import (
    PLAYER_CACHE_TTL,
    PLAYERS_PARTITION,
)
from cardsharp.games.deadmansdraw.arena.match import (
    ArenaMatch,
    RequestTimeAndAddress,
    end_overdue_turn,
)
from cardsharp.games.deadmansdraw.arena.storage.dynamo_repository import (
    MAX_NEWEST,
    DynamoMatchRepository,
)
from cardsharp.games.deadmansdraw.arena.storage.match_repository import (
    MATCH_CREATED,
    TURN_OVER,
    TURN_STARTED,
    WaitTopic,
)
from cardsharp_tools.games.deadmansdraw.emulated_arena import create_arena_table
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.local_server.arena_server import ArenaServer

ArenaPair = tuple[tuple[ArenaServer, ArenaHttpClient], tuple[ArenaServer, ArenaHttpClient]]


@pytest.fixture
def opened(emulator: Emulator) -> ArenaFactory:
    return cloud_arena_factory(emulator)


@pytest.fixture
def table(emulator: Emulator, tmp_path: Path) -> DynamoTable:
    return create_arena_table(emulator, write_players(tmp_path))


@pytest.fixture
def arena_pair(opened: ArenaFactory, table: DynamoTable, tmp_path: Path) -> Iterator[ArenaPair]:
    with opened(tmp_path, table=table) as first, opened(tmp_path, table=table) as second:
        yield first, second


def test_simultaneous_actions_are_applied_one_at_a_time(arena_pair: ArenaPair) -> None:
    """Each of the simultaneous actions is applied once or rejected."""
    (first_arena, first_client), (second_arena, _) = arena_pair
    match = first_arena.create_match_and_get_id([ALICE, BOB], seed="norandom")
    start = Barrier(8)

    def draw(number: int) -> int:
        with closing(ArenaHttpClient((first_arena, second_arena)[number % 2].url)) as client:
            start.wait()
            return client.post(f"/api/matches/{match}", ALICE, {"etype": "Draw"}).status

    with ThreadPoolExecutor(8) as threads:
        statuses = list(threads.map(draw, range(8)))
    moves = first_client.get(f"/api/matches/{match}?showevents=1", ADMIN).json()["moves"]
    assert [move["sequenceId"] for move in moves] == list(range(1 + statuses.count(200)))
    assert len(moves) > 1
    assert set(statuses) <= {200, 400, 409, 503}


def test_a_nonce_and_a_wait_work_across_processes(arena_pair: ArenaPair) -> None:
    """A nonce is sealed with the organiser's password, which all processes know."""
    (first_arena, _), (second_arena, second_client) = arena_pair
    with requests.Session() as session:
        session.auth = HTTPDigestAuth(ALICE, PASSWORDS[ALICE])
        responses = [
            session.get(f"{arena.url}/api/whoami")
            for arena in (first_arena, second_arena, first_arena, second_arena)
        ]
    results = [(response.status_code, len(response.history)) for response in responses]
    assert results == [(200, 1), (200, 0), (200, 0), (200, 0)]
    match = first_arena.create_match_and_get_id([ALICE, BOB], seed="norandom")
    polls = [
        BackgroundRequest(first_arena, "GET", f"/api/matches/{match}?waitactive=1", BOB),
        BackgroundRequest(first_arena, "GET", "/api/matches?active=1&wait=1", BOB),
    ]
    for verb in ("Draw", "EndTurn"):
        assert second_client.post(f"/api/matches/{match}", ALICE, {"etype": verb}).status == 200
    assert [poll.response().status for poll in polls] == [200, 200]


def test_changes_of_teams_and_passwords_apply_without_a_restart(
    opened: ArenaFactory, table: DynamoTable, emulator: Emulator, tmp_path: Path
) -> None:
    clock = ManualClock()
    with opened(tmp_path, table=table, clock=clock) as (_, client):
        assert client.get("/api/whoami").status == 200
        emulator.client("dynamodb").delete_item(
            TableName=table.name, Key=item_key(PLAYERS_PARTITION, ALICE)
        )
        table.put(
            {
                **item_key(PLAYERS_PARTITION, "c" * 24),
                "player_name": string_attribute("no password"),
            }
        )
        clock.advance(PLAYER_CACHE_TTL)
        assert client.get("/api/whoami").status == 401
        names = [player["name"] for player in client.get("/api/players", ADMIN).json()]
        assert "Bob" in names
        assert "no password" not in names


def test_a_late_turn_is_ended_by_another_process(
    opened: ArenaFactory, table: DynamoTable, tmp_path: Path
) -> None:
    """A new process does not extend a turn."""
    clock = ManualClock()
    with opened(tmp_path, table=table, clock=clock) as (arena, _):
        match = arena.create_match_and_get_id([ALICE, BOB], timeout=timedelta(seconds=7))
    clock.advance(timedelta(seconds=8))
    with opened(tmp_path, table=table, clock=clock) as (arena, client):
        late_matches = client.request("POST", "/api/matches/watchdog", ADMIN).json()
        assert [entry["_id"] for entry in late_matches] == [match]


def create_match(repository: DynamoMatchRepository, arena: ArenaServer) -> ArenaMatch:
    match_id = arena.create_match_and_get_id(
        [ALICE, BOB], seed="norandom", timeout=timedelta(seconds=1)
    )
    return repository.get(match_id)


def test_a_move_with_a_lost_response_is_made_once(
    arena_pair: ArenaPair, table: DynamoTable
) -> None:
    """A repeated write finds its own receipt; the receipt of another write is a conflict."""
    match = create_match(DynamoMatchRepository(table, ITEM_TTL), arena_pair[0][0])
    notified_matches: list[ArenaMatch] = []
    plan = FaultPlan(VirtualClock(), {0: FaultKind.RESPONSE_LOST})
    faulty_client: Any = FaultInjector(table._client, plan, {"transact_write_items"}, AWS_ERRORS)
    repository = DynamoMatchRepository(
        DynamoTable(table.name, faulty_client), ITEM_TTL, on_move=notified_matches.append
    )
    updated_match, move = end_overdue_turn(
        match, RequestTimeAndAddress(match.last_move_at + timedelta(seconds=2))
    )
    repository.save_move(updated_match, move)
    assert repository.move_history(match.id)[-1] == move
    with pytest.raises(WriteConflict):
        repository.save_move(updated_match, move)
    assert notified_matches == [updated_match]
    assert len(repository.move_history(match.id)) == 2


def test_matches_expire_and_unreadable_ones_are_skipped(
    arena_pair: ArenaPair, table: DynamoTable
) -> None:
    """All items of a match expire; a list skips a damaged match, whose history is an error."""
    (arena, client), _ = arena_pair
    repository = DynamoMatchRepository(table, ITEM_TTL)
    match = create_match(repository, arena)
    partitions = (f"match#{match.id}", "matches", "running", f"player#{ALICE}", f"player#{BOB}")
    items = [item for partition in partitions for item in table.query_prefix(partition)]
    assert len(items) == 6
    expected = int((match.last_move_at + ITEM_TTL).timestamp())
    assert {int(item["expires_at"]["N"]) for item in items} == {expected}
    for sort in ("head", "move#000000"):
        item = dict(table.get(item_key(f"match#{match.id}", sort)) or {})
        body = "match_zip" if sort == "head" else "move_zip"
        table.put({**item, body: {"B": b"broken"}})
    assert client.get("/api/matches").json() == []
    with pytest.raises(StoreError, match="cannot be read"):
        repository.move_history(match.id)


def test_polling_a_topic_reads_little_and_changes_with_its_events(
    arena_pair: ArenaPair, table: DynamoTable
) -> None:
    (arena, client), _ = arena_pair
    repository = DynamoMatchRepository(table, ITEM_TTL)
    match = create_match(repository, arena)
    topic_arguments = (
        (TURN_OVER, match.id),
        (TURN_STARTED, ALICE),
        (TURN_STARTED, BOB),
        (MATCH_CREATED, BOB),
    )
    topics = [WaitTopic(*arguments) for arguments in topic_arguments]
    initial_versions = [repository.topic_version(topic) for topic in topics]
    assert initial_versions == [repository.topic_version(topic) for topic in topics]
    client.post(f"/api/matches/{match.id}", ALICE, {"etype": "Draw"})
    client.post(f"/api/matches/{match.id}", ALICE, {"etype": "EndTurn"})
    updated_versions = [repository.topic_version(topic) for topic in topics]
    assert [old != new for old, new in zip(initial_versions, updated_versions, strict=True)] == [
        True
    ] * 3 + [False]
    for _ in range(MAX_NEWEST + 1):
        arena.create_match_and_get_id([ALICE, BOB], seed="norandom")
    assert repository.topic_version(WaitTopic(MATCH_CREATED, BOB)) != updated_versions[3]
    reads = [repository.topic_version(topic) for topic in topics]
    assert max(len(json.dumps(list(map(str, read or ())))) for read in reads) < 4096
