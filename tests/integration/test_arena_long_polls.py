"""Tests of long polls, of how they end, and of the presence of players."""

from datetime import timedelta
from pathlib import Path

import pytest
from support.arena_server import (
    ADMIN,
    ALICE,
    BOB,
    DUMMY,
    ArenaHttpClient,
    BackgroundRequest,
    ManualClock,
    running_arena,
)
from support.cloud_arena import ArenaFactory
from support.waiting import wait_until

from cardsharp.games.deadmansdraw.arena import local_arena
from cardsharp_tools.local_server.arena_server import ArenaServer


def create_match(arena: ArenaServer) -> str:
    """Create a match in which Alice begins."""
    return arena.create_match_and_get_id([ALICE, BOB], tags=["t"], seed="norandom")


def end_alices_turn(client: ArenaHttpClient, match: str) -> None:
    for verb in ("Draw", "EndTurn"):
        assert client.post(f"/api/matches/{match}", ALICE, {"etype": verb}).status == 200


def test_a_waiting_client_is_woken_by_the_event_it_waits_for(
    opened: ArenaFactory, tmp_path: Path
) -> None:
    """A long poll ends with a response on a new match, a turn, or the end of match or arena.

    A new match with another tag, or with the opponent's turn, does not end the wait for a
    turn.
    """
    with opened(tmp_path, long_poll_timeout=timedelta(minutes=5)) as (arena, client):
        queries = ("active=1&wait=1", "active=1&wait=1&tags=t", "wait=1")
        match_polls = [
            BackgroundRequest(arena, "GET", f"/api/matches?{query}", ALICE) for query in queries
        ]
        turn_poll = BackgroundRequest(arena, "GET", "/api/matches?active=1&wait=1&tags=t", BOB)
        match = create_match(arena)
        assert [poll.response().json()[0]["_id"] for poll in match_polls] == [match] * 3
        arena.create_match_and_get_id([BOB, BOB], tags=["other"])
        assert arena.long_poll_count == 1
        end_alices_turn(client, match)
        assert [entry["_id"] for entry in turn_poll.response().json()] == [match]
        wait_requests = (("GET", "waitactive"), ("POST", "wait"))
        end_polls = [
            BackgroundRequest(arena, method, f"/api/matches/{match}?{flag}=1", ALICE)
            for method, flag in wait_requests
        ]
        client.request("DELETE", f"/api/matches/{match}/terminate", ADMIN, {})
        responses = [poll.response() for poll in end_polls]
        assert [(response.status, "events" in response.json()) for response in responses] == [
            (410, False),
            (410, True),
        ]
        match = create_match(arena)
        view_poll = BackgroundRequest(arena, "GET", f"/api/matches/{match}?waitactive=1", BOB)
        list_poll = BackgroundRequest(arena, "GET", "/api/matches?active=1&wait=1", DUMMY)
    assert view_poll.response().status == 409
    assert list_poll.response().json() == []


def test_a_poll_of_a_disconnected_client_ends(tmp_path: Path) -> None:
    """The polls of a disconnected client end, and two hundred other clients get responses."""
    with running_arena(tmp_path, long_poll_timeout=timedelta(minutes=5)) as (arena, client):
        match = create_match(arena)
        abandoned_polls = [
            BackgroundRequest(arena, "GET", f"/api/matches/{match}?waitactive=1", BOB),
            BackgroundRequest(arena, "GET", "/api/matches?wait=1&active=1", BOB),
            BackgroundRequest(arena, "POST", f"/api/matches/{match}?wait=1", BOB),
        ]
        for poll in abandoned_polls:
            poll.disconnect()
        wait_until(lambda: arena.long_poll_count == 0)
        path = f"/api/matches/{match}?waitactive=1&condensed=1"
        polls = [BackgroundRequest(arena, "GET", path, BOB) for _ in range(200)]
        assert arena.long_poll_count == 200
        end_alices_turn(client, match)
        assert {poll.response().status for poll in polls} == {200}
        assert arena.long_poll_count == 0
        assert client.get(f"/api/matches/{match}", BOB).json()["moveCount"] == 3


def test_a_move_wakes_a_limited_number_of_spectators(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spectator beyond the limit gets a response at once, without a new step."""
    monkeypatch.setattr(local_arena, "MAX_WAITING_SPECTATORS", 1)
    limit = timedelta(minutes=5)
    with running_arena(tmp_path, long_poll_timeout=limit, is_public=True) as (arena, client):
        match = create_match(arena)
        path = f"/matches/{match}/steps?from=1&wait=1"
        poll = BackgroundRequest(arena, "GET", path, None)
        assert client.get(f"{path}&other=1", None).json()["steps"] == []
        assert client.post(f"/api/matches/{match}", ALICE, {"etype": "Draw"}).status == 200
        assert len(poll.response().json()["steps"]) == 1
        wait_until(lambda: arena.long_poll_count == 0)
        second_poll = BackgroundRequest(arena, "GET", f"/matches/{match}/steps?from=2&wait=1", None)
        client.request("DELETE", f"/api/matches/{match}/terminate", ADMIN, {})
        assert second_poll.response().json()["over"]


def test_a_page_shows_moves_at_a_limited_pace(tmp_path: Path) -> None:
    """Spectators see one move at a time, even of a match that is played in a moment.

    Teams see the current state of the match; only the page is delayed.
    """
    clock, min_interval = ManualClock(), timedelta(seconds=60)
    options = {
        "clock": clock,
        "is_public": True,
        "min_page_interval": min_interval,
        "long_poll_timeout": timedelta(seconds=0.1),
    }
    with running_arena(tmp_path, **options) as (arena, client):
        match = create_match(arena)
        client.post(f"/api/matches/{match}", ALICE, {"etype": "Draw"})
        client.request("DELETE", f"/api/matches/{match}/terminate", ADMIN, {})

        assert client.get(f"/api/matches/{match}", ALICE).json()["moveCount"] == 3
        for step_count in (1, 2, 3):
            steps_page = client.get(f"/matches/{match}/steps?from=3&wait=1", None).json()
            assert (steps_page["total"], steps_page["over"]) == (step_count, step_count == 3)
            page = client.get(f"/matches/{match}", None).text
            assert (f"?step={step_count}" in page, f"?step={step_count + 1}" in page) == (
                True,
                False,
            )
            clock.advance(min_interval)


# --- who is there: how long ago the arena heard of each player's client ----------------------


def read_idle_seconds(client: ArenaHttpClient) -> dict[str, float | None]:
    players = client.get("/api/players?idle=1", ADMIN).json()
    return {player["_id"]: player["idleSeconds"] for player in players}


def test_a_player_counts_as_present_by_polling_or_acting(tmp_path: Path) -> None:
    """At first no player is present; a list of old matches does not mark a player as present.

    A waiting player counts as present again when the wait ends.
    """
    clock = ManualClock()
    with running_arena(tmp_path, clock=clock, long_poll_timeout=timedelta(minutes=5)) as (
        arena,
        client,
    ):
        assert set(read_idle_seconds(client).values()) == {None}
        assert all(
            "idleSeconds" not in player for player in client.get("/api/players", ADMIN).json()
        )
        for path in ("/api/matches", "/api/whoami", "/api/matches?at=today&condensed=1"):
            client.get(path, ALICE)
        assert read_idle_seconds(client)[ALICE] is None
        client.get("/api/matches?active=1", ALICE)
        clock.advance(timedelta(seconds=9))
        assert (read_idle_seconds(client)[ALICE], read_idle_seconds(client)[BOB]) == (9.0, None)
        match = arena.create_match_and_get_id([ALICE, BOB], seed="norandom")
        client.post(f"/api/matches/{match}", BOB, {"etype": "Draw"})
        assert read_idle_seconds(client)[BOB] == 0.0
        client.request("DELETE", f"/api/matches/{match}/terminate", ADMIN, {})
        poll = BackgroundRequest(arena, "GET", "/api/matches?active=1&wait=1", ALICE)
        clock.advance(timedelta(seconds=25))
        assert read_idle_seconds(client)[ALICE] == 25.0
        create_match(arena)
        assert poll.response().status == 200
        assert read_idle_seconds(client)[ALICE] == 0.0
