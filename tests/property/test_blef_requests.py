"""Whatever is sent to any path with any method: never a failure, and only documented answers."""

import json
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.blef import Client, Reply, StartedGame, memory_client
from support.size import cases

from cardsharp.blef import routes, routes_next
from cardsharp.web.route import ErrorBody, Route
from workbench.cloud.http_events import WireRequest

APIS = (routes.API, routes_next.API)
CASES = cases(20, every=500)
NAMES = (
    *("player_uuid", "admin_uuid", "action_id", "nickname", "round", "wait", "since"),
    *("agent_name", "x"),
)
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "QUERY")
VALUES = ("", "0", "1", "-1", "88", "89", "1e1", "0x1F", "Inf", "NaN", "true", "a", "ann", "\u00e9")

NO_TEXT = "a\ud800"
"""What an escape of JSON can name and nobody can send back: half a surrogate pair."""


@cache
def tables() -> tuple[StartedGame, ...]:
    """One service for all cases, with a game in every status."""
    client = memory_client()
    finished = client.started()
    finished.play_out()
    waiting = client.create()
    uuids = {"p0": client.join(waiting, "p0")}
    return (client.started(), client.started(5), finished, StartedGame(client, waiting, uuids))


def secrets() -> list[str]:
    return [uuid for table in tables() for uuid in (table.game, *table.uuids.values())]


@st.composite
def values(draw: st.DrawFn) -> str:
    """Something that makes sense somewhere, or any text that can be sent."""
    if draw(st.booleans()):
        return draw(st.sampled_from([*secrets(), *VALUES]))
    return draw(st.text(st.characters(codec="utf-8"), max_size=40))


@st.composite
def requests(draw: st.DrawFn, base: str, route: Route[Any]) -> WireRequest:
    """A request to the route's path, or nearly."""
    uuid = draw(st.one_of(st.sampled_from([t.game for t in tables()]), values()))
    path = route.path.replace("{game_uuid}", quote(uuid, safe=draw(st.sampled_from(("", "/%")))))
    query = urlencode(draw(st.lists(st.tuples(st.sampled_from(NAMES), values()), max_size=5)))
    body = draw(
        st.one_of(
            st.just(b""),
            st.binary(max_size=50),
            st.dictionaries(st.sampled_from(NAMES), values()).map(lambda d: urlencode(d).encode()),
            st.dictionaries(
                st.sampled_from(NAMES), st.one_of(values(), st.integers(), st.just(NO_TEXT))
            ).map(lambda d: json.dumps(d).encode()),
        )
    )
    kind = draw(st.sampled_from(("application/json", "application/x-www-form-urlencoded", "")))
    method = draw(st.sampled_from((*route.methods * 5, *METHODS)))
    headers = (("Content-Type", kind), ("Origin", "https://blef.example")) if kind else ()
    return WireRequest(method, f"{base}{path}?{query}", headers, body if method == "POST" else b"")


def check(route: Route[Any], asked: WireRequest, reply: Reply) -> None:
    """The answer has a documented status, and the body that goes with it."""
    if reply.status == 204:
        assert asked.method == "OPTIONS"
        return
    assert reply.headers["Content-Type"] == "application/json"
    if reply.status in {404, 405}:
        ErrorBody.model_validate_json(reply.text)
        return
    assert asked.method in route.methods
    refused = {*route.refusals} | ({400, 413} if asked.method == "POST" else set())
    assert reply.status in {*route.answers, *refused}
    models = route.answers.get(reply.status) or (route.error_model(reply.status),)
    assert any(fits(model, reply.text) for model in models)


def fits(model: Any, text: str) -> bool:  # noqa: ANN401 - a type of pydantic
    try:
        model.model_validate_json(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    ("base", "route"),
    [(api.base, route) for api in APIS for route in api.routes],
    ids=lambda part: part if isinstance(part, str) else part.name,
)
def test_any_request_gets_a_documented_answer(base: str, route: Route[Any]) -> None:
    client: Client = tables()[0].client

    @settings(max_examples=CASES, deadline=None)
    @given(asked=requests(base, route))
    def ask(asked: WireRequest) -> None:
        check(route, asked, client.send(asked))

    ask()
