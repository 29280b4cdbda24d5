"""What every game that is mounted promises of the parts that it names."""

import io
import json
import re
from datetime import UTC, datetime
from functools import cache
from itertools import product
from random import Random
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator, validate
from rich.console import Console
from support.games import GAMES, id_of, simulated, states
from support.size import cases

from cardsharp.cloud.clock import SystemClock
from cardsharp.game import Game, Part
from cardsharp.web.api import PAGE
from cardsharp.web.events import Handler
from cardsharp.web.service import Service
from workbench.cloud.context import Function
from workbench.cloud.http_events import WireRequest, http_event, read_answer
from workbench.show.screen import SCREEN, Screen, matching

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
    game for game in GAMES if game.service is not None and isinstance(game.service.load(), Service)
]
"""Those whose API is a table of routes; an application of its own has tests of its own."""

every_service = pytest.mark.parametrize("game", SERVED, ids=id_of)


@pytest.mark.parametrize("game", GAMES, ids=id_of)
def test_every_part_is_where_it_is_said_to_be(game: Game) -> None:
    parts = game._asdict()
    loaded = {name: part.load() for name, part in parts.items() if isinstance(part, Part)}
    assert loaded.keys() >= {"simulation", "replay"}
    for name in {"attend", "order", "listen", "replay", "simulation", "archive"} & loaded.keys():
        assert callable(loaded[name]), name


@cache
def handler_of(game: Game) -> Handler:
    """A service of that game which keeps its matches in this process."""
    service = game.service.load()
    return service.build({service.store: "sqlite::memory:"})


def asked(game: Game, request: WireRequest) -> Any:  # noqa: ANN401 - whatever is answered
    handler = handler_of(game)
    context = Function(game.name, handler).context(SystemClock())
    event = http_event(request, datetime(2026, 11, 22, tzinfo=UTC))
    return read_answer(handler(event, context))


@every_service
def test_whatever_is_sent_is_answered_and_garbage_is_refused(game: Game) -> None:
    """Every route with every kind of nonsense: 4xx with a reason in JSON, never 5xx."""
    api = game.service.load().api
    for route in api.routes:
        path = api.base + re.sub(r"{\w+}", "nonsense", route.path)
        for method, body, query in product(route.methods, BODIES, QUERIES):
            answer = asked(game, WireRequest(method, path + query, body=body))
            assert answer.status < 500, (route.name, method, body, query)
            assert isinstance(json.loads(answer.body), dict | list)
    assert asked(game, WireRequest("GET", f"{api.base}/nowhere")).status == 404
    assert asked(game, WireRequest("DELETE", f"{api.base}{api.routes[0].path}")).status == 405


@every_service
def test_the_document_names_every_route_and_refers_to_what_is_there(game: Game) -> None:
    service = game.service.load()
    served = json.loads(asked(game, WireRequest("GET", service.api.document_path)).body)
    assert served == json.loads(json.dumps(service.document()))
    assert served["openapi"].startswith("3.1")
    for route in service.api.routes:
        operations = served["paths"][f"{service.api.base}{route.path}"]
        assert {method.upper() for method in operations} >= set(route.methods)
        assert all(operation["responses"] for operation in operations.values())
    named = re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(served))
    assert named
    assert set(named) <= served["components"]["schemas"].keys()
    validate(served, cls=OpenAPIV31SpecValidator)


@every_service
def test_the_page_shows_every_operation_and_all_its_links_lead_somewhere(game: Game) -> None:
    service = game.service.load()
    answer = asked(game, WireRequest("GET", service.api.base + PAGE))
    page = answer.body.decode()
    assert dict(answer.headers)["Content-Type"] == "text/html; charset=utf-8"
    for path, operations in json.loads(json.dumps(service.document()))["paths"].items():
        for method, operation in operations.items():
            assert f"<h2><code>{method.upper()} {path}</code></h2>" in page
            for one in operation.get("parameters", ()):
                assert f"<code>{one['name']}</code>" in page
    inside = {f"#{name}" for name in re.findall(r'id="([^"]+)"', page)}
    assert set(re.findall(r'href="([^"]+)"', page)) - inside == {"openapi.json"}
    assert asked(game, WireRequest("GET", f"{service.api.base}/openapi.json")).status == 200


# --- in a terminal: all is seen on 80 x 24 --------------------------------------------------------

WIDTH = 80
SEEDS = range(cases(2, every=20))

PLAYED = [game for game in GAMES if game.terminal is not None]
every_terminal = pytest.mark.parametrize("game", PLAYED, ids=id_of)


def screen_of(game: Game) -> Screen[Any, Any, Any]:
    names = [f"player {seat}" for seat in range(simulated(game).seats)]
    return game.terminal.load()(names, 0)


def drawn(lines: Any) -> list[str]:  # noqa: ANN401 - strings and what rich renders
    """The lines as they come to stand on a terminal."""
    page = io.StringIO()
    console = Console(file=page, width=WIDTH, highlight=False, markup=False, emoji=False)
    for line in lines:
        console.print(line)
    return page.getvalue().splitlines()


@every_terminal
def test_the_rules_are_one_screen(game: Game) -> None:
    rules = screen_of(game).rules.splitlines()
    assert 5 < len(rules) < SCREEN
    assert max(map(len, rules)) < WIDTH


@every_terminal
@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_is_decided_is_seen_at_once(game: Game, seed: int) -> None:
    """The table, every choice and the prompt; each choice is known by key and name."""
    simulation, screen = simulated(game), screen_of(game)
    *match, _ended = states(simulation, seed)
    for state in match[::4]:
        position = simulation.position(state)
        listed = [*screen.listed(position, WIDTH, every=True)]
        assert len(drawn(["", *screen.table(position), *listed])) < SCREEN - 1
        choices = screen.choices(position)
        assert [one.action for one in choices] == [*simulation.actions(state)]
        for choice in choices[::3]:
            assert matching(choice.key, choices) == matching(choice.name, choices) == [choice]
            assert choice.key in " ".join(listed)


@every_terminal
@pytest.mark.parametrize("seed", SEEDS)
def test_a_match_is_told_to_its_end(game: Game, seed: int) -> None:
    """In chapters, of which several end; nothing told needs more than the screen."""
    simulation, screen, dice = simulated(game), screen_of(game), Random(seed)
    state = simulation.deal(dice)
    told = []
    while simulation.to_act(state) is not None:
        action = dice.choice(simulation.actions(state))
        after = simulation.act(state, action, dice)
        told.append(screen.told(state, action, after))
        state = after
    assert all(len(drawn(one.lines)) < SCREEN for one in told)
    assert sum(one.closes for one in told) > 1
    assert any(one.lines for one in told[-3:])
