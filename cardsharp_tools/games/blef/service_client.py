"""Client of a Blef service: it checks and lists games, and plays a random match."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from random import Random
from uuid import uuid4

from cardsharp.client.config import RequestLimits
from cardsharp.games.blef.bot.client import BlefClient
from cardsharp.games.blef.bot.seat_match import BlefJoinGameOrder
from cardsharp.games.blef.rules import MAX_PLAYERS
from cardsharp.games.blef.service.wire import position_from_state
from cardsharp.play.game import JoinableMatch
from cardsharp.store.match_log import MatchReader
from cardsharp_tools.http_session import http_session
from cardsharp_tools.match_sources.match_logs import data_folder, open_existing_log
from cardsharp_tools.proxy_option import resolve_proxy

_ONCE = RequestLimits(max_attempts=1)


def check_game_exists(seat_request: Mapping[str, object]) -> None:
    """Send one request for a game; raise `InvalidInput` or `ArenaError` if it does not exist."""
    join_order = BlefJoinGameOrder.parse(seat_request)
    with BlefClient(join_order.url, _ONCE, resolve_proxy()) as client:
        client.get_public_state(join_order.game)


def joinable_public_games(url: str) -> list[JoinableMatch]:
    """Return a service's public games with a free seat; raise `ConfigError` or `ArenaError`."""
    with BlefClient(url, _ONCE, resolve_proxy()) as client:
        free = (game for game in client.public_games() if len(game.players) < MAX_PLAYERS)
        return [JoinableMatch(game.uuid, game.players, MAX_PLAYERS, game.room) for game in free]


def open_bot_match_log(store: str | None) -> AbstractContextManager[MatchReader]:
    """Open the match log `store`, by default the one that our Blef bot writes."""
    return open_existing_log(store or f"sqlite:{data_folder() / 'blef.db'}", "cardsharp blef bot")


_NAMES = ("ann", "bob")
_PATIENCE = 30  # seconds that a request may take


def play_random_match(url: str, random: Random) -> None:
    """Play a random match of two players at a service; raise the errors of its requests.

    Raises the errors of the requests.
    """
    with http_session(url, resolve_proxy()) as session:
        created = session.get(f"{url}/v2/games/create", timeout=_PATIENCE)
    created.raise_for_status()
    game = created.json()["game_uuid"]
    with BlefClient(url, _ONCE, resolve_proxy()) as client:
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
