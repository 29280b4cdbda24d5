"""Who watches a game over a real socket, at home, sees what happens and nobody else's hand."""

import json
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


def test_a_whole_game_is_played_from_the_feed_alone(place: Place) -> None:
    """Two players who read a state once, and an observer; each sees its own hand and no other."""
    game, secrets = place.joined("ann", "bob")
    by_name = dict(zip(("ann", "bob"), secrets, strict=True))
    with (
        place.watch(game_uuid=game) as anybody,
        place.watch(headers={"game_uuid": game, "player_uuid": secrets[0]}) as ann,
        place.watch(game_uuid=game, player_uuid=secrets[1]) as bob,
    ):
        watching = {"": anybody, "ann": ann, "bob": bob}
        place.get(f"/games/{game}/start", admin_uuid=secrets[0])
        moment, last = 0.0, None
        while True:
            states = {name: heard(one) for name, one in watching.items()}
            state = states[""]
            assert state["last_modified"] > moment
            moment = state["last_modified"]
            if state["status"] == "Finished":
                break
            closed = state["cp_nickname"] is None
            for name, shown in states.items():
                owners = {hand["nickname"] for hand in shown["hands"]}
                assert owners == ({"ann", "bob"} if closed else {name} - {""})
                assert {**shown, "hands": []} == {**state, "hands": []}
            if closed:
                assert [move["action_id"] for move in state["history"]] == [87, 88, 89]
                last = state
                continue
            mover, action = state["cp_nickname"], 88 if state["history"] else 87
            secret = by_name[mover]
            shown = place.get(f"/games/{game}/play", player_uuid=secret, action_id=action)
            assert shown["history"][len(state["history"])]["action_id"] == action
        assert last is not None
        assert state["round_number"] == last["round_number"] + 1
        assert len({json.dumps(one) for one in states.values()}) == 1
        assert place.get(f"/games/{game}") == state


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
