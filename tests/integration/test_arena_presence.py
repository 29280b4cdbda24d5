"""Who is there: the organiser learns how long ago the arena heard of each player's client."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from support.arena import ADMIN, ALICE, BOB, Client, HandClock, Poll, running_arena, until

from workbench.arena.server import ArenaServer

Running = tuple[ArenaServer, Client, HandClock]


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    clock = HandClock()
    limits = {"clock": clock, "poll_timeout": timedelta(minutes=5)}
    with running_arena(tmp_path, **limits) as (arena, client):
        yield arena, client, clock


def idle(client: Client) -> dict[str, float | None]:
    """The seconds of all that are known."""
    found = client.get("/api/players?idle=1", ADMIN).json()
    return {player["_id"]: player["idleSeconds"] for player in found}


def test_a_player_is_there_who_asks_for_a_match_or_acts(running: Running) -> None:
    """At first nobody is; a list of old matches, such as a page asks for, is no sign of a bot."""
    arena, client, clock = running
    assert set(idle(client).values()) == {None}
    assert all("idleSeconds" not in one for one in client.get("/api/players", ADMIN).json())
    for path in ("/api/matches", "/api/whoami", "/api/matches?at=today&condensed=1"):
        client.get(path, ALICE)
    assert idle(client)[ALICE] is None
    client.get("/api/matches?active=1", ALICE)
    clock.turn(timedelta(seconds=9))
    assert (idle(client)[ALICE], idle(client)[BOB]) == (9.0, None)
    match = arena.create_match([ALICE, BOB], seed="norandom")
    client.post(f"/api/matches/{match}", BOB, {"etype": "Draw"})
    assert idle(client)[BOB] == 0.0


def test_who_waits_is_heard_of_again_when_the_wait_is_over(running: Running) -> None:
    """However long it was."""
    arena, client, clock = running
    poll = Poll(arena, "GET", "/api/matches?active=1&wait=1", ALICE)
    until(lambda: arena.waiting == 1)
    clock.turn(timedelta(seconds=25))
    assert idle(client)[ALICE] == 25.0
    match = arena.create_match([ALICE, BOB], seed="norandom")
    assert poll.answer().status == 200
    assert idle(client)[ALICE] == 0.0
    clock.turn(timedelta(seconds=5))
    client.get(f"/api/matches/{match}?waitactive=1", ALICE)
    assert idle(client)[ALICE] == 0.0
