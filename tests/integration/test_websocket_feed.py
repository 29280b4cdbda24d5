"""Tests of the WebSocket feed: it reaches all subscribers and removes unreachable ones."""

import asyncio
import threading
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from datetime import timedelta
from typing import Any

import pytest
from support.blef_v2_api import RecordingSockets, receive_body, serve_blef_v2
from support.lambda_events import invocation_context
from support.store_fixtures import FakeClock, moto_client
from support.waiting import HANG_SECONDS
from websockets.exceptions import ConnectionClosed

from cardsharp.server.feed_bootstrap import SUBSCRIBER_STORE
from cardsharp.server.feed_subscriptions import FeedSubscriptions
from cardsharp.server.websocket_feed import (
    HANDSHAKE_GRACE,
    ConnectionGone,
    Feed,
    InMemoryConnections,
    Subscriber,
    get_in_memory_connections,
)
from cardsharp.server.websocket_handler import build_websocket_handler
from cardsharp_tools.local_cloud.template_files import create_table
from cardsharp_tools.local_server.feed_endpoint import (
    CLOSE_TRY_AGAIN_LATER,
    MAX_QUEUED_MESSAGES,
    FeedEndpoint,
)

FRAME = '{"body": "1"}'


def create_feed(
    *connections: str, dead: tuple[str, ...] = (), **limits: int
) -> tuple[Feed, RecordingSockets, FakeClock]:
    clock, sockets = FakeClock(), RecordingSockets(dead)
    feed = Feed(SUBSCRIBER_STORE.open("sqlite::memory:", clock), sockets, clock, **limits)
    for connection in connections:
        assert feed.subscribe("game", connection, connection)
    return feed, sockets, clock


def test_a_dead_subscriber_is_removed_and_the_rest_get_the_message() -> None:
    feed, sockets, clock = create_feed("ann", "bob", "cid", dead=("ann", "cid"))
    clock.advance(HANDSHAKE_GRACE + timedelta(seconds=1))
    assert feed.subscribe("game", "new", "")
    sockets.failing_connections.add("new")
    feed.publish("game", lambda _: [FRAME, FRAME])
    assert sockets.sent == {"bob": [1, 1]}
    assert sorted(sockets.closed) == ["ann", "cid"]
    remaining = [subscriber.connection_id for subscriber in feed.subscribers("game")]
    assert remaining == ["bob", "new"], "a handshake may not be over yet"


def test_each_subscriber_gets_its_messages_despite_an_error_for_another() -> None:
    """All messages are sent when `publish` returns, because a Lambda function then stops."""
    feed, sockets, _ = create_feed("ann", "bob")
    feed.publish("game", lambda subscriber: [f'{{"body": "\\"for {subscriber.viewer_key}\\""}}'])
    assert sockets.sent == {"ann": ["for ann"], "bob": ["for bob"]}
    has_failed = threading.Event()

    def build_messages(subscriber: Subscriber) -> list[str]:
        if subscriber.connection_id == "ann":
            threading.Timer(0.2, has_failed.set).start()
            raise ValueError("a fault of ours")
        has_failed.wait()
        return [FRAME]

    feed.publish("game", build_messages)
    feed.unsubscribe("ann")
    feed.publish("game", lambda _: [FRAME])
    assert sockets.sent == {"ann": ["for ann"], "bob": ["for bob", 1, 1]}


def test_one_caller_cannot_use_up_all_subscriptions() -> None:
    feed, _, _ = create_feed(max_subscribers=9, max_per_caller=2)
    assert [feed.subscribe("game", name, "", "mallory") for name in "abc"] == [True, True, False]
    assert feed.subscribe("another", "c", "", "mallory")
    assert feed.subscribe("game", "d", "", "ann")
    assert [feed.subscribe("game", name, "") for name in "efgh"] == [True] * 4, "at this machine"
    feed.unsubscribe("a")
    assert feed.subscribe("game", "c", "", "mallory")


def test_a_handshake_records_its_caller() -> None:
    """The viewer's key may be in a header or in the query, which takes precedence."""
    feed, _, _ = create_feed()
    subscriptions = FeedSubscriptions(feed, lambda parameters: ("game", parameters["key"]))
    handler = build_websocket_handler(subscriptions)
    handshake = {"headers": {"Key": "header"}, "queryStringParameters": {"key": "query"}}
    sources = ("192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2", "127.0.0.1", "")
    for number, source in enumerate(sources):
        connection_fields = {"routeKey": "$connect", "connectionId": str(number)}
        event = {
            "requestContext": {**connection_fields, "identity": {"sourceIp": source}},
            **handshake,
        }
        assert handler(event, invocation_context())["statusCode"] == 200
    assert {subscriber.viewer_key for subscriber in feed.subscribers("game")} == {"query"}
    callers = {
        subscriber.connection_id: subscriber.caller for subscriber in feed.subscribers("game")
    }
    assert [callers[connection_id] for connection_id in "45"] == ["", ""]
    assert callers["2"] == callers["3"]
    assert len({*callers.values()}) == 4
    assert not any(source in callers.values() for source in sources if source)


class StuckClient:
    """WebSocket client that never reads, so that messages to it are never delivered."""

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


def test_a_slow_client_is_disconnected_and_does_not_block_the_sender() -> None:
    feed, _, _ = create_feed()
    watching: list[int] = []

    def authorize(_: object) -> tuple[str, str]:
        return "game", ""

    async def overfill_queue() -> StuckClient:
        sockets, client = InMemoryConnections(), StuckClient()
        endpoint = FeedEndpoint(lambda: FeedSubscriptions(feed, authorize), sockets)
        with ThreadPoolExecutor(1) as pool:
            return await talk(endpoint, sockets, client, pool)

    async def talk(
        endpoint: FeedEndpoint, sockets: InMemoryConnections, client: StuckClient, pool: Executor
    ) -> StuckClient:
        serving = asyncio.ensure_future(endpoint.serve(client, pool))  # type: ignore[arg-type]
        await client.accepted.wait()
        (connection,) = sockets._open_connections
        watching.append(len(feed.subscribers("game")))
        for _ in range(MAX_QUEUED_MESSAGES):
            sockets.send(connection, "x")
        with pytest.raises(ConnectionGone):
            sockets.send(connection, "x")
        sockets.close(connection)
        await serving
        watching.append(len(feed.subscribers("game")))
        return client

    client = asyncio.run(overfill_queue())
    assert client.code == CLOSE_TRY_AGAIN_LATER
    assert watching == [1, 0]


def test_only_the_subscriber_that_sends_too_much_is_disconnected() -> None:
    """Large messages of a subscriber are not stored; its connection is closed."""
    with ExitStack() as stack:
        blef_client = stack.enter_context(
            serve_blef_v2(get_in_memory_connections("flooded"), "flooded")
        )
        game, (ann_uuid, _) = blef_client.create_with_players("ann", "bob")
        quiet_socket, flooding_socket = (
            stack.enter_context(blef_client.watch(game_uuid=game)) for _ in range(2)
        )
        with suppress(ConnectionClosed):  # it may hear why only later
            flooding_socket.send(["x" * 1000] * 200)  # one message in many frames
        with pytest.raises(ConnectionClosed):
            flooding_socket.recv(timeout=HANG_SECONDS)
        blef_client.get(f"/games/{game}/start", admin_uuid=ann_uuid)
        assert receive_body(quiet_socket)["status"] == "Running"


def test_a_subscriber_stored_by_an_older_version_is_read_and_removed() -> None:
    """Version 0.2 stored each field of a subscriber as a separate attribute."""
    clock = FakeClock()
    with moto_client() as client:
        table = create_table(client, "EuchreTable")
        expiry_seconds = str(int(clock.now().timestamp()) + 60)
        topic_item = {"pk": "socket#ann", "sk": "topic", "topic_name": "game"}
        watch_item = {"pk": "watch#game", "sk": "ann", "watcher_key": "key", "since_at": 5}
        for item in (topic_item, watch_item):
            attributes = {
                name: {"N" if isinstance(value, int) else "S": str(value)}
                for name, value in item.items()
            }
            client.put_item(
                TableName=table, Item={**attributes, "expires_at": {"N": expiry_seconds}}
            )
        feed = Feed(
            SUBSCRIBER_STORE.open_dynamodb_store(table, clock, client), RecordingSockets(), clock
        )
        (subscriber,) = feed.subscribers("game")
        assert (subscriber.connection_id, subscriber.viewer_key, subscriber.caller) == (
            "ann",
            "key",
            "",
        )
        feed.unsubscribe("ann")
        assert not client.scan(TableName=table)["Items"]
