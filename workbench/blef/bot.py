"""Our bot's seat in a game of Blef: looked for before it is taken, and what is kept of it."""

from collections.abc import Mapping
from contextlib import AbstractContextManager

from cardsharp.access import Limits
from cardsharp.blef.client import BlefClient
from cardsharp.blef.rules import MAX_PLAYERS
from cardsharp.blef.seats import SeatOrder
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
