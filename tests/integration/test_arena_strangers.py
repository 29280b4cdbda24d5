"""Clients unlike ours play whole matches, at an arena with 256 file handles, public or not."""

import json
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from support.arena import ADMIN, ADMIN_PASSWORD, ALICE, BOB, PASSWORDS, Client, write_players
from support.strangers import HABITS, Stranger

from cardsharp.access import Credentials, Limits
from cardsharp.deadmansdraw.client import ArenaClient

HANDLES = 256
PLAYING = [name for name, habit in HABITS.items() if not habit.guesses]


def _few_handles() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (HANDLES, HANDLES))


@pytest.fixture(scope="module", params=[False, True], ids=["private", "public"])
def arena(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of `cardsharp arena` in a process of its own."""
    folder = tmp_path_factory.mktemp("arena")
    players = write_players(folder)
    command = [sys.executable, "-m", "workbench.cli", "arena", "--port", "0", "--json"]
    options = ["--players", str(players), *["--public"] * request.param]
    with subprocess.Popen(  # noqa: S603 - our own command
        [*command, *options],
        stdout=subprocess.PIPE,
        env={"ARENA_ADMIN_PASSWORD": ADMIN_PASSWORD},
        preexec_fn=_few_handles,  # noqa: PLW1509 - before it, this process has no other thread
    ) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"]
        process.terminate()


@pytest.mark.parametrize("habit", PLAYING)
def test_two_of_a_kind_play_a_whole_match(arena: str, habit: str) -> None:
    """No action of theirs is refused, and no turn ends by force."""
    client = Client(arena)
    body = {"playerids": [ALICE, BOB], "tags": ["cup"], "timeout": 20}
    match = client.post("/api/matches", ADMIN, body).json()["id"]
    pair = [Stranger(arena, player, PASSWORDS[player], HABITS[habit]) for player in (ALICE, BOB)]
    threads = [threading.Thread(target=one.play, args=(match,), daemon=True) for one in pair]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    view = client.get(f"/api/matches/{match}?showevents=1", ADMIN).json()
    client.close()
    for one in pair:
        one.close()
    comments = [event for move in view["moves"] for event in move["events"] if "comment" in event]
    assert view["activePlayerIndex"] is None
    assert not comments
    assert view["moveCount"] > 30


def test_ours_signs_in_by_digest_where_spectators_are_let_in(arena: str) -> None:
    """As `cardsharp doctor --digest` and `bot --digest` do: it is not taken for a spectator."""
    credentials = Credentials(ALICE, PASSWORDS[ALICE])
    with ArenaClient(arena, credentials, Limits(attempts=1), digest=True) as client:
        assert client.whoami().name == "Alice"
