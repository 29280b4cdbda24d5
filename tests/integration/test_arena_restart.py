"""Matches survive the arena's process, however it ends."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.arena import (
    ADMIN,
    ADMIN_PASSWORD,
    ALICE,
    BOB,
    DUMMY,
    Client,
    running_arena,
    write_players,
)
from support.cli import program

from cardsharp.deadmansdraw.arena import referee
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.arena.randomness import Randomness
from cardsharp.deadmansdraw.arena.storage import SqliteStorage
from cardsharp.errors import ConfigError
from workbench.arena.server import ArenaServer


@contextmanager
def running(folder: Path, randomness: Randomness) -> Iterator[Client]:
    """A client of an arena in a process of its own, which is killed without warning."""
    files = ("--players", str(write_players(folder)), "--data", str(folder / "arena.db"))
    told = {"ARENA_ADMIN_PASSWORD": ADMIN_PASSWORD, "XDG_DATA_HOME": str(folder)}
    options = ("--port", "0", "--json", "--random", randomness)
    with program("arena", *options, *files, environment=told) as process:
        assert process.stdout is not None
        client = Client(json.loads(process.stdout.readline())["url"])
        yield client
        client.close()


def some_action(view: dict[str, Any], rng: Random) -> dict[str, Any]:
    started = view["moveCountInTurn"] is not None and view["state"]["playArea"]
    verb = "EndTurn" if started and rng.random() < 0.4 else "Draw"
    return {"etype": verb, "autopick": True}


def play_on(client: Client, match: str, rng: Random, moves: int) -> None:
    """Some moves, or as many as there are."""
    for _ in range(moves):
        view = client.get(f"/api/matches/{match}", ADMIN).json()
        index = view["activePlayerIndex"]
        if index is None:
            return
        player = view["playerids"][index]
        answer = client.post(f"/api/matches/{match}", player, some_action(view, rng))
        assert answer.status == 200, answer.text


def looks(client: Client, match: str) -> list[bytes]:
    """Everything that can be seen of a match, byte for byte."""
    path = f"/api/matches/{match}"
    return [
        client.get(f"{path}?showevents=1&showdebug=1", ADMIN).raw,
        client.get(f"{path}?showevents=1", ALICE).raw,
        client.get("/api/matches", ADMIN).raw,
        client.get("/api/matches?active=1", ALICE).raw,
        client.get("/api/matches?active=1", BOB).raw,
    ]


@pytest.mark.parametrize(
    "randomness", [Randomness.FAIR, pytest.param(Randomness.ORIGINAL, marks=pytest.mark.slow)]
)
def test_a_match_goes_on_after_restarts_as_it_would_have(
    tmp_path: Path, randomness: Randomness
) -> None:
    """Nothing that was answered is lost to `kill -9`, byte for byte; the same events to the end."""
    wish = {"playerids": [ALICE, BOB], "randomSeed": "goes on", "tags": ["a", "b"], "timeout": 600}
    rng = Random(4)
    with running(tmp_path, randomness) as client:
        match = client.post("/api/matches", ADMIN, wish).json()["id"]
        play_on(client, match, rng, 28)
        before = looks(client, match)
    with running(tmp_path, randomness) as client:
        assert looks(client, match) == before
        play_on(client, match, rng, 500)
        restarted = client.get(f"/api/matches/{match}?showevents=1", ADMIN).json()
    with running_arena(tmp_path, randomness=randomness) as (_, client):
        match = client.post("/api/matches", ADMIN, wish).json()["id"]
        play_on(client, match, Random(4), 528)
        whole = client.get(f"/api/matches/{match}?showevents=1", ADMIN).json()
    assert whole["activePlayerIndex"] is None
    assert [move["events"] for move in restarted["moves"]] == [
        move["events"] for move in whole["moves"]
    ]


def test_a_match_keeps_the_chance_it_began_with(tmp_path: Path) -> None:
    """An arena that is restarted with the other randomness plays old matches as before."""
    data = tmp_path / "arena.db"
    with running_arena(tmp_path, data=data, randomness=Randomness.ORIGINAL) as (arena, _):
        match = arena.create_match([ALICE, BOB])
    with running_arena(tmp_path, data=data, randomness=Randomness.FAIR) as (arena, _):
        assert arena._arena.referee.find(match).randomness is Randomness.ORIGINAL
        new = arena.create_match([ALICE, BOB])
        assert arena._arena.referee.find(new).randomness is Randomness.FAIR


def test_one_data_file_serves_one_arena(tmp_path: Path) -> None:
    """A second arena on the same file is refused in one sentence, and harms nothing."""
    data = tmp_path / "arena.db"
    with running_arena(tmp_path, data=data) as (arena, _):
        with pytest.raises(ConfigError, match="another arena"):
            ArenaServer(ArenaConfig(data=data))
        assert arena.create_match([ALICE, DUMMY])


def test_what_cannot_be_stored_does_not_happen(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk the answer is a 503 and the match stays as it was; later it goes on.

    Why it was is for the log alone.
    """
    with running_arena(tmp_path, data=tmp_path / "arena.db") as (arena, client):
        path = f"/api/matches/{arena.create_match([ALICE, BOB])}"
        before = client.get(f"{path}?showevents=1").raw
        storage = arena._arena._storage
        assert isinstance(storage, SqliteStorage)
        storage._file._db.execute("PRAGMA max_page_count = 1")  # not a page more than there are
        monkeypatch.setattr(referee, "LONGEST_COMMENT", 60_000)
        long_comment = {"comment": "x" * 60_000}
        refused = client.ask("DELETE", f"{path}/terminate", ADMIN, long_comment)
        assert (refused.status, "full" in refused.text) == (503, False)
        assert "full" in caplog.text
        assert client.get(f"{path}?showevents=1").raw == before
        storage._file._db.execute("PRAGMA max_page_count = 100000")
        assert client.ask("DELETE", f"{path}/terminate", ADMIN, long_comment).status == 200
