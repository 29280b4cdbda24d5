"""Client of a Blef service: it checks and lists games, and plays a random match."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from random import Random
from uuid import uuid4

from cardsharp.client.config import RequestLimits
from cardsharp.games.blef.bot.client import BlefClient
from cardsharp.games.blef.bot.seat_match import BlefJoinOrder
from cardsharp.games.blef.rules import MAX_PLAYERS
from cardsharp.games.blef.service.wire import position_from_state
from cardsharp.play.game import OpenGame
from cardsharp.store.match_log import MatchReader
from cardsharp_tools.http_session import http_session, proxy_of
from cardsharp_tools.match_sources.match_logs import data_folder, open_existing_log

_ONCE = RequestLimits(max_attempts=1)


def check_game_exists(seat_order: Mapping[str, object]) -> None:
    """Check once that an ordered game exists; raise `InvalidInput` or `ArenaError`."""
    order = BlefJoinOrder.parse(seat_order)
    with BlefClient(order.url, _ONCE, proxy_of()) as client:
        client.get_public_state(order.game)


def public_games(url: str) -> list[OpenGame]:
    """Return a service's public games with a free seat; raise `ConfigError` or `ArenaError`."""
    with BlefClient(url, _ONCE, proxy_of()) as client:
        free = (game for game in client.public_games() if len(game.players) < MAX_PLAYERS)
        return [OpenGame(game.uuid, game.players, MAX_PLAYERS, game.room) for game in free]


def open_archive(store: str | None) -> AbstractContextManager[MatchReader]:
    """Open our bot's match log, the default one or the one with this name."""
    return open_existing_log(store or f"sqlite:{data_folder() / 'blef.db'}", "cardsharp blef bot")


_NAMES = ("ann", "bob")
_PATIENCE = 30  # seconds that a request may take


def play_random_match(url: str, random: Random) -> None:
    """Play a random match of two players who request the state before each move.

    Raises the errors of the requests.
    """
    with http_session(url, proxy_of()) as session:
        created = session.get(f"{url}/v2/games/create", timeout=_PATIENCE)
    created.raise_for_status()
    game = created.json()["game_uuid"]
    with BlefClient(url, _ONCE, proxy_of()) as client:
        keys = {name: client.join(game, name, str(uuid4())) for name in _NAMES}
        client.start(game, keys[_NAMES[0]])
        mover = client.get_public_state(game).cp_nickname
        while mover is not None:
            state = client.get_state(game, keys[mover]).state
            position = position_from_state(state, mover)
            if state.cp_nickname != mover or position is None:
                mover = state.cp_nickname
                continue
            client.play_action(game, keys[mover], random.choice(position.legal_actions()))
