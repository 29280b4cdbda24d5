"""Any request gets an answer of the protocol, and no player learns of hidden cards."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from support.arena_server import (
    ADMIN,
    ALICE,
    BOB,
    DUMMY,
    OUTSIDER,
    ArenaHttpClient,
    HttpResponse,
    InProcessClient,
    ManualClock,
    arena_config,
    running_arena,
)
from support.case_counts import case_count

from cardsharp.games.deadmansdraw.arena.randomness import RandomnessMethod
from cardsharp.games.deadmansdraw.cards import SERVER_DECK, Card, Suit

CLOCK = ManualClock()
SPECTATOR = None  # whoever sends no credentials
MATCH_PAGES = ("", "?step=2", "/steps", "/steps?from=1", "/steps?from=1&wait=1")
DISCARDS = [Card(Suit.KEY, 2), Card(Suit.HOOK, 2)]
PICKS_BY_CHANCE = (Suit.MAP, Suit.CHEST)
"""Suits that make the seed show: kept out of the cards that are drawn."""

PREDICTABLE_CARDS = [
    card for card in SERVER_DECK if card not in DISCARDS and card.suit not in PICKS_BY_CHANCE
]


@dataclass(frozen=True)
class Twins:
    """Two matches that differ only in the seed and in cards of the pile that no player has seen."""

    common_cards: list[Card]
    rests: tuple[list[Card], list[Card]]
    seeds: tuple[str, str]
    verbs: list[str]


@st.composite
def twins(draw: st.DrawFn) -> Twins:
    common_cards = draw(
        st.lists(st.sampled_from(PREDICTABLE_CARDS), unique=True, min_size=2, max_size=9)
    )
    other_cards = [
        card for card in SERVER_DECK if card not in common_cards and card not in DISCARDS
    ]
    size = draw(st.integers(1, 12))
    rests = draw(st.permutations(other_cards))[:size], draw(st.permutations(other_cards))[:size]
    seeds = draw(st.text("0123456789", min_size=3)), draw(st.text("0123456789", min_size=3))
    # One card less than is known: an Oracle shows the card after the one that was drawn.
    verbs = draw(st.lists(st.sampled_from(["Draw", "EndTurn"]), max_size=16))
    return Twins(common_cards, rests, seeds, verbs)


@pytest.fixture(scope="module", params=RandomnessMethod)
def client(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ArenaHttpClient]:
    """Client of an arena in this process: over a socket so many requests would be slow."""
    short, folder = timedelta(milliseconds=1), tmp_path_factory.mktemp("arena")
    config = arena_config(
        folder, clock=CLOCK, randomness=request.param, long_poll_timeout=short, is_public=True
    )
    with closing(InProcessClient(config)) as client:
        yield client


def create(
    client: ArenaHttpClient, twin: Twins, which: int, creator: str, players: list[str]
) -> str:
    pile = [[card.suit, card.value] for card in [*twin.common_cards, *twin.rests[which]]]
    body = {
        "playerids": players,
        "drawPile": pile,
        "discardPile": [[card.suit, card.value] for card in DISCARDS],
        "randomSeed": twin.seeds[which],
        "tags": ["twin"],
    }
    answer = client.post("/api/matches", creator, body)
    assert answer.status == 200, answer.text
    return str(answer.json()["id"])


def look(client: ArenaHttpClient, creator: str, match: str) -> Any:  # noqa: ANN401 - JSON
    return client.get(f"/api/matches/{match}?showdebug=1", creator).json()


def all_responses(client: ArenaHttpClient, match: str, player: str | None) -> list[tuple[int, str]]:
    """Return all responses that a player can get about a match, with its id masked."""
    path = f"/api/matches/{match}"
    answers = [
        client.get(path, player),
        client.get(f"{path}?showevents=1", player),
        client.get(f"{path}?showevents=1&showdebug=1", player),
        client.get(f"{path}?showdebug=1&condensed=1", player),
        client.get(f"{path}?waitactive=1&showdebug=1&showevents=1", player),
        client.get(f"/api/matches?id={match}&showdebug=1", player),
        client.get(f"/api/matches?id={match}&condensed=1", player),
        *(client.get(f"/matches/{match}{more}", player) for more in MATCH_PAGES),
        client.post(path, player, {"etype": "nonsense"}),
        client.post(path, player, {"etype": "EndTurn", "effect": {"effectType": "Map"}}),
        client.request("DELETE", f"{path}/terminate", player, {}),
    ]
    parts = [
        *client.get("/matches?limit=5000", player).text.split("<tr>"),
        *client.get("/matches/statistics?tag=twin", player).text.split("<span>"),
    ]
    # What follows the last row is another match's, or the end of the page.
    row_texts = [part.split("</tr>")[0].split("</small>")[0] for part in parts]
    rows = [part.replace(match, "ID") for part in row_texts if match in part]
    assert rows, "in the list"
    return [*(comparable_response(answer, match) for answer in answers), (0, "".join(rows))]


def comparable_response(answer: HttpResponse, match: str) -> tuple[int, str]:
    return answer.status, answer.text.replace(match, "ID")


@pytest.mark.parametrize(
    ("creator", "players", "blind"),
    [(ADMIN, [ALICE, BOB], (ALICE, BOB, SPECTATOR)), (ALICE, [ALICE, DUMMY], (DUMMY, SPECTATOR))],
)
@settings(max_examples=case_count(6, full=40))
@given(twin=twins())
def test_matches_that_differ_only_in_hidden_cards_have_equal_responses(
    client: ArenaHttpClient,
    creator: str,
    players: list[str],
    blind: tuple[str | None, ...],
    twin: Twins,
) -> None:
    """Every response to a player who did not create the matches is equal, byte for byte."""
    first, second = (create(client, twin, which, creator, players) for which in (0, 1))
    starters = [look(client, creator, match)["activePlayerIndex"] for match in (first, second)]
    assume(starters[0] == starters[1])
    for verb in twin.verbs:
        state = look(client, creator, first)
        taken_count = len(twin.common_cards) + len(twin.rests[0]) - state["drawPileSize"]
        pending = state["state"].get("pendingEffect", {}).get("effectType")
        # A Kraken may draw two at once; all that is drawn or shown stays among the known cards.
        if taken_count + (3 if pending == "Kraken" else 2) > len(twin.common_cards):
            break
        mover = players[state["activePlayerIndex"]]
        body = {"etype": verb, "autopick": pending not in (None, "Kraken", "Oracle")}
        answers = [client.post(f"/api/matches/{match}", mover, body) for match in (first, second)]
        assert comparable_response(answers[0], first) == comparable_response(answers[1], second)
    CLOCK.advance(timedelta(minutes=1))  # a spectator may ask so much a minute
    for player in blind:
        assert all_responses(client, first, player) == all_responses(client, second, player)


def test_the_creator_does_see_the_difference(client: ArenaHttpClient) -> None:
    """Show that the test above compares something that differs when it is visible."""
    rests = [Card(Suit.KRAKEN, 5)], [Card(Suit.KRAKEN, 6)]
    twin = Twins([Card(Suit.MERMAID, 9)], rests, ("1", "2"), [])
    first, second = (create(client, twin, which, ALICE, [ALICE, DUMMY]) for which in (0, 1))
    assert all_responses(client, first, ALICE) != all_responses(client, second, ALICE)


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
    """Return a strategy for request-like objects with any value where a certain one is expected."""
    strategies = {name: strategy | values for name, strategy in fields.items()}
    return st.fixed_dictionaries({}, optional=strategies)


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
raw = st.binary(max_size=60) | (
    (actions | creations | values).map(lambda body: json.dumps(body).encode())
)
queries = st.dictionaries(
    st.sampled_from(
        ["active", "wait", "waitactive", "showevents", "showdebug", "condensed", "tags", "at",
         "limit", "offset", "sortasc", "id", "repeat"]
    ),
    st.sampled_from(["1", "true", "0", "today", "2026-11-20", "-1", "x", ALICE, "1,2", ""])
    | st.text(st.characters(codec="utf-8"), max_size=8),
)  # fmt: skip

fuzzing = settings(max_examples=case_count(50, full=150))


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ArenaHttpClient]:
    folder, short = tmp_path_factory.mktemp("arena"), timedelta(milliseconds=1)
    settings_overrides = {"long_poll_timeout": short, "watchdog_interval": short}
    with running_arena(folder, data_file=folder / "arena.db", **settings_overrides) as (_, client):
        yield client


def check(answer: HttpResponse) -> HttpResponse:
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
    fuzzed: ArenaHttpClient, requests: list[tuple[str | None, Any]], seed: int
) -> None:
    """No action gets a 5xx; then all 60 cards are present, each once, with correct counts."""
    match_id = fuzzed.post("/api/matches", ALICE, {"randomSeed": seed}).json()["id"]
    path = f"/api/matches/{match_id}"
    for user, body in requests:
        check(fuzzed.post(path, user, body))
        check(fuzzed.post(path, ALICE, body))
    view = fuzzed.get(f"{path}?showdebug=1&showevents=1", ALICE).json()
    assert cards_of(view) == sorted(map(str, SERVER_DECK))
    assert view["drawPileSize"] == len(view["state"]["drawPile"])
    assert view["discardPileSize"] == len(view["state"]["discardPile"])
    assert view["moveCount"] == len(view["moves"])


def cards_of(view: dict[str, Any]) -> list[str]:
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
def test_no_creation_breaks_the_arena(
    fuzzed: ArenaHttpClient, user: str | None, body: object
) -> None:
    answer = check(fuzzed.post("/api/matches", user, body))
    if answer.status == 200:
        path = f"/api/matches/{answer.json()['id']}"
        # A player may create a match of the dummy against itself, and may not look at it.
        view = check(fuzzed.get(f"{path}?showdebug=1&showevents=1", ADMIN)).json()
        for _ in range(3):
            check(fuzzed.post(path, ALICE, {"etype": "Draw", "autopick": True}))
            check(fuzzed.post(path, DUMMY, {"etype": "EndTurn", "autopick": True}))
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
    fuzzed: ArenaHttpClient,
    method: str,
    path: str,
    part: str,
    sent: tuple[dict[str, str], str | None, bytes, str],
) -> None:
    query, user, body, kind = sent
    target = path.format(quote(part, safe="")) + "?" + urlencode(query)
    headers = {"Content-Type": kind} if kind else {}
    answer = fuzzed.request(method, target, user, body, headers)
    if method != "HEAD":
        check(answer)
    assert fuzzed.get("/api/hello", None).status == 200
