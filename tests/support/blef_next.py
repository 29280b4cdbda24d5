"""Today's generation of Blef's API: clients, those who watch, and its recorded conversation."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

import requests
from websockets.sync.client import ClientConnection, connect

from cardsharp.blef.assembly import SERVICE, announce, subscribe
from cardsharp.blef.changes import SecretChance
from cardsharp.blef.records import room_of
from cardsharp.blef.service import Agents
from cardsharp.blef.store import GAME_STORE
from cardsharp.cloud.feeds import FEED, WATCHERS
from cardsharp.cloud.sockets import Feed, Gone, MemorySockets
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.web import gate
from support.blef import Client, RecordedChance, Reply, cards_of
from support.cloud_benches import FakeClock
from support.recorded import recording
from workbench.cloud.events import Function, LambdaContext
from workbench.cloud.http_events import WireRequest, read_answer
from workbench.cloud.http_front import HttpFront
from workbench.stage.serving import TIMEOUT

SOON = 10  # seconds within which what is told comes


@dataclass(frozen=True)
class Place:
    """A service at an address, and requests to it as a client of today's generation makes them."""

    url: str

    def get(self, path: str, **query: object) -> Any:  # noqa: ANN401 - whatever JSON came
        answer = requests.get(
            f"{self.url}{path}", params={k: str(v) for k, v in query.items()}, timeout=SOON
        )
        answer.raise_for_status()
        return answer.json()

    def watch(self, *, headers: dict[str, str] | None = None, **query: str) -> ClientConnection:
        """Open a socket, with parameters in the query string or as headers."""
        asked = "&".join(f"{name}={value}" for name, value in query.items())
        address = f"{self.url.replace('http', 'ws', 1)}/?{asked}"
        return connect(address, additional_headers=headers, open_timeout=SOON, proxy=None)

    def joined(self, *names: str) -> tuple[str, list[str]]:
        """A new game with these players, and their secrets."""
        game = self.get("/games/create")["game_uuid"]
        secrets = [self.get(f"/games/{game}/join", nickname=n)["player_uuid"] for n in names]
        return game, secrets


@contextmanager
def served(sockets: MemorySockets, name: str) -> Iterator[Place]:
    """Serve games in this process, with the feed of that name."""
    handler = SERVICE.build({SERVICE.store: f"sqlite:{MEMORY}", FEED: f"memory:{name}"})
    with HttpFront(Function("blef", handler, TIMEOUT), sockets=sockets) as front:
        yield Place(front.url)


def heard(socket: ClientConnection) -> Any:  # noqa: ANN401 - whatever JSON came
    """The next thing that a watcher is told: a text in the body of a frame."""
    frame = json.loads(socket.recv(timeout=SOON))
    assert frame["statusCode"] == 200
    return json.loads(frame["body"])


class NotedSockets:
    """Sockets that note what each is sent; those that are `dead` take nothing."""

    def __init__(self, dead: Sequence[str] = ()) -> None:
        self.dead = set(dead)
        self.sent: dict[str, list[Any]] = {}
        self.ended: list[str] = []

    def send(self, connection: str, text: str) -> None:
        if connection in self.dead:
            raise Gone("dead")
        self.sent.setdefault(connection, []).append(json.loads(json.loads(text)["body"]))

    def close(self, connection: str) -> None:
        self.ended.append(connection)

    def taken(self, connection: str) -> list[Any]:
        """What a connection was sent since the last look."""
        return self.sent.pop(connection, [])


AGENTS = Agents({"Dazhbog": "conservative", "Porevit": "conservative_crawling"})
"""The bots of the recording, for whom the recording plays."""


def next_client() -> Client:
    """A client of today's generation, of a service that keeps its games in this process."""
    clock = FakeClock()
    return Client(GAME_STORE.in_file(MEMORY, clock), clock, base="", agents=AGENTS)


def next_rows() -> list[dict[str, Any]]:
    """The recorded requests; that by which a bot's own function moved is a request as any other."""
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


def game_of(row: dict[str, Any]) -> str:
    """The game that a row is about, "" if it is about none."""
    return str(row["path"]).partition("/games/")[2].partition("/")[0]


@dataclass
class NextRecording:
    """The service as the recording finds it, row after row.

    `renamed` are the nicknames that we refuse, by those that play in their place.
    """

    rows: Sequence[dict[str, Any]]
    renamed: Mapping[str, str]
    undone: frozenset[str]

    def __post_init__(self) -> None:
        clock = FakeClock()
        self.clock, self.chance = clock, RecordedChance()
        self.store = GAME_STORE.in_file(MEMORY, clock)
        self.client = Client(self.store, clock, self.chance, "", AGENTS)
        self.sockets = NotedSockets()
        feed = Feed(WATCHERS.open("sqlite::memory:", clock), self.sockets, clock)
        self.client.blef.hear = partial(announce, feed)
        self._gate = gate.build(feed, partial(subscribe, self.client.blef))
        self._game = ""
        self._dealt: dict[str, list[dict[str, Any]]] = {}

    def ask(self, row: dict[str, Any]) -> Reply:
        """Send a recorded request; what only we carry out does not disturb what follows."""
        self.clock.advance(timedelta(seconds=0.25))
        self._game = game_of(row)
        self.sockets.sent.clear()
        self._prepare(row)
        saved = self.store.read(game_of(row)) if row["case"] in self.undone else None
        reply = self._send(row)
        now = self.store.read(game_of(row))
        if saved is not None and now is not None:
            self.store.write(now, saved.game)
        return reply

    def shake(self, row: dict[str, Any]) -> Reply:
        """Let a client in that watches, or out, as it was recorded."""
        leaving = row["method"] == "DISCONNECT"
        connection = row["query"]["connection"] if leaving else row["connection"]
        about = {"routeKey": f"${row['method'].lower()}", "connectionId": connection}
        event = {
            "requestContext": about,
            "headers": row.get("request_headers", {}),
            "queryStringParameters": row["query"],
        }
        answer = read_answer(self._gate(event, LambdaContext("blef", TIMEOUT, self.clock)))
        return Reply(answer.status, answer.body.decode(), dict(answer.headers))

    def told(self, written: Callable[[Any], str]) -> Counter[tuple[str, str]]:
        """What the last change told to which connection, and how often."""
        sent = self.sockets.sent.items()
        return Counter(
            (connection, written(seen(deepcopy(body))))
            for connection, all_ in sent
            for body in all_
        )

    def _send(self, row: dict[str, Any]) -> Reply:
        reply = self._asked(row, row["query"])
        if row["query"].get("nickname") in self.renamed and reply.status == 400:
            mended = {"nickname": self.renamed[row["query"]["nickname"]]}
            assert self._asked(row, mended).status == 200
        return reply

    def _asked(self, row: dict[str, Any], query: Mapping[str, str]) -> Reply:
        target = quote(row["path"], safe="/") + (f"?{urlencode(query)}" if query else "")
        return self.client.send(WireRequest(row["method"], target))

    def _prepare(self, row: dict[str, Any]) -> None:
        """Have chance as it was."""
        body = row["body"] if isinstance(row["body"], dict) else {}
        self.chance.uuids = [body[key] for key in ("game_uuid", "player_uuid") if key in body]
        if row["case"] == "invite.ok":
            self.chance.uuids = [self._bots_uuid(game_of(row))]
        self.chance.hands = []
        if "deal" not in row:
            return
        game, deal = game_of(row), row["deal"]
        self._dealt.setdefault(game, []).append(deal)
        self.chance.hands = [tuple(card for h in deal["hands"] for card in cards_of(h["hand"]))]
        saved = self.store.read(game)
        if saved is not None and saved.game.round is None:
            self.chance.orders = _orders(
                [(one.nickname, one.agent is not None) for one in saved.game.players],
                [self.renamed.get(name, name) for name in deal["seats"]],
            )

    def _bots_uuid(self, game: str) -> str:
        """The secret of the bot that moves in the recording, else some new one."""
        moves = [one for one in self.rows if one["case"] == "bot.invoke"]
        known = {game_of(move): str(move["query"]["player_uuid"]) for move in moves}
        return known.get(game) or SecretChance().uuid()

    def expected(self, row: dict[str, Any]) -> Any:  # noqa: ANN401 - whatever JSON it was
        """The recorded body in our rooms and nicknames, without moments, hands the highest first.

        The winner of a finished game keeps the last hand, where the original deals a new one.
        """
        text = json.dumps(row["body"])
        for name, ours in self.renamed.items():
            text = text.replace(json.dumps(name), json.dumps(ours))
        body = json.loads(text)
        if isinstance(body, list):
            return sorted((_plain(one) for one in body), key=lambda one: str(one["game_uuid"]))
        if isinstance(body, dict) and body.get("status") == "Finished":
            last = self._dealt[self._game][-2]["hands"]
            (shown,) = body["hands"]
            body["hands"] = [hand for hand in last if hand["nickname"] == shown["nickname"]]
        if isinstance(body, dict) and "last_modified" in body:
            body["room"] = room_of(self._game)
        return _plain(body)


def seen(body: Any) -> Any:  # noqa: ANN401 - whatever JSON came
    """One of our bodies as `NextRecording.expected` has them."""
    if isinstance(body, list):
        moments = [one["last_modified"] for one in body]
        assert moments == sorted(moments, reverse=True), "newest first"
        return sorted((_plain(one) for one in body), key=lambda one: str(one["game_uuid"]))
    return _plain(body)


def _plain(body: Any) -> Any:  # noqa: ANN401 - JSON
    """A body without its moment, which must be a number, and with sorted hands."""
    if not isinstance(body, dict) or "last_modified" not in body:
        return body
    assert isinstance(body["last_modified"], float | int)
    told = {name: value for name, value in body.items() if name != "last_modified"}
    if "game_uuid" in told:
        told["room"] = room_of(told["game_uuid"])
    for shown in told.get("hands", []):
        shown["hand"].sort(key=lambda card: (card["value"], card["colour"]), reverse=True)
    return told


def _orders(players: list[tuple[str, bool]], seats: list[str]) -> dict[int, tuple[int, ...]]:
    """What chance is to say, by the number it is asked about, so that they sit like that."""
    people = [name for name, is_bot in players if not is_bot]
    bots = len(players) - len(people)
    orders = {len(people): tuple(people.index(name) for name in seats if name in people)}
    if bots:
        number, taken = len(seats), {at for at, name in enumerate(seats) if name not in people}
        first = next(
            first
            for first in range(number)
            if {(first + i * number // bots) % number for i in range(bots)} == taken
        )
        orders[number] = (first, *(one for one in range(number) if one != first))
    return orders
