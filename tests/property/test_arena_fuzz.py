"""Whatever is sent, the arena answers with its own statuses, and the cards stay complete."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.arena import ADMIN, ALICE, BOB, DUMMY, OUTSIDER, Answer, Client, running_arena
from support.size import cases

from cardsharp.deadmansdraw.arena.inputs import MAX_BODY
from cardsharp.deadmansdraw.cards import SERVER_DECK

STATUSES = {200, 302, 303, 400, 401, 403, 404, 409, 410}
USERS = st.sampled_from([ADMIN, ALICE, BOB, DUMMY, OUTSIDER, None])

words = st.sampled_from(
    ["Draw", "EndTurn", "ResponseToEffect", "Hook", "Oracle", "Map", "Kraken", "Mermaid", "Parrot"]
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=12)
    | words
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=12,
)
cards = (
    st.tuples(words, st.integers(1, 10)).map(list)
    | st.fixed_dictionaries({"suit": words, "value": st.integers(1, 10) | values})
    | values
)


def bodies_with(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Objects that look like a request, with anything where something is expected."""
    known = {name: strategy | values for name, strategy in fields.items()}
    return st.fixed_dictionaries({}, optional=known)


actions = bodies_with(
    etype=words,
    autopick=st.booleans(),
    effect=st.fixed_dictionaries({}, optional={"effectType": words | values, "card": cards}),
)
creations = bodies_with(
    playerids=st.lists(st.sampled_from([ALICE, BOB, DUMMY, "x"]), max_size=3),
    tags=st.lists(st.text(max_size=5), max_size=3),
    playArea=st.lists(cards, max_size=3),
    drawPile=st.lists(cards, max_size=4),
    discardPile=st.lists(cards, max_size=4),
    banks=st.lists(st.lists(cards, max_size=3), max_size=3),
    randomSeed=st.text(max_size=10) | st.floats(allow_nan=False),
    timeout=st.integers() | st.floats(allow_nan=False),
)
raw = (
    st.binary(max_size=60)
    | st.sampled_from(
        [b"[" * 60_000, b'{"a":' * 10_000, b"NaN", b"1e999", b'"\\ud800"', b"9" * 5000]
    )
    | (actions | creations | values).map(lambda body: json.dumps(body).encode())
)
queries = st.dictionaries(
    st.sampled_from(
        ["active", "wait", "waitactive", "showevents", "showdebug", "condensed", "tags", "at",
         "limit", "offset", "sortasc", "id", "repeat"]
    ),
    st.sampled_from(["1", "true", "0", "today", "2026-11-20", "-1", "x", ALICE, "1,2", ""])
    | st.text(st.characters(codec="utf-8"), max_size=8),
)  # fmt: skip

fuzzing = settings(
    max_examples=cases(50, every=150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("arena")
    short = timedelta(milliseconds=1)
    with running_arena(
        folder, data=folder / "arena.db", poll_timeout=short, watchdog_pause=short
    ) as (_, client):
        yield client


def check(answer: Answer) -> Answer:
    """An answer of the protocol: one of its statuses, and JSON with an error where it says no."""
    assert answer.status in STATUSES, (answer.status, answer.text)
    kind = answer.headers.get("content-type", [""])[0]
    if kind.startswith("application/json"):
        body = answer.json()
        if answer.status in {400, 403, 404, 409}:
            assert list(body) == ["error"]
            assert body["error"]
    else:
        assert answer.status in {302, 303, 401, 404} or kind.startswith("text/html")
    return answer


@fuzzing
@given(st.lists(st.tuples(USERS, actions), max_size=12), st.integers(0, 5))
def test_no_action_breaks_a_match(
    client: Client, requests: list[tuple[str | None, Any]], seed: int
) -> None:
    """No 5xx for any action; afterwards all 60 cards are there, each once, and counted right."""
    made = client.post("/api/matches", ALICE, {"randomSeed": seed}).json()["id"]
    path = f"/api/matches/{made}"
    for user, body in requests:
        check(client.post(path, user, body))
        check(client.post(path, ALICE, body))
    view = client.get(f"{path}?showdebug=1&showevents=1", ALICE).json()
    assert cards_of(view) == sorted(map(str, SERVER_DECK))
    assert view["drawPileSize"] == len(view["state"]["drawPile"])
    assert view["discardPileSize"] == len(view["state"]["discardPile"])
    assert view["moveCount"] == len(view["moves"])


def cards_of(view: dict[str, Any]) -> list[str]:
    """Every card of a debug view, wherever it lies."""
    state = view["state"]
    piles = [*state["drawPile"], *state["discardPile"], *state["playArea"]]
    pending = state.get("pendingEffect", {})
    if pending.get("effectType") == "Map":
        piles += pending["cards"]
    banked = [
        f"{suit}{value}"
        for bank in state["banks"]
        for suit, values_of_suit in bank.items()
        for value in values_of_suit
    ]
    return sorted([f"{card['suit']}{card['value']}" for card in piles] + banked)


@fuzzing
@given(USERS, creations)
@example(ALICE, {"playerids": [DUMMY, DUMMY]})
def test_no_creation_breaks_the_arena(client: Client, user: str | None, body: object) -> None:
    """A match is created or refused; one that is created can be looked at and played."""
    answer = check(client.post("/api/matches", user, body))
    if answer.status == 200:
        path = f"/api/matches/{answer.json()['id']}"
        # A player may create a match of the dummy against itself, and may not look at it.
        view = check(client.get(f"{path}?showdebug=1&showevents=1", ADMIN)).json()
        for _ in range(3):
            check(client.post(path, ALICE, {"etype": "Draw", "autopick": True}))
            check(client.post(path, DUMMY, {"etype": "EndTurn", "autopick": True}))
        assert view["moveCount"] == 1


@fuzzing
@given(
    st.sampled_from(["GET", "POST", "DELETE", "PUT", "HEAD", "PATCH", "OPTIONS"]),
    st.sampled_from(
        ["/api/matches", "/api/matches/{}", "/api/matches/{}/terminate", "/api/matches/watchdog",
         "/api/matches/busydays", "/api/players", "/api/players/{}", "/api/whoami", "/api/{}",
         "/matches", "/docs", "/page/{}", "/{}", "/"]
    ),
    st.text(st.characters(codec="utf-8"), max_size=14) | st.sampled_from([ALICE, "abcdefghijkl"]),
    st.tuples(queries, USERS, raw, st.sampled_from(["application/json", "text/plain", ""])),
)  # fmt: skip
def test_no_request_breaks_the_arena(
    client: Client,
    method: str,
    path: str,
    part: str,
    sent: tuple[dict[str, str], str | None, bytes, str],
) -> None:
    """Any method, path, query, user and body."""
    query, user, body, kind = sent
    target = path.format(quote(part, safe="")) + "?" + urlencode(query)
    headers = {"Content-Type": kind} if kind else {}
    answer = client.ask(method, target, user, body, headers)
    if method != "HEAD":
        check(answer)
    assert len(body) <= MAX_BODY
    assert client.get("/api/hello", None).status == 200
