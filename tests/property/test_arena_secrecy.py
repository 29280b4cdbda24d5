"""Secrecy and robustness of the arena: hidden cards, and responses to any request."""

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
    ArenaHttpResponse,
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
RANDOM_PICK_SUITS = (Suit.MAP, Suit.CHEST)
"""Suits that make the seed show: kept out of the cards that are drawn."""

PREDICTABLE_CARDS = [
    card for card in SERVER_DECK if card not in DISCARDS and card.suit not in RANDOM_PICK_SUITS
]


@dataclass(frozen=True)
class MatchVariants:
    """Two matches that differ only in the seed and in cards of the pile that no player has seen."""

    common_cards: list[Card]
    hidden_piles: tuple[list[Card], list[Card]]
    seeds: tuple[str, str]
    action_types: list[str]


@st.composite
def match_variants(draw: st.DrawFn) -> MatchVariants:
    common_cards = draw(
        st.lists(st.sampled_from(PREDICTABLE_CARDS), unique=True, min_size=2, max_size=9)
    )
    other_cards = [
        card for card in SERVER_DECK if card not in common_cards and card not in DISCARDS
    ]
    size = draw(st.integers(1, 12))
    hidden_piles = (
        draw(st.permutations(other_cards))[:size],
        draw(st.permutations(other_cards))[:size],
    )
    seeds = draw(st.text("0123456789", min_size=3)), draw(st.text("0123456789", min_size=3))
    # One card less than is known: an Oracle shows the card after the one that was drawn.
    action_types = draw(st.lists(st.sampled_from(["Draw", "EndTurn"]), max_size=16))
    return MatchVariants(common_cards, hidden_piles, seeds, action_types)


@pytest.fixture(scope="module", params=RandomnessMethod)
def client(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ArenaHttpClient]:
    """Yield a client of an arena in this process, because many requests need no slow socket."""
    long_poll_timeout, folder = timedelta(milliseconds=1), tmp_path_factory.mktemp("arena")
    config = arena_config(
        folder,
        clock=CLOCK,
        randomness=request.param,
        long_poll_timeout=long_poll_timeout,
        is_public=True,
    )
    with closing(InProcessClient(config)) as client:
        yield client


def create_variant(
    client: ArenaHttpClient,
    variants: MatchVariants,
    variant_index: int,
    creator: str,
    players: list[str],
) -> str:
    pile = [
        [card.suit, card.value]
        for card in [*variants.common_cards, *variants.hidden_piles[variant_index]]
    ]
    body = {
        "playerids": players,
        "drawPile": pile,
        "discardPile": [[card.suit, card.value] for card in DISCARDS],
        "randomSeed": variants.seeds[variant_index],
        "tags": ["twin"],
    }
    response = client.post("/api/matches", creator, body)
    assert response.status == 200, response.text
    return str(response.json()["id"])


def view_match(client: ArenaHttpClient, creator: str, match: str) -> Any:  # noqa: ANN401 - JSON
    return client.get(f"/api/matches/{match}?showdebug=1", creator).json()


def all_responses(client: ArenaHttpClient, match: str, player: str | None) -> list[tuple[int, str]]:
    """Return all responses that a player can get about a match, with its id masked."""
    path = f"/api/matches/{match}"
    responses = [
        client.get(path, player),
        client.get(f"{path}?showevents=1", player),
        client.get(f"{path}?showevents=1&showdebug=1", player),
        client.get(f"{path}?showdebug=1&condensed=1", player),
        client.get(f"{path}?waitactive=1&showdebug=1&showevents=1", player),
        client.get(f"/api/matches?id={match}&showdebug=1", player),
        client.get(f"/api/matches?id={match}&condensed=1", player),
        *(client.get(f"/matches/{match}{subpage}", player) for subpage in MATCH_PAGES),
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
    return [*(mask_match_id(response, match) for response in responses), (0, "".join(rows))]


def mask_match_id(response: ArenaHttpResponse, match: str) -> tuple[int, str]:
    return response.status, response.text.replace(match, "ID")


@pytest.mark.parametrize(
    ("creator", "players", "viewers"),
    [(ADMIN, [ALICE, BOB], (ALICE, BOB, SPECTATOR)), (ALICE, [ALICE, DUMMY], (DUMMY, SPECTATOR))],
)
@settings(max_examples=case_count(6, full=40))
@given(variants=match_variants())
def test_matches_that_differ_only_in_hidden_cards_have_equal_responses(
    client: ArenaHttpClient,
    creator: str,
    players: list[str],
    viewers: tuple[str | None, ...],
    variants: MatchVariants,
) -> None:
    """Every response to a player who did not create the matches is equal, byte for byte."""
    first_id, second_id = (
        create_variant(client, variants, variant_index, creator, players)
        for variant_index in (0, 1)
    )
    starters = [
        view_match(client, creator, match)["activePlayerIndex"] for match in (first_id, second_id)
    ]
    assume(starters[0] == starters[1])
    for action_type in variants.action_types:
        state = view_match(client, creator, first_id)
        taken_count = (
            len(variants.common_cards) + len(variants.hidden_piles[0]) - state["drawPileSize"]
        )
        pending = state["state"].get("pendingEffect", {}).get("effectType")
        # A Kraken may draw two at once; all that is drawn or shown stays among the known cards.
        if taken_count + (3 if pending == "Kraken" else 2) > len(variants.common_cards):
            break
        active_player = players[state["activePlayerIndex"]]
        body = {"etype": action_type, "autopick": pending not in (None, "Kraken", "Oracle")}
        responses = [
            client.post(f"/api/matches/{match}", active_player, body)
            for match in (first_id, second_id)
        ]
        assert mask_match_id(responses[0], first_id) == mask_match_id(responses[1], second_id)
    CLOCK.advance(timedelta(minutes=1))  # a spectator may ask so much a minute
    for player in viewers:
        assert all_responses(client, first_id, player) == all_responses(client, second_id, player)


def test_the_creator_does_see_the_difference(client: ArenaHttpClient) -> None:
    """The responses to the creator differ, so the test above compares what would show a leak."""
    hidden_piles = [Card(Suit.KRAKEN, 5)], [Card(Suit.KRAKEN, 6)]
    variants = MatchVariants([Card(Suit.MERMAID, 9)], hidden_piles, ("1", "2"), [])
    first_id, second_id = (
        create_variant(client, variants, variant_index, ALICE, [ALICE, DUMMY])
        for variant_index in (0, 1)
    )
    assert all_responses(client, first_id, ALICE) != all_responses(client, second_id, ALICE)


STATUSES = {200, 302, 303, 400, 401, 403, 404, 409, 410}
USERS = st.sampled_from([ADMIN, ALICE, BOB, DUMMY, OUTSIDER, None])

text_values = st.sampled_from(
    ["Draw", "EndTurn", "ResponseToEffect", "Hook", "Oracle", "Map", "Kraken", "Mermaid", "Parrot"]
)
scalar_values = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=12)
    | text_values
)
json_values = st.recursive(
    scalar_values,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=12,
)
card_values = (
    st.tuples(text_values, st.integers(1, 10)).map(list)
    | st.fixed_dictionaries({"suit": text_values, "value": st.integers(1, 10) | json_values})
    | json_values
)


def bodies_with(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return a Hypothesis strategy for objects whose fields have expected or any other values."""
    strategies = {name: strategy | json_values for name, strategy in fields.items()}
    return st.fixed_dictionaries({}, optional=strategies)


action_bodies = bodies_with(
    etype=text_values,
    autopick=st.booleans(),
    effect=st.fixed_dictionaries(
        {}, optional={"effectType": text_values | json_values, "card": card_values}
    ),
)
creation_bodies = bodies_with(
    playerids=st.lists(st.sampled_from([ALICE, BOB, DUMMY, "x"]), max_size=3),
    tags=st.lists(st.text(max_size=5), max_size=3),
    playArea=st.lists(card_values, max_size=3),
    drawPile=st.lists(card_values, max_size=4),
    discardPile=st.lists(card_values, max_size=4),
    banks=st.lists(st.lists(card_values, max_size=3), max_size=3),
    randomSeed=st.text(max_size=10) | st.floats(allow_nan=False),
    timeout=st.integers() | st.floats(allow_nan=False),
)
bodies = st.binary(max_size=60) | (
    (action_bodies | creation_bodies | json_values).map(lambda body: json.dumps(body).encode())
)
query_params = st.dictionaries(
    st.sampled_from(
        ["active", "wait", "waitactive", "showevents", "showdebug", "condensed", "tags", "at",
         "limit", "offset", "sortasc", "id", "repeat"]
    ),
    st.sampled_from(["1", "true", "0", "today", "2026-11-20", "-1", "x", ALICE, "1,2", ""])
    | st.text(st.characters(codec="utf-8"), max_size=8),
)  # fmt: skip

fuzz_settings = settings(max_examples=case_count(25, full=150))


@pytest.fixture(scope="module")
def fuzz_client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ArenaHttpClient]:
    folder, long_poll_timeout = tmp_path_factory.mktemp("arena"), timedelta(milliseconds=1)
    settings_overrides = {
        "long_poll_timeout": long_poll_timeout,
        "watchdog_interval": long_poll_timeout,
    }
    with running_arena(folder, data_file=folder / "arena.db", **settings_overrides) as (_, client):
        yield client


def check_response(response: ArenaHttpResponse) -> ArenaHttpResponse:
    assert response.status in STATUSES, (response.status, response.text)
    content_type = response.headers.get("content-type", [""])[0]
    if content_type.startswith("application/json"):
        body = response.json()
        if response.status in {400, 403, 404, 409}:
            assert list(body) == ["error"]
            assert body["error"]
    else:
        assert response.status in {302, 303, 401, 404} or content_type.startswith("text/html")
    return response


@fuzz_settings
@given(st.lists(st.tuples(USERS, action_bodies), max_size=12), st.integers(0, 5))
def test_no_action_breaks_a_match(
    fuzz_client: ArenaHttpClient, requests: list[tuple[str | None, Any]], seed: int
) -> None:
    """No action gets a 5xx; then all 60 cards are present, each once, with correct counts."""
    match_id = fuzz_client.post("/api/matches", ALICE, {"randomSeed": seed}).json()["id"]
    path = f"/api/matches/{match_id}"
    for user, body in requests:
        check_response(fuzz_client.post(path, user, body))
        check_response(fuzz_client.post(path, ALICE, body))
    view = fuzz_client.get(f"{path}?showdebug=1&showevents=1", ALICE).json()
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
    banked_cards = [
        f"{suit}{value}"
        for bank in state["banks"]
        for suit, values_of_suit in bank.items()
        for value in values_of_suit
    ]
    return sorted([f"{card['suit']}{card['value']}" for card in piles] + banked_cards)


@fuzz_settings
@given(USERS, creation_bodies)
@example(ALICE, {"playerids": [DUMMY, DUMMY]})
def test_no_creation_breaks_the_arena(
    fuzz_client: ArenaHttpClient, user: str | None, body: object
) -> None:
    response = check_response(fuzz_client.post("/api/matches", user, body))
    if response.status == 200:
        path = f"/api/matches/{response.json()['id']}"
        # A player may create a match of the dummy against itself, and may not look at it.
        view = check_response(fuzz_client.get(f"{path}?showdebug=1&showevents=1", ADMIN)).json()
        for _ in range(3):
            check_response(fuzz_client.post(path, ALICE, {"etype": "Draw", "autopick": True}))
            check_response(fuzz_client.post(path, DUMMY, {"etype": "EndTurn", "autopick": True}))
        assert view["moveCount"] == 1


@fuzz_settings
@given(
    st.sampled_from(["GET", "POST", "DELETE", "PUT", "HEAD", "PATCH", "OPTIONS"]),
    st.sampled_from(
        ["/api/matches", "/api/matches/{}", "/api/matches/{}/terminate", "/api/matches/watchdog",
         "/api/matches/busydays", "/api/players", "/api/players/{}", "/api/whoami", "/api/{}",
         "/matches", "/docs", "/page/{}", "/{}", "/"]
    ),
    st.text(st.characters(codec="utf-8"), max_size=14) | st.sampled_from([ALICE, "abcdefghijkl"]),
    st.tuples(query_params, USERS, bodies, st.sampled_from(["application/json", "text/plain", ""])),
)  # fmt: skip
def test_no_request_breaks_the_arena(
    fuzz_client: ArenaHttpClient,
    method: str,
    path: str,
    path_part: str,
    request_parts: tuple[dict[str, str], str | None, bytes, str],
) -> None:
    query, user, body, content_type = request_parts
    target = path.format(quote(path_part, safe="")) + "?" + urlencode(query)
    headers = {"Content-Type": content_type} if content_type else {}
    response = fuzz_client.request(method, target, user, body, headers)
    if method != "HEAD":
        check_response(response)
    assert fuzz_client.get("/api/hello", None).status == 200
