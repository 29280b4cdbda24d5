"""A feed tells all who watch, lets go of who cannot be told, and stops nobody's change."""

import asyncio
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from support.blef_watching import NotedSockets
from support.bot_events import context
from support.cloud_clock import START, FakeClock

from cardsharp.cloud.dynamodb_watchers import DynamoWatchers
from cardsharp.cloud.gateway_sockets import GatewaySockets
from cardsharp.cloud.memory_sockets import MemorySockets, MemoryWatchers
from cardsharp.cloud.sockets import LIFE, SETTLING, Feed, Gone, Watcher, Watchers
from cardsharp.errors import StoreError
from cardsharp.web import gate
from workbench.cloud.emulator import Emulator
from workbench.cloud.http_events import Answered
from workbench.cloud.socket_front import MOST_WAITING, TRY_AGAIN, SocketGateway
from workbench.cloud.tables import create_table

FRAME = '{"body": "1"}'


@pytest.fixture(params=["memory", "ministack"])
def watchers(request: pytest.FixtureRequest) -> Iterator[Watchers]:
    if request.param == "memory":
        yield MemoryWatchers()
        return
    emulator: Emulator = request.getfixturevalue("emulator")
    client = emulator.client("dynamodb")
    yield DynamoWatchers(create_table(client, "blefTable"), FakeClock(), client)


def test_who_watches_is_known_until_it_goes(watchers: Watchers) -> None:
    ann, bob = (Watcher(name, f"key of {name}", START) for name in ("ann", "bob"))
    cid = Watcher("cid", "", START, "a network")
    watchers.add("one", ann)
    watchers.add("one", bob)
    watchers.add("two", cid)
    assert sorted(one.connection for one in watchers.of("one")) == ["ann", "bob"]
    assert list(watchers.of("two")) == [cid]
    watchers.remove("ann")
    watchers.remove("ann")
    watchers.remove("nobody")
    assert list(watchers.of("one")) == [bob]
    watchers.remove("bob")
    assert list(watchers.of("one")) == []


def test_a_watcher_is_forgotten_when_its_connection_must_have_ended(emulator: Emulator) -> None:
    client, clock = emulator.client("dynamodb"), FakeClock()
    watchers = DynamoWatchers(create_table(client, "blefTable"), clock, client)
    watchers.add("one", Watcher("ann", "", clock.now()))
    clock.advance(LIFE)
    assert list(watchers.of("one")) == []


def fed(*connections: str, dead: tuple[str, ...] = ()) -> tuple[Feed, NotedSockets, FakeClock]:
    clock, sockets = FakeClock(), NotedSockets(dead)
    feed = Feed(MemoryWatchers(), sockets, clock)
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
    left = [one.connection for one in feed.watchers.of("game")]
    assert left == ["bob", "new"], "a handshake may not be over yet"


def test_each_is_told_its_own() -> None:
    feed, sockets, _ = fed("ann", "bob")
    feed.tell("game", lambda one: [f'{{"body": "\\"for {one.key}\\""}}'])
    assert sockets.sent == {"ann": ["for ann"], "bob": ["for bob"]}
    feed.leave("ann")
    feed.tell("game", lambda _: [FRAME])
    assert sockets.sent == {"ann": ["for ann"], "bob": ["for bob", 1]}


def test_no_failure_reaches_whoever_made_the_change() -> None:
    class Failing(MemoryWatchers):
        def of(self, topic: str) -> Any:  # noqa: ANN401 - never returns
            raise StoreError(topic)

    def wrong(_watcher: Watcher) -> list[str]:
        raise ValueError("a fault of ours")

    Feed(Failing(), NotedSockets(), FakeClock()).tell("game", lambda _: [FRAME])
    feed, sockets, _ = fed("ann")
    feed.tell("game", wrong)
    assert sockets.sent == {}


def test_all_are_told_when_it_is_over_also_after_a_fault_of_ours() -> None:
    """A function of the cloud stands still as soon as it has answered."""
    late = threading.Event()

    def texts(watcher: Watcher) -> list[str]:
        if watcher.connection == "ann":
            threading.Timer(0.2, late.set).start()
            raise ValueError("a fault of ours")
        late.wait()
        return [FRAME]

    feed, sockets, _ = fed("ann", "bob")
    feed.tell("game", texts)
    assert sockets.sent == {"bob": [1]}


def test_one_caller_cannot_keep_others_from_watching() -> None:
    feed = Feed(MemoryWatchers(), NotedSockets(), FakeClock(), most=9, most_of_one=2)
    assert [feed.watch("game", name, "", "mallory") for name in "abc"] == [True, True, False]
    assert feed.watch("another", "c", "", "mallory")
    assert feed.watch("game", "d", "", "ann")
    assert [feed.watch("game", name, "") for name in "efgh"] == [True] * 4, "at this machine"
    feed.leave("a")
    assert feed.watch("game", "c", "", "mallory")


def test_a_handshake_says_where_it_comes_from() -> None:
    feed = Feed(MemoryWatchers(), NotedSockets(), FakeClock())
    handler = gate.build(feed, lambda _: ("game", ""))
    sources = ("192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2", "127.0.0.1", "")
    for number, source in enumerate(sources):
        about = {"routeKey": "$connect", "connectionId": str(number)}
        event = {"requestContext": {**about, "identity": {"sourceIp": source}}}
        assert handler(event, context())["statusCode"] == 200
    callers = {one.connection: one.caller for one in feed.watchers.of("game")}
    assert [callers[one] for one in "45"] == ["", ""]
    assert callers["2"] == callers["3"]
    assert len({*callers.values()}) == 4
    assert not any(source in callers.values() for source in sources if source)


def test_a_gateway_that_is_not_there_is_a_dead_connection(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    nowhere = GatewaySockets("http://127.0.0.1:9")
    nowhere.close("x")
    with pytest.raises(Gone):
        nowhere.send("x", "text")


class StuckClient:
    """A client that reads nothing, so that what is sent to it never gets away."""

    def __init__(self) -> None:
        self.client = None
        self.headers: dict[str, str] = {}
        self.query_params: dict[str, str] = {}
        self.accepted = asyncio.Event()
        self.code = 0

    async def accept(self) -> None:
        self.accepted.set()

    async def receive(self) -> Any:  # noqa: ANN401 - never comes
        await asyncio.Event().wait()

    async def send_text(self, _text: str) -> None:
        await asyncio.Event().wait()

    async def close(self, code: int) -> None:
        self.code = code


def test_a_slow_client_is_let_go_and_whoever_tells_it_never_waits() -> None:
    asked: list[str] = []

    async def ask(event: dict[str, Any]) -> Answered:
        asked.append(event["requestContext"]["routeKey"])
        return Answered(200, (), b"")

    async def slow() -> StuckClient:
        sockets, client = MemorySockets(), StuckClient()
        serving = asyncio.ensure_future(SocketGateway(ask, sockets).serve(client))  # type: ignore[arg-type]
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
