"""Parts of every mounted game: imports, HTTP service, API document and terminal."""

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
from support.lambda_events import EVENTS, invocation_context
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
from cardsharp_tools.local_play.game_service import unstarted_game_service
from cardsharp_tools.terminal.screen import SCREEN_LINES, matching_choices

MALFORMED_BODIES = (
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
MALFORMED_QUERIES = ("", "?x=1", "?game=%00&token=%FF&player_uuid=1&pos=-1&round=x&wait=&heap=9")

GAMES_WITH_SERVICE = [
    game
    for game in GAMES
    if game.http_service is not None and game.http_service.load().api is not None
]
"""Those whose API is a table of routes; an application of its own has tests of its own."""

every_service = pytest.mark.parametrize("game", GAMES_WITH_SERVICE, ids=game_id)


@pytest.mark.parametrize("game", GAMES, ids=game_id)
def test_every_part_of_a_game_can_be_imported(game: Game) -> None:
    parts = game._asdict()
    loaded = {name: part.load() for name, part in parts.items() if isinstance(part, LazyImport)}
    assert loaded.keys() >= {"simulation", "replay"}
    for name in {"attend", "order", "listen", "replay", "simulation", "archive"} & loaded.keys():
        assert callable(loaded[name]), name


@cache
def handler_of(game: Game) -> LambdaHandler:
    """Return the handler of the game's service, with its matches in this process."""
    service = game.http_service.load()
    return service.build_handler({service.store_setting: "sqlite::memory:"})


def send_request(game: Game, request: HttpRequest) -> Any:  # noqa: ANN401 - whatever is answered
    event = to_event(request, datetime(2026, 11, 22, tzinfo=UTC))
    return parse_response(handler_of(game)(event, invocation_context()))


@pytest.mark.parametrize(("name", "statuses"), [("blef", {200, 400}), ("euchre", {200})])
def test_the_entry_point_answers_every_sample_event(
    name: str, statuses: set[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The events are sent in order, because those of Euchre form a deal.

    The games that the events of Blef name do not exist.
    """
    monkeypatch.setenv(game_api.app.GAME_SETTING, name)
    monkeypatch.setenv(f"{name.upper()}_STORE", f"sqlite:{tmp_path}/deep/games.db")
    game_api.app.build_handler.cache_clear()
    files = sorted(EVENTS.glob(f"{name}_*.json"))
    assert len(files) >= 5
    for file in files:
        response = game_api.app.handler(json.loads(file.read_text()), invocation_context())
        assert response["statusCode"] in statuses, (file.name, response)
    game_api.app.build_handler.cache_clear()


@every_service
def test_malformed_requests_are_refused_without_a_server_error(game: Game) -> None:
    """Every malformed request to every route gets a 4xx with a reason in JSON."""
    api = game.http_service.load().api
    for route in api.routes:
        path = api.base_path + re.sub(r"{\w+}", "nonsense", route.path)
        for method, body, query in product(route.methods, MALFORMED_BODIES, MALFORMED_QUERIES):
            response = send_request(game, HttpRequest(method, path + query, body=body))
            assert response.status < 500, (route.name, method, body, query)
            assert isinstance(json.loads(response.body), dict | list)
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
    document = json.loads(
        send_request(game, HttpRequest("GET", f"{service.api.base_path}{OPENAPI_PATH}")).body
    )
    assert document == json.loads(json.dumps(service.openapi_documents()[service.api.name]))
    assert document["openapi"].startswith("3.1")
    for route in service.api.routes:
        operations = document["paths"][f"{service.api.base_path}{route.path}"]
        assert {method.upper() for method in operations} >= set(route.methods)
        assert all(operation["responses"] for operation in operations.values())
    referenced_schemas = re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document))
    assert referenced_schemas
    assert set(referenced_schemas) <= document["components"]["schemas"].keys()
    validate(document, cls=OpenAPIV31SpecValidator)
    response = send_request(game, HttpRequest("GET", service.api.base_path + DOCS_PATH))
    page = response.body.decode()
    assert CaseInsensitiveDict(response.headers)["Content-Type"] == "text/html; charset=utf-8"
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert f"<h2><code>{method.upper()} {path}</code></h2>" in page
            for parameter in operation.get("parameters", ()):
                assert f"<code>{parameter['name']}</code>" in page
    page_anchors = {f"#{name}" for name in re.findall(r'id="([^"]+)"', page)}
    assert set(re.findall(r'href="([^"]+)"', page)) - page_anchors == {
        OPENAPI_PATH.removeprefix("/"),
        *({"docs"} if service.api.home_page is None else {".", "docs"}),
    }


@every_service
def test_a_path_advertises_the_methods_that_the_document_has_and_no_other(game: Game) -> None:
    """The methods are in the response to a wrong method, and in that to a preflight request."""
    service = game.http_service.load()
    api, origin = service.api, (("Origin", "https://cards.example"),)
    for path, operations in service.openapi_documents()[api.name]["paths"].items():
        documented_methods, request_path = (
            {method.upper() for method in operations},
            re.sub(r"{\w+}", "x", path),
        )
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"} - documented_methods:
            refused_response = send_request(game, HttpRequest(method, request_path))
            assert refused_response.status == 405
            assert (
                set(CaseInsensitiveDict(refused_response.headers)["Allow"].split(", "))
                == documented_methods
            )
        preflight = send_request(game, HttpRequest("OPTIONS", request_path, origin))
        headers = CaseInsensitiveDict(preflight.headers)
        assert preflight.status == (204 if api.allow_cors else 405)
        advertised_methods = headers["Access-Control-Allow-Methods" if api.allow_cors else "Allow"]
        assert set(re.split(", ?", advertised_methods)) == documented_methods
    unknown_path_response = send_request(
        game, HttpRequest("OPTIONS", f"{api.base_path}/nowhere", origin)
    )
    assert unknown_path_response.status == 404
    assert "Access-Control-Allow-Methods" not in CaseInsensitiveDict(unknown_path_response.headers)


# --- in a terminal: all is seen on 80 x 24 --------------------------------------------------------

WIDTH = 80
SEEDS = range(case_count(2, full=20))

GAMES_WITH_TERMINAL = [game for game in GAMES if game.terminal_ui is not None]
every_terminal = pytest.mark.parametrize("game", GAMES_WITH_TERMINAL, ids=game_id)


def render_lines(lines: Any) -> list[str]:  # noqa: ANN401 - strings and what rich renders
    """Return the lines as a terminal displays them."""
    console = Console(width=WIDTH, highlight=False, markup=False, emoji=False)
    with console.capture() as page:
        for line in lines:
            console.print(line)
    return page.get().splitlines()


@every_terminal
@pytest.mark.parametrize("seed", SEEDS)
def test_a_match_is_displayed_on_a_single_screen_from_start_to_end(game: Game, seed: int) -> None:
    """Table, choices and prompt fit on the screen, as do the rules and each chapter."""
    simulation, rng = game_simulation(game), Random(seed)
    screen = game.terminal_ui.load()([f"player {seat}" for seat in range(simulation.seats)], 0)
    rules = screen.rules.splitlines()
    assert 5 < len(rules) < SCREEN_LINES
    assert max(map(len, rules)) < WIDTH
    state, move_texts = simulation.initial_state(rng), []
    while simulation.current_seat(state) is not None:
        legal_actions = simulation.legal_actions(state)
        if len(move_texts) % 4 == 0:
            position = simulation.current_position(state)
            choice_lines = [*screen.choice_lines(position, WIDTH, include_all=True)]
            assert (
                len(render_lines(["", *screen.position_view(position), *choice_lines]))
                < SCREEN_LINES - 1
            )
            choices = screen.choices(position)
            assert [choice.action for choice in choices] == [*legal_actions]
            for choice in choices[::3]:
                assert (
                    matching_choices(choice.key, choices)
                    == matching_choices(choice.name, choices)
                    == [choice]
                )
                assert choice.key in " ".join(choice_lines)
        action = rng.choice(legal_actions)
        next_state = simulation.apply_action(state, action, rng)
        move_texts.append(screen.render_screen_move(state, action, next_state))
        state = next_state
    assert all(len(render_lines(move_text.lines)) < SCREEN_LINES for move_text in move_texts)
    assert sum(move_text.ends_chapter for move_text in move_texts) > 1
    assert any(move_text.lines for move_text in move_texts[-3:])


# --- made-up requests: never a failure, nor an answer outside the service's document ------------


MAX_CASES = case_count(3, full=500)  # for each operation; 500 of all take 10 minutes

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


def operation_params(game: Game) -> Iterator[Any]:
    """Yield a test parameter for every operation of every document of a game."""
    for name, document in game.http_service.load().openapi_documents().items():
        schema: Any = schemathesis.openapi.from_dict({**document})
        for result in schema.get_all_operations():
            operation = result.ok()
            yield pytest.param(game, operation, id=f"{game.name}{name}-{operation.label}")


ValuesByParameter = dict[str, list[object]]


def create_blef_games(_url: str, file: Path) -> ValuesByParameter:
    """Create a game that waits for players, a running game and a finished game."""
    with closing(GAME_STORE_FACTORY.open_file(file, SystemClock())) as store:
        client = BlefHandlerClient(store, SystemClock())
        waiting_game, running_game, finished_game = (
            client.create(),
            client.create_and_start(),
            client.create_and_start(),
        )
        players = [
            client.join(waiting_game, "ann"),
            *running_game.uuids.values(),
            *finished_game.uuids.values(),
        ]
        finished_game.play_to_end()
    games = [waiting_game, running_game.game_id, finished_game.game_id]
    return {"game_uuid": games, "player_uuid": players, "admin_uuid": players}


def create_euchre_deals(url: str, _file: Path) -> ValuesByParameter:
    """Create deals with all events up to each kind of decision."""
    tokens: list[object] = []
    for decision_kind in DECISION_KINDS:
        tokens.append(decision_kind)
        with RemotePlayerClient(url) as player:
            player.token = decision_kind
            deal = random_deal_with_decision(decision_kind, Random(len(tokens)))
            player.begin_deal(deal, frozenset())
            player.end_deal(deal)
    return {"token": tokens, "gameNum": [0], "dealNum": [0]}


def create_hosted_game(url: str, _file: Path) -> ValuesByParameter:
    """Create a game with a single player."""
    game = requests.post(f"{url}/create", json={}, timeout=HANG_SECONDS).json()["game"]
    join_params = {"game": game, "name": "ann", "secret": "00000000-0000-4000-8000-00000000cafe"}
    assert requests.post(f"{url}/join", json=join_params, timeout=HANG_SECONDS).status_code == 200
    return {name: [join_params[name]] for name in ("game", "secret")}


EXISTING_VALUE_FACTORIES: dict[str, Callable[[str, Path], ValuesByParameter]] = {
    "blef": create_blef_games,
    "euchre": create_euchre_deals,
}


@pytest.fixture(scope="module")
def create_service_data(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[Game], tuple[Path, ValuesByParameter]]:
    """Return a function that creates a service with data, once for each game.

    It returns the service's file, and for each parameter the values that exist there.
    """

    @cache
    def create_data(game: Game) -> tuple[Path, ValuesByParameter]:
        file = tmp_path_factory.mktemp(game.name) / "games.db"
        with unstarted_game_service(game, f"sqlite:{file}") as server, server:
            return file, EXISTING_VALUE_FACTORIES.get(game.name, create_hosted_game)(
                server.url, file
            )

    return create_data


@pytest.mark.parametrize(
    ("game", "operation"),
    # One service serves Nim and Kuhn poker.
    [
        case
        for game in GAMES_WITH_SERVICE
        if ALL or game.name != "nim"
        for case in operation_params(game)
    ],
)
def test_every_answer_is_in_the_document(
    game: Game,
    operation: object,
    create_service_data: Callable[[Game], tuple[Path, ValuesByParameter]],
    tmp_path: Path,
) -> None:
    request_strategies = (operation.as_strategy(generation_mode=mode) for mode in GenerationMode)
    file, existing_values = create_service_data(game)
    copytree(file.parent, tmp_path, dirs_exist_ok=True)
    with unstarted_game_service(game, f"sqlite:{tmp_path / file.name}") as server, server:

        @settings(
            max_examples=MAX_CASES,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=st.one_of(*request_strategies))
        def send_generated_request(case: Any) -> None:  # noqa: ANN401 - the same
            request_parts = (case.path_parameters, case.query, case.body)
            rng = Random(repr(request_parts))
            for part in (part for part in request_parts if isinstance(part, dict)):
                part.pop("wait", None)  # long polls by the real clock
                for name in part.keys() & existing_values.keys():
                    if rng.random() < REUSE_PROBABILITY:
                        part[name] = rng.choice(existing_values[name])
            case.call_and_validate(base_url=server.url, checks=CHECKS)

        send_generated_request()
