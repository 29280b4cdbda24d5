"""A service of Blef as a bot of ours meets it: looked at, listed, and visited."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from random import Random
from uuid import uuid4

from cardsharp.access import Limits
from cardsharp.blef.bot import SeatOrder
from cardsharp.blef.client import BlefClient
from cardsharp.blef.rules import MAX_PLAYERS
from cardsharp.blef.wire import position_in
from cardsharp.cloud.ports import MatchReader
from cardsharp.game import OpenGame
from workbench.show.http_session import http_session, proxy_of
from workbench.show.lookup import data_folder, open_to_read

_ONCE = Limits(attempts=1)


def check_there(wanted: Mapping[str, object]) -> None:
    """Look at an ordered game once, before anybody waits; raises `Malformed` or `ArenaError`."""
    order = SeatOrder.parse(wanted)
    with BlefClient(order.url, _ONCE, proxy_of()) as client:
        client.glance(order.game)


def public_games(url: str) -> list[OpenGame]:
    """A service's public games with a free seat; raises `ConfigError` or `ArenaError` for none."""
    with BlefClient(url, _ONCE, proxy_of()) as client:
        free = (game for game in client.public() if len(game.players) < MAX_PLAYERS)
        return [OpenGame(one.uuid, one.players, MAX_PLAYERS, one.room) for one in free]


def open_archive(store: str | None) -> AbstractContextManager[MatchReader]:
    """The match log that our bot writes where nothing else is said, or the one of that name."""
    return open_to_read(store or f"sqlite:{data_folder() / 'blef.db'}", "cardsharp blef bot")


_NAMES = ("ann", "bob")
_PATIENCE = 30  # seconds that a request may take


def visit(url: str, random: Random) -> None:
    """Play a random match of two who look before each move; raises what the requests raise."""
    with http_session(url, proxy_of()) as session:
        created = session.get(f"{url}/v2/games/create", timeout=_PATIENCE)
    created.raise_for_status()
    game = created.json()["game_uuid"]
    with BlefClient(url, _ONCE, proxy_of()) as client:
        keys = {name: client.join(game, name, str(uuid4())) for name in _NAMES}
        client.start(game, keys[_NAMES[0]])
        mover = client.glance(game).cp_nickname
        while mover is not None:
            state = client.look(game, keys[mover]).state
            position = position_in(state, mover)
            if state.cp_nickname != mover or position is None:
                mover = state.cp_nickname
                continue
            client.act(game, keys[mover], random.choice(position.legal_actions()))
