"""Long polls: woken by what they wait for, ended by time or hang-up; and who is there."""

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
from support.cloud_arena import Opened
from support.waiting import until

from cardsharp.games.deadmansdraw.arena import local_arena
from cardsharp_tools.local_server.arena_server import ArenaServer


def new_match(arena: ArenaServer) -> str:
    """A match in which Alice begins."""
    return arena.create_match_and_get_id([ALICE, BOB], tags=["t"], seed="norandom")


def end_alices_turn(client: ArenaHttpClient, match: str) -> None:
    for verb in ("Draw", "EndTurn"):
        assert client.post(f"/api/matches/{match}", ALICE, {"etype": verb}).status == 200


def test_a_waiting_client_is_woken_by_the_event_it_waits_for(
    opened: Opened, tmp_path: Path
) -> None:
    """By a match, by a turn in it, by its end, by the arena's: nobody's line just breaks.

    A new match of another tag, or at the other's turn, does not end the wait for a turn.
    """
    with opened(tmp_path, long_poll_timeout=timedelta(minutes=5)) as (arena, client):
        queries = ("active=1&wait=1", "active=1&wait=1&tags=t", "wait=1")
        news = [
            BackgroundRequest(arena, "GET", f"/api/matches?{query}", ALICE) for query in queries
        ]
        turn = BackgroundRequest(arena, "GET", "/api/matches?active=1&wait=1&tags=t", BOB)
        match = new_match(arena)
        assert [poll.response().json()[0]["_id"] for poll in news] == [match] * 3
        arena.create_match_and_get_id([BOB, BOB], tags=["other"])
        assert arena.long_poll_count == 1
        end_alices_turn(client, match)
        assert [entry["_id"] for entry in turn.response().json()] == [match]
        wait_requests = (("GET", "waitactive"), ("POST", "wait"))
        ends = [
            BackgroundRequest(arena, method, f"/api/matches/{match}?{flag}=1", ALICE)
            for method, flag in wait_requests
        ]
        client.request("DELETE", f"/api/matches/{match}/terminate", ADMIN, {})
        responses = [poll.response() for poll in ends]
        assert [(response.status, "events" in response.json()) for response in responses] == [
            (410, False),
            (410, True),
        ]
        match = new_match(arena)
        looking = BackgroundRequest(arena, "GET", f"/api/matches/{match}?waitactive=1", BOB)
        listing = BackgroundRequest(arena, "GET", "/api/matches?active=1&wait=1", DUMMY)
    assert looking.response().status == 409
    assert listing.response().json() == []


def test_a_client_that_hangs_up_is_forgotten_and_its_action_not_played(tmp_path: Path) -> None:
    """Two hundred others get their answers."""
    with running_arena(tmp_path, long_poll_timeout=timedelta(minutes=5)) as (arena, client):
        match = new_match(arena)
        gone = [
            BackgroundRequest(arena, "GET", f"/api/matches/{match}?waitactive=1", BOB),
            BackgroundRequest(arena, "GET", "/api/matches?wait=1&active=1", BOB),
            BackgroundRequest(arena, "POST", f"/api/matches/{match}?wait=1", BOB),
        ]
        for poll in gone:
            poll.disconnect()
        until(lambda: arena.long_poll_count == 0)
        look = f"/api/matches/{match}?waitactive=1&condensed=1"
        polls = [BackgroundRequest(arena, "GET", look, BOB) for _ in range(200)]
        assert arena.long_poll_count == 200
        end_alices_turn(client, match)
        assert {poll.response().status for poll in polls} == {200}
        assert arena.long_poll_count == 0
        assert client.get(f"/api/matches/{match}", BOB).json()["moveCount"] == 3


def test_a_move_wakes_spectators_with_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more than there is room for is answered at once, with nothing new."""
    monkeypatch.setattr(local_arena, "MAX_WAITING_SPECTATORS", 1)
    limit = timedelta(minutes=5)
    with running_arena(tmp_path, long_poll_timeout=limit, is_public=True) as (arena, client):
        match = new_match(arena)
        steps = f"/matches/{match}/steps?from=1&wait=1"
        poll = BackgroundRequest(arena, "GET", steps, None)
        assert client.get(f"{steps}&other=1", None).json()["steps"] == []
        assert client.post(f"/api/matches/{match}", ALICE, {"etype": "Draw"}).status == 200
        assert len(poll.response().json()["steps"]) == 1
        until(lambda: arena.long_poll_count == 0)
        second_poll = BackgroundRequest(arena, "GET", f"/matches/{match}/steps?from=2&wait=1", None)
        client.request("DELETE", f"/api/matches/{match}/terminate", ADMIN, {})
        assert second_poll.response().json()["over"]


def test_a_page_keeps_its_pace_while_teams_see_all_at_once(tmp_path: Path) -> None:
    """Spectators see one move at a time and then the end, even of a match played in a moment.

    Teams see the match as it is: only the page lags behind.
    """
    clock, pace = ManualClock(), timedelta(seconds=60)
    options = {
        "clock": clock,
        "is_public": True,
        "min_page_interval": pace,
        "long_poll_timeout": timedelta(seconds=0.1),
    }
    with running_arena(tmp_path, **options) as (arena, client):
        match = new_match(arena)
        client.post(f"/api/matches/{match}", ALICE, {"etype": "Draw"})
        client.request("DELETE", f"/api/matches/{match}/terminate", ADMIN, {})

        assert client.get(f"/api/matches/{match}", ALICE).json()["moveCount"] == 3
        for steps in (1, 2, 3):
            news = client.get(f"/matches/{match}/steps?from=3&wait=1", None).json()
            assert (news["total"], news["over"]) == (steps, steps == 3)
            page = client.get(f"/matches/{match}", None).text
            assert (f"?step={steps}" in page, f"?step={steps + 1}" in page) == (True, False)
            clock.advance(pace)


# --- who is there: how long ago the arena heard of each player's client ----------------------


def idle(client: ArenaHttpClient) -> dict[str, float | None]:
    players = client.get("/api/players?idle=1", ADMIN).json()
    return {player["_id"]: player["idleSeconds"] for player in players}


def test_a_player_counts_as_present_by_polling_or_acting(tmp_path: Path) -> None:
    """At first nobody is; a list of old matches, such as a page asks for, is no sign of a bot.

    Who waits is heard of again when the wait is over.
    """
    clock = ManualClock()
    with running_arena(tmp_path, clock=clock, long_poll_timeout=timedelta(minutes=5)) as (
        arena,
        client,
    ):
        assert set(idle(client).values()) == {None}
        assert all(
            "idleSeconds" not in player for player in client.get("/api/players", ADMIN).json()
        )
        for path in ("/api/matches", "/api/whoami", "/api/matches?at=today&condensed=1"):
            client.get(path, ALICE)
        assert idle(client)[ALICE] is None
        client.get("/api/matches?active=1", ALICE)
        clock.advance(timedelta(seconds=9))
        assert (idle(client)[ALICE], idle(client)[BOB]) == (9.0, None)
        match = arena.create_match_and_get_id([ALICE, BOB], seed="norandom")
        client.post(f"/api/matches/{match}", BOB, {"etype": "Draw"})
        assert idle(client)[BOB] == 0.0
        client.request("DELETE", f"/api/matches/{match}/terminate", ADMIN, {})
        poll = BackgroundRequest(arena, "GET", "/api/matches?active=1&wait=1", ALICE)
        clock.advance(timedelta(seconds=25))
        assert idle(client)[ALICE] == 25.0
        new_match(arena)
        assert poll.response().status == 200
        assert idle(client)[ALICE] == 0.0
