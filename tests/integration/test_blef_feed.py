"""Who watches a game over a real socket, at home, sees what happens and nobody else's hand."""

from collections.abc import Iterator
from contextlib import suppress
from uuid import uuid4

import pytest
from support.blef_watching import SOON, Place, heard, served
from websockets.exceptions import ConnectionClosed

from cardsharp.cloud.memory_sockets import named


@pytest.fixture
def place() -> Iterator[Place]:
    name = uuid4().hex
    with served(named(name), name) as running:
        yield running


def test_the_list_is_told_of_games_that_come_and_go(place: Place) -> None:
    with place.watch() as watcher, place.watch(game_uuid="", player_uuid="") as empty:
        game, (ann, _) = place.joined("ann", "bob")
        place.get(f"/games/{game}/make-public", admin_uuid=ann)
        place.get(f"/games/{game}/join", nickname="cid")
        place.get(f"/games/{game}/start", admin_uuid=ann)
        for one in (watcher, empty):
            told = [heard(one) for _ in range(3)]
            assert [news["public"] for news in told] == ["true", "true", "false"]
            assert told[1]["players"] == ["ann", "bob", "cid"]
            assert {news["game_uuid"] for news in told} == {game}


def test_a_watcher_that_sends_much_is_let_go_and_no_other(place: Place) -> None:
    """Nobody reads what watchers send, so nothing of it is to fill the memory."""
    game, (ann, _) = place.joined("ann", "bob")
    with place.watch(game_uuid=game) as quiet, place.watch(game_uuid=game) as loud:
        with suppress(ConnectionClosed):  # it may hear why only later
            loud.send(["x" * 1000] * 200)  # one message in many frames
        with pytest.raises(ConnectionClosed):
            loud.recv(timeout=SOON)
        place.get(f"/games/{game}/start", admin_uuid=ann)
        assert heard(quiet)["status"] == "Running"
