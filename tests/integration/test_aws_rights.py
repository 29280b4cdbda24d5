"""S13: a role allows what its function was seen to use, all of it and nothing else."""

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
from support.arena import ADMIN, ALICE, BOB, PASSWORDS, basic, running_arena, write_players
from support.aws_template import allowed_actions
from support.blef import Client
from support.cloud_benches import received
from support.contests import contests_in

import director.app
import worker.app
from cardsharp.blef.invited import build_agents
from cardsharp.blef.records import Player
from cardsharp.blef.store import GAME_STORE
from cardsharp.cloud import aws, secrets
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.feeds import watched
from cardsharp.cloud.messages import LookMessage
from cardsharp.cloud.ports import Message
from cardsharp.cloud.sqs import SqsQueue
from cardsharp.contest.entries import Settings, Stage
from cardsharp.deadmansdraw.arena.ticks import Tick, wake
from cardsharp.deadmansdraw.assembly import Assembly
from cardsharp.deadmansdraw.contest.assembly import directing
from cardsharp.deadmansdraw.contest.site import SERVICE as ARENA
from cardsharp.deadmansdraw.practice import PracticeOrder, create
from cardsharp.errors import Conflict
from cardsharp.euchre.assembly import SERVICE
from cardsharp.seats import assemble
from cardsharp.web.service import BOT_QUEUE, BOT_STORE, BOT_URL
from workbench.arena.server import ArenaServer
from workbench.build.target import ROOT
from workbench.cloud.emulator import Emulator
from workbench.cloud.events import Function, LambdaContext, sqs_event
from workbench.cloud.http_events import WireRequest, http_event
from workbench.deadmansdraw.emulated import new_table
from workbench.stage.side import assembled
from workbench.stage.surroundings import environment

EVENTS = ROOT / "events"
HOUR = timedelta(hours=1)
SHORT = [["Key", 3], ["Map", 5], ["Mermaid", 9], ["Sword", 4]]
OF_LAMBDA = {"ChangeMessageVisibility", "DeleteMessage", "GetQueueAttributes", "ReceiveMessage"}
"""What the queue mapping does in the worker's name."""

POSTPONED = "ChangeMessageVisibility"
"""What the worker does itself, besides, with a message that failed."""

DLQ = {"SendMessage"}
"""What Lambda does in the poller's name when a tick failed; the poller does it too."""

Seen = dict[str, set[str]]


@contextmanager
def seen() -> Iterator[Seen]:
    """The actions of each service that are asked for meanwhile, as policies name them."""
    found: Seen = defaultdict(set)

    def note(params: dict[str, Any], model: Any, **_more: object) -> None:  # noqa: ANN401
        actions = found[model.service_model.service_name]
        if model.name != "TransactWriteItems":
            actions.add(model.name)
            return
        for item in params["TransactItems"]:
            (kind,) = item
            actions.add(f"{kind}Item")

    handler: tuple[str, Any] = ("before-parameter-build", note)
    botocore.handlers.BUILTIN_HANDLERS.append(handler)
    forget = (aws.session, secrets.provider, assemble, directing)
    for one in forget:
        one.cache_clear()
    try:
        yield found
    finally:
        botocore.handlers.BUILTIN_HANDLERS.remove(handler)
        for one in forget:
            one.cache_clear()


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[ArenaServer]:
    with running_arena(tmp_path, poll_timeout=timedelta(milliseconds=200)) as (running, _):
        yield running


def may(name: str, *services: str) -> Seen:
    """What a role or a policy allows in these services, which are all that are to be asked."""
    return {one: allowed_actions(name, one) for one in services}


@contextmanager
def deployed(emulator: Emulator, arena: ArenaServer, name: str) -> Iterator[tuple[Assembly, Seen]]:
    """What a deployed function is made of, on a stack of its own, and the actions that it uses."""
    made = emulator.create(prefix=name)
    secret = f'{{"username": "{ALICE}", "password": "{PASSWORDS[ALICE]}"}}'
    emulator.client("ssm").put_parameter(Name=name, Value=secret, Type="SecureString")
    variables = {
        **emulator.environment,
        **made.bot_at(arena.url),
        "CARDSHARP_SECRET_ID": name,
        "CARDSHARP_PACE_SECONDS": "0.1",
        "CARDSHARP_STRATEGY": "draw-3",
    }
    with seen() as actions, assembled(variables) as assembly:
        yield assembly, actions


@contextmanager
def service(emulator: Emulator, game: str, table: str, prefix: str = "") -> Iterator[Seen]:
    """The actions that a game's service, on a table of its own, uses meanwhile."""
    made = emulator.create(prefix=prefix or game)
    variables = {**emulator.environment, f"{game.upper()}_STORE": f"dynamodb:{made.tables[table]}"}
    with environment(variables), seen() as actions:
        yield actions


def test_s13_blef_may_do_what_it_does(emulator: Emulator) -> None:
    with service(emulator, "blef", "blefTable") as actions:
        store = GAME_STORE.open(os.environ["BLEF_STORE"], SystemClock())
        client = Client(store, SystemClock())
        game = client.create()
        admin = client.join(game, "alice")
        client.get(f"/games/{game}/make-public", admin_uuid=admin)
        assert game in client.get("/games").text
        client.started(2).play_out()
        assert store.count_all() == 2
    assert actions == may("blefRole", "dynamodb")


def test_s13_blef_may_tell_those_who_watch(emulator: Emulator) -> None:
    with service(emulator, "blef", "blefTable", "feed") as actions:
        feed = watched("http://127.0.0.1:9/live", os.environ["BLEF_STORE"], SystemClock())
        assert feed.watch("game", "ann", "")
        feed.tell("game", lambda _: ["a text for nobody"])
        feed.leave("ann")
    added = allowed_actions("blefFeedPolicy", "dynamodb")
    assert added == {"DeleteItem"} <= actions["dynamodb"]
    assert actions["dynamodb"] <= allowed_actions("blefRole", "dynamodb") | added
    assert actions["apigatewaymanagementapi"] == {"PostToConnection"}
    assert allowed_actions("blefFeedPolicy", "execute-api") == {"ManageConnections"}


def test_s13_blef_may_seat_the_bot_that_is_invited(emulator: Emulator) -> None:
    made = emulator.create(prefix="agents")
    told = {
        BOT_STORE: f"dynamodb:{made.tables['Matches']}",
        BOT_QUEUE: made.queues["MatchQueue"],
        BOT_URL: "http://there",
    }
    game = "01c0905c-1c0b-49b6-97c4-e7cb01262e89"
    with environment(emulator.environment), seen() as actions:
        agents = build_agents(told)
        with suppress(Conflict), agents.seat(game, Player("bot", "", "bayes"), "secret"):
            raise Conflict("too late")
        with agents.seat(game, Player("bot", "", "bayes"), "secret"):
            pass
        seats = agents.places.offering.log.running()
    assert len(seats) == 1
    actions["dynamodb"] -= {"Query", "BatchGetItem"}  # of that one look at all that runs
    assert actions == may("blefAgentsPolicy", "dynamodb", "sqs")


def test_s13_euchre_may_do_what_it_does(emulator: Emulator) -> None:
    with service(emulator, "euchre", "euchreTable") as actions:
        context = LambdaContext("euchre", HOUR, SystemClock())
        answer = SERVICE.build({**os.environ, "EUCHRE_STRATEGY": "rules"})
        for file in sorted(EVENTS.glob("euchre_*.json")):
            assert answer(json.loads(file.read_text()), context)["statusCode"] == 200
    assert actions == may("euchreRole", "dynamodb")


def test_s13_the_arena_may_do_what_it_does(emulator: Emulator, tmp_path: Path) -> None:
    table = new_table(emulator, write_players(tmp_path))
    contests_in(table, emulator.client("dynamodb")).found(Settings("cup"))
    secret = f'{{"username": "{ADMIN}", "password": "{PASSWORDS[ADMIN]}"}}'
    emulator.client("ssm").put_parameter(Name="/arena", Value=secret, Type="SecureString")
    variables = {"ARENA_STORE": f"dynamodb:{table.name}", "CARDSHARP_SERVICE_SECRET": "/arena"}
    with environment({**emulator.environment, **variables}), seen() as actions:
        answer = ARENA.build(os.environ)

        def ask(method: str, target: str, user: str, body: bytes = b"") -> Any:  # noqa: ANN401
            headers = (("Authorization", basic(user)), ("Content-Type", "application/json"))
            event = http_event(WireRequest(method, target, headers, body), datetime.now(UTC))
            told = answer(event, LambdaContext("arena", timedelta(seconds=4), SystemClock()))
            assert told["statusCode"] == 200, told
            return json.loads(told["body"]) if target.startswith("/api") else told["body"]

        assert "<title>cup" in ask("GET", "/contest", ALICE)
        match = ask("POST", "/api/matches", ALICE, b"{}")["id"]
        assert ask("GET", "/api/matches?active=1&wait=1", ALICE)[0]["_id"] == match
        assert ask("GET", f"/api/matches/{match}?waitactive=1&showevents=1", ALICE)
        assert ask("POST", f"/api/matches/{match}", ALICE, b'{"etype": "Draw"}')
        assert ask("GET", "/api/matches?active=1&wait=1", BOB) == []
        assert ask("DELETE", f"/api/matches/{match}/terminate", ADMIN)
        assert len(ask("GET", "/api/matches", ADMIN)) == 1
    assert actions == may("deadmansdrawRole", "dynamodb", "ssm")


def test_s13_the_director_may_do_what_it_does(emulator: Emulator) -> None:
    """Of practice and a cup of teams that it plays itself, each turn by its message."""
    game = "deadmansdraw"
    made = emulator.create(prefix="director")
    variables = {
        **emulator.environment,
        "CARDSHARP_STORE": f"dynamodb:{made.tables[f'{game}Table']}",
        "CARDSHARP_QUEUE": made.queues["Ticks"],
    }
    table = DynamoTable(made.tables[f"{game}Table"], emulator.client("dynamodb"))
    settings = Settings("cup", format="swiss", matches=1, most=1, timeout=3600)
    records = contests_in(table, emulator.client("dynamodb")).found(settings)
    for name in ("draw-3", "draw-4"):  # who decide at once
        records.enter(name, name)
    records.practise(datetime.now(UTC) + timedelta(hours=1))
    with environment(variables), seen() as actions:
        function = Function("director", director.app.handler)
        schedule = json.loads((EVENTS / "director_schedule.json").read_text())
        context = function.context(SystemClock())
        assert function.handler(schedule, context) == {"follows": False}
        assert wake(table, lambda url: SqsQueue(url, emulator.client("sqs")))
        queue = SqsQueue(variables["CARDSHARP_QUEUE"])
        message = received(queue, timedelta(seconds=20))
        actions.clear()
        ticket = Tick.parse(message.body).ticket
        while records.stage is not Stage.OVER:
            told: Message | None = replace(message, body=Tick(ticket=ticket).model_dump_json())
            while told is not None:
                function.handler(sqs_event([told], datetime.now(UTC)), context)
                queue.delete(told)
                told = queue.receive(timedelta())
            ticket += 1
            if records.stage is Stage.OPEN and records.meetings():
                records.practise(datetime.now(UTC))
                records.begin()
    (result,) = records.results()
    assert [facts.late for facts in result.facts] == [(0, 0)]
    assert actions["dynamodb"] == allowed_actions("DirectorRole", "dynamodb")
    assert actions["sqs"] | OF_LAMBDA == allowed_actions("DirectorRole", "sqs") | {POSTPONED}
    assert actions.keys() == {"dynamodb", "sqs"}


def test_s13_the_poller_may_do_what_it_does(emulator: Emulator, arena: ArenaServer) -> None:
    with deployed(emulator, arena, "poller") as (assembly, actions):
        arena.create_match([ALICE, ALICE])
        assembly.log.take("running", "a worker", HOUR)
        actions.clear()
        left = iter([HOUR] * 3)
        with assembly.scout() as scout:
            assert scout.listen(lambda: next(left, timedelta(0))) == 1
    assert actions == may("PollerRole", "dynamodb", "sqs", "ssm")
    assert actions["sqs"] == DLQ


def test_s13_the_worker_may_do_what_it_does(emulator: Emulator, arena: ArenaServer) -> None:
    with deployed(emulator, arena, "worker") as (assembly, actions):
        match_id = arena.create_match([ALICE, ALICE], drawPile=SHORT)
        assembly.offering.offer_one(match_id)
        message = received(assembly.queue, timedelta(seconds=20))
        actions.clear()
        look = replace(message, body=LookMessage(look=1, left=1).body)
        # Handed on, then played; at last it looks for others.
        for told, seconds in ((message, 1), (message, 300), (look, 300)):
            context = LambdaContext("worker", timedelta(seconds=seconds), SystemClock())
            worker.app.handler(sqs_event([told], datetime.now(UTC)), context)
            assembly.log.note(match_id, "refused", {})
            assembly.log.take("running", "a worker", HOUR)
    assert actions["dynamodb"] == allowed_actions("WorkerRole", "dynamodb")
    assert actions["sqs"] | OF_LAMBDA == allowed_actions("WorkerRole", "sqs")
    assert actions["ssm"] <= allowed_actions("WorkerRole", "ssm")


def test_s13_the_practice_function_may_what_it_does(emulator: Emulator, arena: ArenaServer) -> None:
    with deployed(emulator, arena, "practice") as (assembly, actions), assembly.client() as client:
        order, me = PracticeOrder(), assembly.player_id
        assert list(create(order, me, client, assembly.offering))
    assert actions == may("PracticeRole", "dynamodb", "sqs", "ssm")
