"""A feed tells all who watch, lets go of who cannot be told, and stops nobody's change."""

import asyncio
import threading
from contextlib import ExitStack, suppress
from datetime import timedelta
from typing import Any

import pytest
from support.blef_next import NotedSockets, heard, served
from support.bot_events import context
from support.cloud_benches import FakeClock, moto_client
from support.waiting import HANG_SECONDS
from websockets.exceptions import ConnectionClosed

from cardsharp.cloud.feeds import WATCHERS
from cardsharp.cloud.sockets import SETTLING, Feed, Gone, MemorySockets, Watcher, named
from cardsharp.web import gate
from workbench.cloud.http_events import Answered
from workbench.cloud.http_front import MOST_WAITING, TRY_AGAIN, serve_socket
from workbench.cloud.template import create_table

FRAME = '{"body": "1"}'


def fed(
    *connections: str, dead: tuple[str, ...] = (), **most: int
) -> tuple[Feed, NotedSockets, FakeClock]:
    clock, sockets = FakeClock(), NotedSockets(dead)
    feed = Feed(WATCHERS.open("sqlite::memory:", clock), sockets, clock, **most)
    for one in connections:
        assert feed.watch("game", one, one)
    return feed, sockets, clock


def test_a_dead_watcher_is_dropped_and_all_others_are_told() -> None:
    feed, sockets, clock = fed("ann", "bob", "cid", dead=("ann", "cid"))
    clock.advance(SETTLING + timedelta(seconds=1))
    assert feed.watch("game", "new", "")
    sockets.dead.add("new")
    feed.tell("game", lambda _: [FRAME, FRAME])
    assert sockets.sent == {"bob": [1, 1]}
    assert sorted(sockets.ended) == ["ann", "cid"]
    left = [one.connection for one in feed.watchers("game")]
    assert left == ["bob", "new"], "a handshake may not be over yet"


def test_each_is_told_its_own_also_after_a_fault_of_ours() -> None:
    """All when it is over: a function of the cloud stands still as soon as it has answered."""
    feed, sockets, _ = fed("ann", "bob")
    feed.tell("game", lambda one: [f'{{"body": "\\"for {one.key}\\""}}'])
    assert sockets.sent == {"ann": ["for ann"], "bob": ["for bob"]}
    late = threading.Event()

    def texts(watcher: Watcher) -> list[str]:
        if watcher.connection == "ann":
            threading.Timer(0.2, late.set).start()
            raise ValueError("a fault of ours")
        late.wait()
        return [FRAME]

    feed.tell("game", texts)
    feed.leave("ann")
    feed.tell("game", lambda _: [FRAME])
    assert sockets.sent == {"ann": ["for ann"], "bob": ["for bob", 1, 1]}


def test_one_caller_cannot_keep_others_from_watching() -> None:
    feed, _, _ = fed(most=9, most_of_one=2)
    assert [feed.watch("game", name, "", "mallory") for name in "abc"] == [True, True, False]
    assert feed.watch("another", "c", "", "mallory")
    assert feed.watch("game", "d", "", "ann")
    assert [feed.watch("game", name, "") for name in "efgh"] == [True] * 4, "at this machine"
    feed.leave("a")
    assert feed.watch("game", "c", "", "mallory")


def test_a_handshake_says_where_it_comes_from() -> None:
    """Its key may stand in a header or in the query, which wins."""
    feed, _, _ = fed()
    handler = gate.build(feed, lambda asked: ("game", asked["key"]))
    asked = {"headers": {"Key": "header"}, "queryStringParameters": {"key": "query"}}
    sources = ("192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2", "127.0.0.1", "")
    for number, source in enumerate(sources):
        about = {"routeKey": "$connect", "connectionId": str(number)}
        event = {"requestContext": {**about, "identity": {"sourceIp": source}}, **asked}
        assert handler(event, context())["statusCode"] == 200
    assert {one.key for one in feed.watchers("game")} == {"query"}
    callers = {one.connection: one.caller for one in feed.watchers("game")}
    assert [callers[one] for one in "45"] == ["", ""]
    assert callers["2"] == callers["3"]
    assert len({*callers.values()}) == 4
    assert not any(source in callers.values() for source in sources if source)


class StuckClient:
    """A client that reads nothing, so that what is sent to it never gets away."""

    def __init__(self) -> None:
        self.client, self.code, self.accepted = None, 0, asyncio.Event()
        self.headers = self.query_params = dict[str, str]()

    async def accept(self) -> None:
        self.accepted.set()

    async def receive(self, *_: object) -> Any:  # noqa: ANN401 - never comes
        await asyncio.Event().wait()

    send_text = receive

    async def close(self, code: int) -> None:
        self.code = code


def test_a_slow_client_is_let_go_and_whoever_tells_it_never_waits() -> None:
    asked: list[str] = []

    async def ask(event: dict[str, Any]) -> Answered:
        asked.append(event["requestContext"]["routeKey"])
        return Answered(200, (), b"")

    async def slow() -> StuckClient:
        sockets, client = MemorySockets(), StuckClient()
        serving = asyncio.ensure_future(serve_socket(client, ask, sockets))  # type: ignore[arg-type]
        await client.accepted.wait()
        (connection,) = sockets._open
        for _ in range(MOST_WAITING):
            sockets.send(connection, "x")
        with pytest.raises(Gone):
            sockets.send(connection, "x")
        sockets.close(connection)
        await serving
        return client

    client = asyncio.run(slow())
    assert client.code == TRY_AGAIN
    assert asked == ["$connect", "$disconnect"]


def test_a_watcher_that_sends_much_is_let_go_and_no_other() -> None:
    """Nobody reads what watchers send, so nothing of it is to fill the memory."""
    with ExitStack() as stack:
        place = stack.enter_context(served(named("flooded"), "flooded"))
        game, (ann, _) = place.joined("ann", "bob")
        quiet, loud = (stack.enter_context(place.watch(game_uuid=game)) for _ in range(2))
        with suppress(ConnectionClosed):  # it may hear why only later
            loud.send(["x" * 1000] * 200)  # one message in many frames
        with pytest.raises(ConnectionClosed):
            loud.recv(timeout=HANG_SECONDS)
        place.get(f"/games/{game}/start", admin_uuid=ann)
        assert heard(quiet)["status"] == "Running"


def test_who_watched_before_an_update_is_told_and_forgotten() -> None:
    """Version 0.2 had an attribute for each part."""
    clock = FakeClock()
    with moto_client() as client:
        table = create_table(client, "euchreTable")
        end = str(int(clock.now().timestamp()) + 60)
        topic = {"pk": "socket#ann", "sk": "topic", "topic_name": "game"}
        watch = {"pk": "watch#game", "sk": "ann", "watcher_key": "key", "since_at": 5}
        for item in (topic, watch):
            told = {name: {"N" if isinstance(v, int) else "S": str(v)} for name, v in item.items()}
            client.put_item(TableName=table, Item={**told, "expires_at": {"N": end}})
        feed = Feed(WATCHERS.in_table(table, clock, client), NotedSockets(), clock)
        (one,) = feed.watchers("game")
        assert (one.connection, one.key, one.caller) == ("ann", "key", "")
        feed.leave("ann")
        assert not client.scan(TableName=table)["Items"]
