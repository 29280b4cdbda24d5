"""Contract of the parts that every mounted game names, for any request."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from shutil import copytree
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openapi_spec_validator import OpenAPIV31SpecValidator, validate
from requests.structures import CaseInsensitiveDict
from rich.console import Console
from schemathesis import GenerationMode
from support.blef_service import BlefHandlerClient
from support.case_counts import ALL, case_count
from support.games import GAMES, game_id, game_simulation
from support.lambda_events import EVENTS, context
from support.waiting import HANG_SECONDS

import game_api.app
from cardsharp.core.clock import SystemClock
from cardsharp.games.blef.service.game_store import GAME_STORE_FACTORY
from cardsharp.play.game import Game, LazyImport
from cardsharp.server.api import DOCS_PATH, OPENAPI_PATH
from cardsharp.server.gateway_events import LambdaHandler
from cardsharp_tools.games.euchre.leak_probe import DECISION_KINDS, random_deal_with_decision
from cardsharp_tools.games.euchre.remote_player import RemotePlayerClient
from cardsharp_tools.local_cloud.api_gateway_events import HttpRequest, parse_response, to_event
from cardsharp_tools.local_play.game_service import create_game_service
from cardsharp_tools.terminal.screen import SCREEN_LINES, matching_choices

BODIES = (
    b"",
    b"{",
    b"[]",
    b"null",
    b'{"x": 1}',
    b'{"nickname": NaN}',
    b'{"nickname": "a\\ud800"}',
    b"[" * 5000,
    b'{"game": 1, "token": []}',
    b"\xff\xfe",
    b"9" * 9000,
)
QUERIES = ("", "?x=1", "?game=%00&token=%FF&player_uuid=1&pos=-1&round=x&wait=&heap=9")

SERVED = [
    game
    for game in GAMES
    if game.http_service is not None and game.http_service.load().api is not None
]
"""Those whose API is a table of routes; an application of its own has tests of its own."""

every_service = pytest.mark.parametrize("game", SERVED, ids=game_id)


@pytest.mark.parametrize("game", GAMES, ids=game_id)
def test_every_part_of_a_game_can_be_imported(game: Game) -> None:
    parts = game._asdict()
    loaded = {name: part.load() for name, part in parts.items() if isinstance(part, LazyImport)}
    assert loaded.keys() >= {"simulation", "replay"}
    for name in {"attend", "order", "listen", "replay", "simulation", "archive"} & loaded.keys():
        assert callable(loaded[name]), name


@cache
def handler_of(game: Game) -> LambdaHandler:
    """A service of that game which keeps its matches in this process."""
    service = game.http_service.load()
    return service.build_handler({service.store_setting: "sqlite::memory:"})


def send_request(game: Game, request: HttpRequest) -> Any:  # noqa: ANN401 - whatever is answered
    event = to_event(request, datetime(2026, 11, 22, tzinfo=UTC))
    return parse_response(handler_of(game)(event, context()))


@pytest.mark.parametrize(("name", "statuses"), [("blef", {200, 400}), ("euchre", {200})])
def test_the_entry_point_answers_every_sample_event(
    name: str, statuses: set[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In their order, for those of Euchre are a deal; games that Blef's name are not there."""
    monkeypatch.setenv(game_api.app.GAME_SETTING, name)
    monkeypatch.setenv(f"{name.upper()}_STORE", f"sqlite:{tmp_path}/deep/games.db")
    game_api.app.build_handler.cache_clear()
    files = sorted(EVENTS.glob(f"{name}_*.json"))
    assert len(files) >= 5
    for file in files:
        answer = game_api.app.handler(json.loads(file.read_text()), context())
        assert answer["statusCode"] in statuses, (file.name, answer)
    game_api.app.build_handler.cache_clear()


@every_service
def test_whatever_is_sent_is_answered_and_garbage_is_refused(game: Game) -> None:
    """Every route with every kind of nonsense: 4xx with a reason in JSON, never 5xx."""
    api = game.http_service.load().api
    for route in api.routes:
        path = api.base_path + re.sub(r"{\w+}", "nonsense", route.path)
        for method, body, query in product(route.methods, BODIES, QUERIES):
            answer = send_request(game, HttpRequest(method, path + query, body=body))
            assert answer.status < 500, (route.name, method, body, query)
            assert isinstance(json.loads(answer.body), dict | list)
    assert send_request(game, HttpRequest("GET", f"{api.base_path}/nowhere")).status == 404
    assert (
        send_request(game, HttpRequest("DELETE", f"{api.base_path}{api.routes[0].path}")).status
        == 405
    )


@every_service
def test_the_document_and_its_page_cover_every_operation_and_every_reference_resolves(
    game: Game,
) -> None:
    service = game.http_service.load()
    served = json.loads(
        send_request(game, HttpRequest("GET", f"{service.api.base_path}{OPENAPI_PATH}")).body
    )
    assert served == json.loads(json.dumps(service.openapi_documents()[service.api.name]))
    assert served["openapi"].startswith("3.1")
    for route in service.api.routes:
        operations = served["paths"][f"{service.api.base_path}{route.path}"]
        assert {method.upper() for method in operations} >= set(route.methods)
        assert all(operation["responses"] for operation in operations.values())
    named = re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(served))
    assert named
    assert set(named) <= served["components"]["schemas"].keys()
    validate(served, cls=OpenAPIV31SpecValidator)
    answer = send_request(game, HttpRequest("GET", service.api.base_path + DOCS_PATH))
    page = answer.body.decode()
    assert CaseInsensitiveDict(answer.headers)["Content-Type"] == "text/html; charset=utf-8"
    for path, operations in served["paths"].items():
        for method, operation in operations.items():
            assert f"<h2><code>{method.upper()} {path}</code></h2>" in page
            for parameter in operation.get("parameters", ()):
                assert f"<code>{parameter['name']}</code>" in page
    inside = {f"#{name}" for name in re.findall(r'id="([^"]+)"', page)}
    assert set(re.findall(r'href="([^"]+)"', page)) - inside == {OPENAPI_PATH.removeprefix("/")}


@every_service
def test_a_path_advertises_the_methods_that_the_document_has_and_no_other(game: Game) -> None:
    """To a wrong method, and to a browser that asks before a page of another site may."""
    service = game.http_service.load()
    api, origin = service.api, (("Origin", "https://cards.example"),)
    for path, operations in service.openapi_documents()[api.name]["paths"].items():
        documented_methods, sent = (
            {method.upper() for method in operations},
            re.sub(r"{\w+}", "x", path),
        )
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"} - documented_methods:
            refused = send_request(game, HttpRequest(method, sent))
            assert refused.status == 405
            assert (
                set(CaseInsensitiveDict(refused.headers)["Allow"].split(", ")) == documented_methods
            )
        preflight = send_request(game, HttpRequest("OPTIONS", sent, origin))
        headers = CaseInsensitiveDict(preflight.headers)
        assert preflight.status == (204 if api.allow_cors else 405)
        named = headers["Access-Control-Allow-Methods" if api.allow_cors else "Allow"]
        assert set(re.split(", ?", named)) == documented_methods
    nowhere = send_request(game, HttpRequest("OPTIONS", f"{api.base_path}/nowhere", origin))
    assert nowhere.status == 404
    assert "Access-Control-Allow-Methods" not in CaseInsensitiveDict(nowhere.headers)


# --- in a terminal: all is seen on 80 x 24 --------------------------------------------------------

WIDTH = 80
SEEDS = range(case_count(2, full=20))

PLAYED = [game for game in GAMES if game.terminal_ui is not None]
every_terminal = pytest.mark.parametrize("game", PLAYED, ids=game_id)


def render_lines(lines: Any) -> list[str]:  # noqa: ANN401 - strings and what rich renders
    """The lines as they come to stand on a terminal."""
    console = Console(width=WIDTH, highlight=False, markup=False, emoji=False)
    with console.capture() as page:
        for line in lines:
            console.print(line)
    return page.get().splitlines()


@every_terminal
@pytest.mark.parametrize("seed", SEEDS)
def test_a_match_is_displayed_on_a_single_screen_from_start_to_end(game: Game, seed: int) -> None:
    """Table, every choice by key and name, and prompt; then chapters, of which several end.

    Nothing of it, nor the rules, needs more than the screen.
    """
    simulation, dice = game_simulation(game), Random(seed)
    screen = game.terminal_ui.load()([f"player {seat}" for seat in range(simulation.seats)], 0)
    rules = screen.rules.splitlines()
    assert 5 < len(rules) < SCREEN_LINES
    assert max(map(len, rules)) < WIDTH
    state, move_texts = simulation.initial_state(dice), []
    while simulation.current_seat(state) is not None:
        legal = simulation.legal_actions(state)
        if len(move_texts) % 4 == 0:
            position = simulation.current_position(state)
            listed = [*screen.choice_lines(position, WIDTH, include_all=True)]
            assert (
                len(render_lines(["", *screen.position_view(position), *listed])) < SCREEN_LINES - 1
            )
            choices = screen.choices(position)
            assert [choice.action for choice in choices] == [*legal]
            for choice in choices[::3]:
                assert (
                    matching_choices(choice.key, choices)
                    == matching_choices(choice.name, choices)
                    == [choice]
                )
                assert choice.key in " ".join(listed)
        action = dice.choice(legal)
        next_state = simulation.apply_action(state, action, dice)
        move_texts.append(screen.render_screen_move(state, action, next_state))
        state = next_state
    assert all(len(render_lines(move_text.lines)) < SCREEN_LINES for move_text in move_texts)
    assert sum(move_text.ends_chapter for move_text in move_texts) > 1
    assert any(move_text.lines for move_text in move_texts[-3:])


# --- made-up requests: never a failure, nor an answer outside the service's document ------------


CASES = case_count(5, full=500)  # for each operation; 500 of all take 10 minutes

REUSE_PROBABILITY = 0.7  # how often what is made up gives way to what exists

CHECKS = [
    getattr(schemathesis.checks, name)
    for name in (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
    )
]


def operations(game: Game) -> Iterator[Any]:
    """Every operation of every document of a game."""
    for name, document in game.http_service.load().openapi_documents().items():
        schema: Any = schemathesis.openapi.from_dict({**document})
        for result in schema.get_all_operations():
            operation = result.ok()
            yield pytest.param(game, operation, id=f"{game.name}{name}-{operation.label}")


Things = dict[str, list[object]]


def of_blef(_url: str, file: Path) -> Things:
    """A game that has not begun, one that runs and one that is over."""
    with closing(GAME_STORE_FACTORY.open_file(file, SystemClock())) as store:
        client = BlefHandlerClient(store, SystemClock())
        waiting, running, over = (
            client.create(),
            client.create_and_start(),
            client.create_and_start(),
        )
        players = [client.join(waiting, "ann"), *running.uuids.values(), *over.uuids.values()]
        over.play_out()
    games = [waiting, running.game, over.game]
    return {"game_uuid": games, "player_uuid": players, "admin_uuid": players}


def of_euchre(url: str, _file: Path) -> Things:
    """Deals that were told up to every kind of decision."""
    tokens: list[object] = []
    for kind in DECISION_KINDS:
        tokens.append(kind)
        with RemotePlayerClient(url) as player:
            player.token = kind
            deal = random_deal_with_decision(kind, Random(len(tokens)))
            player.begin_deal(deal, frozenset())
            player.end_deal(deal)
    return {"token": tokens, "gameNum": [0], "dealNum": [0]}


def of_any(url: str, _file: Path) -> Things:
    """A game with one player."""
    game = requests.post(f"{url}/create", json={}, timeout=HANG_SECONDS).json()["game"]
    joined = {"game": game, "name": "ann", "secret": "00000000-0000-4000-8000-00000000cafe"}
    assert requests.post(f"{url}/join", json=joined, timeout=HANG_SECONDS).status_code == 200
    return {name: [joined[name]] for name in ("game", "secret")}


EXISTING_VALUE_FACTORIES: dict[str, Callable[[str, Path], Things]] = {
    "blef": of_blef,
    "euchre": of_euchre,
}


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Game], tuple[Path, Things]]:
    """Return a function that creates a service with data, once for each game.

    It returns the service's file, and for each parameter the values that exist there.
    """

    @cache
    def create_service_data(game: Game) -> tuple[Path, Things]:
        file = tmp_path_factory.mktemp(game.name) / "games.db"
        with create_game_service(game, f"sqlite:{file}") as front, front:
            return file, EXISTING_VALUE_FACTORIES.get(game.name, of_any)(front.url, file)

    return create_service_data


@pytest.mark.parametrize(
    ("game", "operation"),
    # One service serves Nim and Kuhn poker.
    [case for game in SERVED if ALL or game.name != "nim" for case in operations(game)],
)
def test_every_answer_is_in_the_document(
    game: Game, operation: object, begun: Callable[[Game], tuple[Path, Things]], tmp_path: Path
) -> None:
    modes = (operation.as_strategy(generation_mode=mode) for mode in GenerationMode)
    file, existing_values = begun(game)
    copytree(file.parent, tmp_path, dirs_exist_ok=True)
    with create_game_service(game, f"sqlite:{tmp_path / file.name}") as front, front:

        @settings(
            max_examples=CASES,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=st.one_of(*modes))
        def ask(case: Any) -> None:  # noqa: ANN401 - the same
            request_parts = (case.path_parameters, case.query, case.body)
            chance = Random(repr(request_parts))
            for part in (part for part in request_parts if isinstance(part, dict)):
                part.pop("wait", None)  # long polls by the real clock
                for name in part.keys() & existing_values.keys():
                    if chance.random() < REUSE_PROBABILITY:
                        part[name] = chance.choice(existing_values[name])
            case.call_and_validate(base_url=front.url, checks=CHECKS)

        ask()
