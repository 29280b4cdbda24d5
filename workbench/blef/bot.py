"""A service of Blef as a bot of ours meets it: looked at, listed, and visited."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from random import Random

import requests

from cardsharp.access import Limits
from cardsharp.blef.bot import SeatOrder
from cardsharp.blef.client import BlefClient
from cardsharp.blef.rules import MAX_PLAYERS, legal_actions
from cardsharp.blef.wire import parse_state, position_in
from cardsharp.cloud.ports import MatchReader
from cardsharp.game import OpenGame
from workbench.show.lookup import data_folder, open_to_read

_ONCE = Limits(attempts=1)


def check_there(wanted: Mapping[str, object]) -> None:
    """Look at the game of an order once, before anybody waits for what is none.

    Raises:
        Malformed: it cannot be ordered so.
        ArenaError: it is not there, or nothing that speaks our API is.
    """
    order = SeatOrder.parse(wanted)
    with BlefClient(order.url, _ONCE) as client:
        client.glance(order.game)


def public_games(url: str) -> list[OpenGame]:
    """The public games at a service that have a free seat.

    Raises:
        ConfigError: it is no address.
        ArenaError: nothing that speaks our API is there.
    """
    with BlefClient(url, _ONCE) as client:
        return [
            OpenGame(game.uuid, game.players, MAX_PLAYERS, game.room)
            for game in client.public()
            if len(game.players) < MAX_PLAYERS
        ]


def open_archive(store: str | None) -> AbstractContextManager[MatchReader]:
    """The match log that our bot writes where nothing else is said, or the one of that name."""
    return open_to_read(store or f"sqlite:{data_folder() / 'blef.db'}", "cardsharp blef bot")


_NAMES = ("ann", "bob")
_PATIENCE = 30
"""Seconds that a request may take."""


def visit(url: str, random: Random) -> None:
    """Play a random match of two who look before each move.

    Raises:
        requests.RequestException: the service refused, or cannot be reached.
    """
    with requests.Session() as http:

        def get(path: str, **query: str | int) -> requests.Response:
            answer = http.get(f"{url}/v2/games{path}", params=query, timeout=_PATIENCE)
            answer.raise_for_status()
            return answer

        game = get("/create").json()["game_uuid"]
        keys = {n: get(f"/{game}/join", nickname=n).json()["player_uuid"] for n in _NAMES}
        get(f"/{game}/start", admin_uuid=keys[_NAMES[0]])
        mover = parse_state(get(f"/{game}").content).cp_nickname
        while mover is not None:
            state = parse_state(get(f"/{game}", player_uuid=keys[mover]).content)
            position = position_in(state, mover)
            if state.cp_nickname != mover or position is None:
                mover = state.cp_nickname
                continue
            action = random.choice(legal_actions(position.round()))
            get(f"/{game}/play", player_uuid=keys[mover], action_id=action)
