"""A player learns nothing about hidden cards from anything that the arena says.

That no route is left out is held by test_arena_access.py, where each says what it shows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.arena import ADMIN, ALICE, BOB, DUMMY, Answer, Client, HandClock, running_arena
from support.size import cases

from cardsharp.deadmansdraw.arena.randomness import Randomness
from cardsharp.deadmansdraw.cards import SERVER_DECK, Card, Suit

CLOCK = HandClock()
SPECTATOR = None
"""Whoever sends no credentials."""

MATCH_PAGES = ("", "?step=2", "/steps", "/steps?from=1", "/steps?from=1&wait=1")
DISCARDS = [Card(Suit.KEY, 2), Card(Suit.HOOK, 2)]
PICKS_BY_CHANCE = (Suit.MAP, Suit.CHEST)
"""Suits that make the seed show: kept out of the cards that are drawn."""

KNOWN = [card for card in SERVER_DECK if card not in DISCARDS and card.suit not in PICKS_BY_CHANCE]


@dataclass(frozen=True)
class Twins:
    """Two matches that differ only in what no player has seen: seed and the pile's rest."""

    drawn: list[Card]
    rests: tuple[list[Card], list[Card]]
    seeds: tuple[str, str]
    verbs: list[str]


@st.composite
def twins(draw: st.DrawFn) -> Twins:
    drawn = draw(st.lists(st.sampled_from(KNOWN), unique=True, min_size=2, max_size=9))
    others = [card for card in SERVER_DECK if card not in drawn and card not in DISCARDS]
    size = draw(st.integers(1, 12))
    rests = draw(st.permutations(others))[:size], draw(st.permutations(others))[:size]
    seeds = draw(st.text("0123456789", min_size=3)), draw(st.text("0123456789", min_size=3))
    # One card less than is known: an Oracle shows the card after the one that was drawn.
    verbs = draw(st.lists(st.sampled_from(["Draw", "EndTurn"]), max_size=16))
    return Twins(drawn, rests, seeds, verbs)


@pytest.fixture(scope="module", params=Randomness)
def client(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("arena")
    short, chance = timedelta(milliseconds=1), request.param
    with running_arena(folder, clock=CLOCK, randomness=chance, poll_timeout=short, public=True) as (
        _,
        client,
    ):
        yield client


def create(client: Client, twin: Twins, which: int, creator: str, players: list[str]) -> str:
    pile = [[card.suit, card.value] for card in [*twin.drawn, *twin.rests[which]]]
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


def look(client: Client, creator: str, match: str) -> Any:  # noqa: ANN401 - JSON
    return client.get(f"/api/matches/{match}?showdebug=1", creator).json()


def everything_said(client: Client, match: str, player: str | None) -> list[tuple[int, str]]:
    """All answers that a player can get about a match, its id made the same for all."""
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
        client.ask("DELETE", f"{path}/terminate", player, {}),
    ]
    parts = [
        *client.get("/matches?limit=5000", player).text.split("<tr>"),
        *client.get("/matches/statistics?tag=twin", player).text.split("<span>"),
    ]
    # What follows the last row is another match's, or the end of the page.
    ended = [part.split("</tr>")[0].split("</small>")[0] for part in parts]
    rows = [part.replace(match, "ID") for part in ended if match in part]
    assert rows, "in the list"
    return [*(said(answer, match) for answer in answers), (0, "".join(rows))]


def said(answer: Answer, match: str) -> tuple[int, str]:
    return answer.status, answer.text.replace(match, "ID")


@pytest.mark.parametrize(
    ("creator", "players", "blind"),
    [(ADMIN, [ALICE, BOB], (ALICE, BOB, SPECTATOR)), (ALICE, [ALICE, DUMMY], (DUMMY, SPECTATOR))],
)
@settings(
    max_examples=cases(10, every=40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(twin=twins())
def test_matches_that_differ_in_what_is_hidden_look_the_same(
    client: Client, creator: str, players: list[str], blind: tuple[str | None, ...], twin: Twins
) -> None:
    """To those who did not create them: every answer is equal, byte for byte."""
    one, two = (create(client, twin, which, creator, players) for which in (0, 1))
    starters = [look(client, creator, match)["activePlayerIndex"] for match in (one, two)]
    assume(starters[0] == starters[1])
    for verb in twin.verbs:
        state = look(client, creator, one)
        drawn = len(twin.drawn) + len(twin.rests[0]) - state["drawPileSize"]
        pending = state["state"].get("pendingEffect", {}).get("effectType")
        # A Kraken may draw two at once; all that is drawn or shown stays among the known cards.
        if drawn + (3 if pending == "Kraken" else 2) > len(twin.drawn):
            break
        mover = players[state["activePlayerIndex"]]
        body = {"etype": verb, "autopick": pending not in (None, "Kraken", "Oracle")}
        answers = [client.post(f"/api/matches/{match}", mover, body) for match in (one, two)]
        assert said(answers[0], one) == said(answers[1], two)
    CLOCK.turn(timedelta(minutes=1))  # a spectator may ask so much a minute
    for player in blind:
        assert everything_said(client, one, player) == everything_said(client, two, player)


def test_the_creator_does_see_the_difference(client: Client) -> None:
    """So the test above compares what would differ if it were shown."""
    rests = [Card(Suit.KRAKEN, 5)], [Card(Suit.KRAKEN, 6)]
    twin = Twins([Card(Suit.MERMAID, 9)], rests, ("1", "2"), [])
    one, two = (create(client, twin, which, ALICE, [ALICE, DUMMY]) for which in (0, 1))
    assert everything_said(client, one, ALICE) != everything_said(client, two, ALICE)
