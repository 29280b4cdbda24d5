"""Real arena on a free port, a manual clock, and a small HTTP client."""

import asyncio
import base64
import json
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette

from cardsharp.games.deadmansdraw.arena.app import ExtraPages
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.deadmansdraw.arena.local_arena import LocalArena
from cardsharp_tools.local_server.arena_server import ArenaServer
from support.waiting import HANG_SECONDS, wait_until

DUMMY = "0" * 24
ALICE = "636438380ee778617e6e5be8"
BOB = "636438380ee778617e6e5be9"
ADMIN = "admin"
OUTSIDER = "636438380ee778617e6e5c09"
ADMIN_PASSWORD = "adminpass"

NAMES = {
    DUMMY: "Dummy",
    ALICE: "Alice",
    BOB: "Bob",
    **{f"636438380ee778617e6e5c0{number}": f"Player{number}" for number in range(10)},
}
"""The players of the recorded matches."""

PASSWORDS = {player: f"{name.lower()}pass" for player, name in NAMES.items()} | {
    ADMIN: ADMIN_PASSWORD
}


class ManualClock:
    """Clock that only moves when `advance` is called."""

    def __init__(self) -> None:
        self.current_time = datetime(2026, 11, 20, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.current_time

    def advance(self, duration: timedelta) -> None:
        self.current_time += duration


def write_players(folder: Path) -> Path:
    """Write a players' file with all players in `NAMES`, and return its path."""
    path = folder / "players.json"
    records = [
        {
            "_id": player,
            "name": name,
            "password": PASSWORDS[player],
            "email": f"{name.lower()}@example.com",
            "country": "hu",
        }
        for player, name in NAMES.items()
    ]
    path.write_text(json.dumps(records))
    return path


@dataclass(frozen=True)
class ArenaHttpResponse:
    """Response: status, body, and for each header the list of its values."""

    status: int
    raw: bytes
    headers: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return self.raw.decode()

    def json(self) -> Any:  # noqa: ANN401 - whatever the arena says
        return json.loads(self.raw)


def basic_auth(user: str, passwords: Mapping[str, str] = PASSWORDS) -> str:
    token = base64.b64encode(f"{user}:{passwords[user]}".encode()).decode()
    return f"Basic {token}"


class ArenaHttpClient:
    """HTTP client with one persistent connection, on which requests may be for different users."""

    def __init__(self, url: str, timeout: float = HANG_SECONDS) -> None:
        self.url, parts = url, urlsplit(url)
        self._connection = HTTPConnection(str(parts.hostname), parts.port, timeout=timeout)
        self._credentials = {user: basic_auth(user) for user in PASSWORDS}

    def request(
        self,
        method: str,
        path: str,
        user: str | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> ArenaHttpResponse:
        """Send a request, and return the response; `body` is sent as JSON, bytes as they are."""
        request_headers = dict(headers or {})
        if user is not None:
            request_headers.setdefault("Authorization", self._credentials[user])
        if body is not None:
            request_headers.setdefault("Content-Type", "application/json")
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        status, response_headers, content = self._send(method, path, raw, request_headers)
        headers_by_name: dict[str, list[str]] = {}
        for name, value in response_headers:
            headers_by_name.setdefault(name.lower(), []).append(value)
        return ArenaHttpResponse(status, content, headers_by_name)

    def _send(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, Sequence[tuple[str, str]], bytes]:
        self._connection.request(method, path, body, headers)
        response = self._connection.getresponse()
        return response.status, response.getheaders(), response.read()

    def get(self, path: str, user: str | None = ALICE) -> ArenaHttpResponse:
        return self.request("GET", path, user)

    def post(self, path: str, user: str | None = ALICE, body: object = None) -> ArenaHttpResponse:
        return self.request("POST", path, user, body)

    def close(self) -> None:
        self._connection.close()

    def disconnect(self) -> None:
        """Close the socket, even while another thread waits for a response on it."""
        self._connection.sock.shutdown(socket.SHUT_RDWR)
        self._connection.close()


async def call_asgi(
    app: Starlette, method: str, target: str, body: bytes | None, headers: Mapping[str, str]
) -> tuple[int, Sequence[tuple[str, str]], bytes]:
    """Call an ASGI application without a socket; return status, headers and body."""
    parts, pending = urlsplit(target), [{"type": "http.request", "body": body or b""}]
    response: dict[str, Any] = {"body": b""}

    async def receive() -> dict[str, Any]:
        return pending.pop() if pending else await asyncio.Future()

    async def send(message: Any) -> None:  # noqa: ANN401 - ASGI's own
        if message["type"] == "http.response.start":
            response.update(message)
        else:
            response["body"] += message.get("body", b"")

    scope = {
        "type": "http",
        "method": method,
        "path": parts.path,
        "query_string": parts.query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
    }
    await app(scope, receive, send)
    response_headers = [
        (name.decode(), value.decode()) for name, value in response.get("headers", ())
    ]
    return response["status"], response_headers, response["body"]


class InProcessClient(ArenaHttpClient):
    """Client of an arena in this process, without a socket; closing it closes the arena."""

    def __init__(self, config: ArenaConfig) -> None:
        super().__init__("http://127.0.0.1:9")
        self._arena, self._loop = LocalArena(config), asyncio.new_event_loop()

    def _send(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, Sequence[tuple[str, str]], bytes]:
        response = call_asgi(self._arena.app, method, path, body, headers)
        return self._loop.run_until_complete(response)

    def close(self) -> None:
        self._arena.close()
        self._loop.close()


def play_random_moves(
    client: ArenaHttpClient,
    match: str,
    rng: Random,
    moves: int = 1000,
    passwords: Mapping[str, str] = PASSWORDS,
) -> dict[str, Any]:
    """Play that many moves of a match, or all that there are; return its last view."""
    path = f"/api/matches/{match}"
    for _ in range(moves):
        view = client.get(path, ADMIN).json()
        index = view["activePlayerIndex"]
        if index is None:
            break
        has_played = view["moveCountInTurn"] is not None and view["state"]["playArea"]
        action_type = "EndTurn" if has_played and rng.random() < 0.4 else "Draw"
        headers = {"Authorization": basic_auth(view["playerids"][index], passwords)}
        response = client.request(
            "POST", path, None, {"etype": action_type, "autopick": True}, headers
        )
        assert response.status == 200, response.text
    return dict(client.get(f"{path}?showevents=1", ADMIN).json())


def arena_config(folder: Path, **settings: Any) -> ArenaConfig:  # noqa: ANN401 - its fields
    """Return the configuration of an arena, by default with the players in `NAMES`."""
    settings.setdefault("admin_password", ADMIN_PASSWORD)
    return ArenaConfig(
        players_file=settings.pop("players", None) or write_players(folder), **settings
    )


@contextmanager
def running_arena(
    folder: Path,
    *,
    extra_pages: ExtraPages | None = None,
    **settings: Any,  # noqa: ANN401 - fields of ArenaConfig
) -> Iterator[tuple[ArenaServer, ArenaHttpClient]]:
    """Yield an arena for the players in `NAMES`, with `extra_pages`, and a client."""
    server = ArenaServer(arena_config(folder, **settings), extra_pages)
    with server as arena, closing(ArenaHttpClient(arena.url)) as client:
        yield arena, client


_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_SECONDS = re.compile(r"after [\d.]+ seconds")


def mask_ids_and_times(text: str, match_id: str) -> str:
    """Return a body's text without match id and times (docs/spec/arena.md section 10)."""
    text = _TIMESTAMP.sub("<TS>", text.replace(match_id, "<MATCH_ID>"))
    return _SECONDS.sub("after <SEC> seconds", text)


def canonical_json(body: object) -> str:
    """Return a body as the arena writes it, so that equal texts have equal key orders."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def without_secrets(view: Any) -> Any:  # noqa: ANN401 - any JSON view
    """Return a recorded view without what our arena hides from players who did not create it."""
    redacted = json.loads(json.dumps(view))
    for secret in ("randomSeed", "drawPile"):
        redacted.get("creationParams", {}).pop(secret, None)
    for move in redacted.get("moves", ()):
        for event in move["events"]:
            event.pop("matchStartedSeed", None)
    return redacted


def body_visible_to(viewer: str | None, body: Any) -> Any:  # noqa: ANN401 - any JSON body
    """Return a recorded body as our arena sends it to `viewer`.

    Only the creator and the admin see the seed and the draw pile.
    """
    if isinstance(body, list):
        return [body_visible_to(viewer, item) for item in body]
    is_view = isinstance(body, dict) and "createdByPlayerId" in body
    must_redact = is_view and viewer not in (ADMIN, body["createdByPlayerId"])
    return without_secrets(body) if must_redact else body


class BackgroundRequest:
    """Request that waits in a separate thread, on a separate connection."""

    def __init__(self, arena: ArenaServer, method: str, path: str, user: str | None) -> None:
        self._client = ArenaHttpClient(arena.url)
        body = {"etype": "Draw"} if method == "POST" else None
        previous_count, thread = arena.long_poll_count, ThreadPoolExecutor(1)
        self._future = thread.submit(self._client.request, method, path, user, body)
        thread.shutdown(wait=False)
        wait_until(lambda: arena.long_poll_count > previous_count)

    def response(self) -> ArenaHttpResponse:
        """Wait for the response and return it; it must come soon."""
        response = self._future.result(timeout=HANG_SECONDS)
        self._client.close()
        return response

    def disconnect(self) -> None:
        """Close the connection without waiting for the response."""
        self._client.disconnect()
        assert isinstance(self._future.exception(timeout=HANG_SECONDS), OSError | HTTPException)
