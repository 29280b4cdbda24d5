"""Tests of S13: a role allows exactly the actions that its function uses."""

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import botocore.handlers
import pytest
from support.arena_server import (
    ADMIN,
    ALICE,
    BOB,
    PASSWORDS,
    basic_auth,
    running_arena,
    write_players,
)
from support.aws_template import allowed_actions
from support.blef_service import BlefHandlerClient
from support.contests import contests_in_table
from support.store_fixtures import receive_message

import director.app
import worker.app
from cardsharp.aws import client as aws
from cardsharp.aws import ssm_credentials
from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.aws.sqs_queue import SqsQueue
from cardsharp.bot.service_seats import build_seat_dependencies
from cardsharp.contest.models import ContestSettings, ContestStage
from cardsharp.core.clock import SystemClock
from cardsharp.core.queue import Message
from cardsharp.errors import WriteConflict
from cardsharp.games.blef.service.game_store import GAME_STORE_FACTORY
from cardsharp.games.blef.service.invited_bots import build_invited_bots
from cardsharp.games.blef.service.records import GamePlayer
from cardsharp.games.deadmansdraw.arena.director_ticks import TickMessage, send_immediate_tick
from cardsharp.games.deadmansdraw.arena_bot.bootstrap import ArenaBotDependencies
from cardsharp.games.deadmansdraw.arena_bot.practice_orders import (
    PracticeMatchOrder,
    create_ordered_matches,
)
from cardsharp.games.deadmansdraw.contest.application import SERVICE as ARENA
from cardsharp.games.deadmansdraw.contest.bootstrap import build_director_dependencies
from cardsharp.games.euchre.service.bootstrap import SERVICE
from cardsharp.server.feed_bootstrap import build_feed
from cardsharp.server.http_service import BOT_QUEUE_SETTING, BOT_STORE_SETTING, BOT_URL_SETTING
from cardsharp_tools.build.target import REPOSITORY_ROOT
from cardsharp_tools.games.deadmansdraw.emulated_arena import create_arena_table
from cardsharp_tools.local_cloud.api_gateway_events import HttpRequest, to_event
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.local_cloud.lambda_events import LambdaFunction, LocalLambdaContext, sqs_event
from cardsharp_tools.local_play.bot_runtime import open_bot_dependencies
from cardsharp_tools.local_play.handler_environment import override_settings_environment
from cardsharp_tools.local_server.arena_server import ArenaServer

EVENTS = REPOSITORY_ROOT / "events"
HOUR = timedelta(hours=1)
SHORT_DRAW_PILE = [["Key", 3], ["Map", 5], ["Mermaid", 9], ["Sword", 4]]
QUEUE_MAPPING_ACTIONS = {
    "ChangeMessageVisibility",
    "DeleteMessage",
    "GetQueueAttributes",
    "ReceiveMessage",
}
"""What the queue mapping does in the worker's name."""

CHANGE_VISIBILITY = "ChangeMessageVisibility"
"""What the worker does itself, besides, with a message that failed."""

DEAD_LETTER_ACTIONS = {"SendMessage"}
"""What Lambda does in the poller's name when a tick failed; the poller does it too."""

ActionsByService = dict[str, set[str]]


@contextmanager
def record_actions() -> Iterator[ActionsByService]:
    """Yield the actions called in the context, by service and named as in policies."""
    actions_by_service: ActionsByService = defaultdict(set)

    def record_action(params: dict[str, Any], model: Any, **_more: object) -> None:  # noqa: ANN401
        actions = actions_by_service[model.service_model.service_name]
        if model.name != "TransactWriteItems":
            actions.add(model.name)
            return
        for item in params["TransactItems"]:
            (kind,) = item
            actions.add(f"{kind}Item")

    handler: tuple[str, Any] = ("before-parameter-build", record_action)
    botocore.handlers.BUILTIN_HANDLERS.append(handler)
    cached_functions = (
        aws.shared_session,
        ssm_credentials.ssm_provider,
        build_seat_dependencies,
        build_director_dependencies,
    )
    for cached_function in cached_functions:
        cached_function.cache_clear()
    try:
        yield actions_by_service
    finally:
        botocore.handlers.BUILTIN_HANDLERS.remove(handler)
        for cached_function in cached_functions:
            cached_function.cache_clear()


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[ArenaServer]:
    with running_arena(tmp_path, long_poll_timeout=timedelta(milliseconds=200)) as (server, _):
        yield server


def allowed_actions_by_service(name: str, *services: str) -> ActionsByService:
    """Return the actions that a role or policy allows in the services, the only ones called."""
    return {service_name: allowed_actions(name, service_name) for service_name in services}


@contextmanager
def open_function_dependencies(
    emulator: Emulator, arena: ArenaServer, name: str
) -> Iterator[tuple[ArenaBotDependencies, ActionsByService]]:
    """Open a function's dependencies on a new stack; yield them and the actions used."""
    stack = emulator.create_resources(prefix=name)
    secret = f'{{"username": "{ALICE}", "password": "{PASSWORDS[ALICE]}"}}'
    emulator.client("ssm").put_parameter(Name=name, Value=secret, Type="SecureString")
    variables = {
        **emulator.environment,
        **stack.bot_settings(arena.url),
        "CARDSHARP_SECRET_ID": name,
        "CARDSHARP_PACE_SECONDS": "0.1",
        "CARDSHARP_STRATEGY": "draw-3",
    }
    with record_actions() as actions, open_bot_dependencies(variables) as dependencies:
        yield dependencies, actions


@contextmanager
def run_game_service(
    emulator: Emulator, game: str, table: str, prefix: str = ""
) -> Iterator[ActionsByService]:
    """Yield the actions that a game's service on a new table uses in the context."""
    stack = emulator.create_resources(prefix=prefix or game)
    variables = {**emulator.environment, f"{game.upper()}_STORE": f"dynamodb:{stack.tables[table]}"}
    with override_settings_environment(variables), record_actions() as actions:
        yield actions


def test_s13_the_blef_role_allows_exactly_the_actions_used(emulator: Emulator) -> None:
    with run_game_service(emulator, "blef", "BlefTable") as actions:
        store = GAME_STORE_FACTORY.open(os.environ["BLEF_STORE"], SystemClock())
        client = BlefHandlerClient(store, SystemClock())
        game = client.create()
        admin = client.join(game, "alice")
        client.get(f"/games/{game}/make-public", admin_uuid=admin)
        assert game in client.get("/games").text
        client.create_and_start(2).play_to_end()
        assert store.count_unexpired_games() == 2
    assert actions == allowed_actions_by_service("BlefRole", "dynamodb")


def test_s13_the_blef_feed_policy_allows_publishing_to_subscribers(emulator: Emulator) -> None:
    with run_game_service(emulator, "blef", "BlefTable", "feed") as actions:
        feed = build_feed("http://127.0.0.1:9/live", os.environ["BLEF_STORE"], SystemClock())
        assert feed.subscribe("game", "ann", "")
        feed.publish("game", lambda _: ["a text for nobody"])
        feed.unsubscribe("ann")
    feed_actions = allowed_actions("BlefFeedPolicy", "dynamodb")
    assert feed_actions == {"DeleteItem"} <= actions["dynamodb"]
    assert actions["dynamodb"] <= allowed_actions("BlefRole", "dynamodb") | feed_actions
    assert actions["apigatewaymanagementapi"] == {"PostToConnection"}
    assert allowed_actions("BlefFeedPolicy", "execute-api") == {"ManageConnections"}


def test_s13_blef_may_seat_the_bot_that_is_invited(emulator: Emulator) -> None:
    stack = emulator.create_resources(prefix="agents")
    settings = {
        BOT_STORE_SETTING: f"dynamodb:{stack.tables['Matches']}",
        BOT_QUEUE_SETTING: stack.queues["MatchQueue"],
        BOT_URL_SETTING: "http://there",
    }
    game = "01c0905c-1c0b-49b6-97c4-e7cb01262e89"
    with override_settings_environment(emulator.environment), record_actions() as actions:
        invited_bots = build_invited_bots(settings)
        with (
            suppress(WriteConflict),
            invited_bots.reserve_bot(game, GamePlayer("bot", "", "bayes"), "secret"),
        ):
            raise WriteConflict("too late")
        with invited_bots.reserve_bot(game, GamePlayer("bot", "", "bayes"), "secret"):
            pass
        seats = invited_bots.dependencies.dispatcher.match_log.running_matches()
    assert len(seats) == 1
    actions["dynamodb"] -= {"Query", "BatchGetItem"}  # of that one look at all that runs
    assert actions == allowed_actions_by_service("BlefAgentsPolicy", "dynamodb", "sqs")


def test_s13_the_euchre_role_allows_exactly_the_actions_used(emulator: Emulator) -> None:
    with run_game_service(emulator, "euchre", "EuchreTable") as actions:
        context = LocalLambdaContext("euchre", HOUR, SystemClock())
        handler = SERVICE.build_handler({**os.environ, "EUCHRE_STRATEGY": "rules"})
        for file in sorted(EVENTS.glob("euchre_*.json")):
            assert handler(json.loads(file.read_text()), context)["statusCode"] == 200
    assert actions == allowed_actions_by_service("EuchreRole", "dynamodb")


def test_s13_the_arena_role_allows_exactly_the_actions_used(
    emulator: Emulator, tmp_path: Path
) -> None:
    table = create_arena_table(emulator, write_players(tmp_path))
    contests_in_table(table, emulator.client("dynamodb")).create(ContestSettings("cup"))
    secret = f'{{"username": "{ADMIN}", "password": "{PASSWORDS[ADMIN]}"}}'
    emulator.client("ssm").put_parameter(Name="/arena", Value=secret, Type="SecureString")
    variables = {"ARENA_STORE": f"dynamodb:{table.name}", "CARDSHARP_SERVICE_SECRET": "/arena"}
    with (
        override_settings_environment({**emulator.environment, **variables}),
        record_actions() as actions,
    ):
        handler = ARENA.build_handler(os.environ)

        def send_request(method: str, target: str, user: str, body: bytes = b"") -> Any:  # noqa: ANN401
            headers = (("Authorization", basic_auth(user)), ("Content-Type", "application/json"))
            event = to_event(HttpRequest(method, target, headers, body), datetime.now(UTC))
            response = handler(
                event, LocalLambdaContext("arena", timedelta(seconds=4), SystemClock())
            )
            assert response["statusCode"] == 200, response
            return json.loads(response["body"]) if target.startswith("/api") else response["body"]

        assert "<title>cup" in send_request("GET", "/contest", ALICE)
        match = send_request("POST", "/api/matches", ALICE, b"{}")["id"]
        assert send_request("GET", "/api/matches?active=1&wait=1", ALICE)[0]["_id"] == match
        assert send_request("GET", f"/api/matches/{match}?waitactive=1&showevents=1", ALICE)
        assert send_request("POST", f"/api/matches/{match}", ALICE, b'{"etype": "Draw"}')
        assert send_request("GET", "/api/matches?active=1&wait=1", BOB) == []
        assert send_request("DELETE", f"/api/matches/{match}/terminate", ADMIN)
        assert len(send_request("GET", "/api/matches", ADMIN)) == 1
    assert actions == allowed_actions_by_service("ArenaRole", "dynamodb", "ssm")


def test_s13_the_director_role_allows_exactly_the_actions_used(emulator: Emulator) -> None:
    """The actions are those of practice and of a contest whose teams the director plays.

    Each turn has its own message.
    """
    stack = emulator.create_resources(prefix="director")
    variables = {
        **emulator.environment,
        "CARDSHARP_STORE": f"dynamodb:{stack.tables['ArenaTable']}",
        "CARDSHARP_QUEUE": stack.queues["Ticks"],
    }
    table = DynamoTable(stack.tables["ArenaTable"], emulator.client("dynamodb"))
    settings = ContestSettings("cup", format="swiss", matches=1, most=1, timeout=3600)
    records = contests_in_table(table, emulator.client("dynamodb")).create(settings)
    for name in ("draw-3", "draw-4"):  # who decide at once
        records.add_team(name, name)
    records.set_practice_until(datetime.now(UTC) + timedelta(hours=1))
    with override_settings_environment(variables), record_actions() as actions:
        function = LambdaFunction("director", director.app.handler)
        schedule = json.loads((EVENTS / "director_schedule.json").read_text())
        context = function.context(SystemClock())
        assert function.handler(schedule, context) == {"follows": False}
        assert send_immediate_tick(table, lambda url: SqsQueue(url, emulator.client("sqs")))
        queue = SqsQueue(variables["CARDSHARP_QUEUE"])
        message = receive_message(queue, timedelta(seconds=20))
        actions.clear()
        ticket = TickMessage.parse(message.body).ticket
        while records.stage is not ContestStage.OVER:
            current_message: Message | None = replace(
                message, body=TickMessage(ticket=ticket).model_dump_json()
            )
            while current_message is not None:
                function.handler(sqs_event([current_message], datetime.now(UTC)), context)
                queue.delete(current_message)
                current_message = queue.receive_message(timedelta())
            ticket += 1
            if records.stage is ContestStage.OPEN and records.practice_matches():
                records.set_practice_until(datetime.now(UTC))
                records.start_contest()
    (result,) = records.results()
    assert [facts.late for facts in result.facts] == [(0, 0)]
    assert actions["dynamodb"] == allowed_actions("DirectorRole", "dynamodb")
    assert actions["sqs"] | QUEUE_MAPPING_ACTIONS == allowed_actions("DirectorRole", "sqs") | {
        CHANGE_VISIBILITY
    }
    assert actions.keys() == {"dynamodb", "sqs"}


def test_s13_the_poller_role_allows_exactly_the_actions_used(
    emulator: Emulator, arena: ArenaServer
) -> None:
    with open_function_dependencies(emulator, arena, "poller") as (dependencies, actions):
        arena.create_match_and_get_id([ALICE, ALICE])
        dependencies.match_log.acquire_lease("running", "a worker", HOUR)
        actions.clear()
        remaining_times = iter([HOUR] * 3)
        with dependencies.build_poller() as match_poller:
            assert match_poller.run(lambda: next(remaining_times, timedelta(0))) == 1
    assert actions == allowed_actions_by_service("PollerRole", "dynamodb", "sqs", "ssm")
    assert actions["sqs"] == DEAD_LETTER_ACTIONS


def test_s13_the_worker_role_allows_exactly_the_actions_used(
    emulator: Emulator, arena: ArenaServer
) -> None:
    with open_function_dependencies(emulator, arena, "worker") as (dependencies, actions):
        match_id = arena.create_match_and_get_id([ALICE, ALICE], drawPile=SHORT_DRAW_PILE)
        dependencies.dispatcher.dispatch(match_id)
        message = receive_message(dependencies.queue, timedelta(seconds=20))
        actions.clear()
        for seconds in (1, 300):  # handed on, then played
            context = LocalLambdaContext("worker", timedelta(seconds=seconds), SystemClock())
            worker.app.handler(sqs_event([message], datetime.now(UTC)), context)
            dependencies.match_log.add_note(match_id, "refused", {})
            dependencies.match_log.acquire_lease("running", "a worker", HOUR)
    assert actions["dynamodb"] == allowed_actions("WorkerRole", "dynamodb")
    assert actions["sqs"] | QUEUE_MAPPING_ACTIONS == allowed_actions("WorkerRole", "sqs")
    assert actions["ssm"] <= allowed_actions("WorkerRole", "ssm")


def test_s13_the_practice_role_allows_exactly_the_actions_used(
    emulator: Emulator, arena: ArenaServer
) -> None:
    with (
        open_function_dependencies(emulator, arena, "practice") as (dependencies, actions),
        dependencies.build_client() as client,
    ):
        order, player_id = PracticeMatchOrder(), dependencies.player_id
        assert list(create_ordered_matches(order, player_id, client, dependencies.dispatcher))
    assert actions == allowed_actions_by_service("PracticeRole", "dynamodb", "sqs", "ssm")
