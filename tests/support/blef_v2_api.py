"""Current generation of Blef's API: clients, watching clients, and its recording."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import requests
from websockets.sync.client import ClientConnection, connect

from cardsharp.games.blef.service.bootstrap import SERVICE
from cardsharp.games.blef.service.service import InvitableBots
from cardsharp.server.feed_bootstrap import FEED_VARIABLE
from cardsharp.server.websocket_feed import ConnectionGone, InMemoryConnections
from cardsharp.store.sqlite_file import MEMORY_PATH
from cardsharp_tools.local_server.feed_endpoint import FeedEndpoint
from cardsharp_tools.local_server.service_server import ServiceServer
from support.recordings import recording
from support.waiting import HANG_SECONDS


@dataclass(frozen=True)
class BlefV2Client:
    """Client of a service at a URL, for the current generation of the API."""

    url: str

    def get(self, path: str, **query: object) -> Any:  # noqa: ANN401 - whatever JSON came
        response = requests.get(
            f"{self.url}{path}", params={k: str(v) for k, v in query.items()}, timeout=HANG_SECONDS
        )
        response.raise_for_status()
        return response.json()

    def watch(self, *, headers: dict[str, str] | None = None, **query: str) -> ClientConnection:
        """Open a socket, with parameters in the query string or as headers."""
        query_string = "&".join(f"{name}={value}" for name, value in query.items())
        address = f"{self.url.replace('http', 'ws', 1)}/?{query_string}"
        return connect(address, additional_headers=headers, open_timeout=HANG_SECONDS, proxy=None)

    def create_with_players(self, *names: str) -> tuple[str, list[str]]:
        """Create a game with these players, and return its id and their secrets."""
        game = self.get("/games/create")["game_uuid"]
        secrets = [self.get(f"/games/{game}/join", nickname=n)["player_uuid"] for n in names]
        return game, secrets


@contextmanager
def serve_blef_v2(sockets: InMemoryConnections, name: str) -> Iterator[BlefV2Client]:
    """Serve games in this process, with the feed of that name."""
    application, subscriptions = SERVICE.build(
        {SERVICE.store_setting: f"sqlite:{MEMORY_PATH}", FEED_VARIABLE: f"memory:{name}"}
    )
    endpoint = FeedEndpoint(lambda: subscriptions, sockets)
    with ServiceServer(application, feed_endpoint=endpoint) as gateway:
        yield BlefV2Client(gateway.url)


def receive_body(socket: ClientConnection) -> Any:  # noqa: ANN401 - whatever JSON came
    """Return the next message to a watcher: the text in the body of a frame."""
    frame = json.loads(socket.recv(timeout=HANG_SECONDS))
    assert frame["statusCode"] == 200
    return json.loads(frame["body"])


class RecordingSockets:
    """WebSocket connections that record their messages; the `failing` ones reject them."""

    def __init__(self, failing: Sequence[str] = ()) -> None:
        self.failing_connections = set(failing)
        self.sent: dict[str, list[Any]] = {}
        self.closed: list[str] = []

    def send(self, connection: str, text: str) -> None:
        if connection in self.failing_connections:
            raise ConnectionGone("dead")
        self.sent.setdefault(connection, []).append(json.loads(json.loads(text)["body"]))

    def close(self, connection: str) -> None:
        self.closed.append(connection)

    def take_messages(self, connection: str) -> list[Any]:
        """Return and remove the messages recorded for a connection."""
        return self.sent.pop(connection, [])


RECORDED_BOTS = InvitableBots({"Dazhbog": "conservative", "Porevit": "conservative_crawling"})
"""The bots of the recording, for whom the recording plays."""


def recorded_v2_requests() -> list[dict[str, Any]]:
    """Return the recorded requests; a bot's move is a request like any other."""
    return [
        {
            **row,
            "method": "GET",
            "path": f"/games/{row['query']['game_uuid']}/play",
            "query": {k: str(v) for k, v in row["query"].items() if k != "game_uuid"},
        }
        if row["method"] == "INVOKE"
        else row
        for row in recording("blef_next")
    ]
