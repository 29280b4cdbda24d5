"""Access table of the arena: every route, requested by every kind of client.

A new route needs a row in `tests/samples/arena_access.txt`. A cell is the status, and letters for
what the response shows: o - ids of the asker's matches, f - ids of other matches, s - a secret of a
match (its seed, its draw pile, the addresses of its players), e - an e-mail address. Whatever has
no letter is not in the response, and passwords never are.
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from typing import NamedTuple

import pytest
from starlette.routing import Route
from support.arena_server import (
    ADMIN,
    ALICE,
    BOB,
    DUMMY,
    OUTSIDER,
    PASSWORDS,
    ArenaHttpClient,
    HttpResponse,
    ManualClock,
    basic_auth,
    write_players,
)
from support.case_counts import case_count
from support.cloud_arena import Opened
from support.recordings import sample_rows as table

from cardsharp.contest.contest_file import create_contest_in
from cardsharp.contest.models import ContestSettings, TeamEntry
from cardsharp.contest.repository import ContestRepository
from cardsharp.core.credentials import digest_ha1
from cardsharp.games.deadmansdraw.arena.access import throttling
from cardsharp.games.deadmansdraw.arena.access.users import load_players_by_id
from cardsharp.games.deadmansdraw.contest.page_routes import ContestPages
from cardsharp_tools.local_server.arena_server import ArenaServer

OTHER = "636438380ee778617e6e5c00"
ASKERS = {
    "admin": ADMIN,  # the organiser
    "Alice": ALICE,  # takes part in all matches here, and is to move
    "Bob": BOB,  # takes part in the cup's
    "other": OTHER,  # takes part in none
    "dummy": DUMMY,  # takes part in Alice's practice matches
    "gone": OUTSIDER,  # took part in a match with Alice
    "wrong": ALICE,  # with another password
    "nobody": None,
    "spectator": None,  # nobody, where the arena is run with --public
}

WRONG = basic_auth(ALICE, {ALICE: "guess"})

MATCHES = {"cup": ADMIN, "ended": ADMIN, "practice": ALICE, "practised": ALICE}
"""The kinds of matches, by who creates them; two of them have ended."""


class Row(NamedTuple):
    """A request, between which players if it begins a match, and what each asker is answered."""

    method: str
    path: str
    players: list[str]
    cells: dict[str, str]


def every_row() -> Iterator[Row]:
    lines = [line.rsplit(maxsplit=len(ASKERS)) for line in table("arena_access")]
    for request, *cells in lines[1:]:
        method, path, *between = request.split()  # and perhaps: for one and another
        yield Row(method, path, between[1::2], dict(zip(ASKERS, cells, strict=True)))


ROWS = list(every_row())


class World:
    """An arena with matches of each kind, the clients that ask, and what a response reveals."""

    def __init__(
        self, arena: ArenaServer, client: ArenaHttpClient, abandoned_match: str, *, public: bool
    ) -> None:
        self.routes = {
            (method, route.path)
            for route in arena._arena.app.routes
            if isinstance(route, Route)
            for method in (route.methods or set()) - {"HEAD"}
        }
        self.client = client
        self.askers = [asker for asker in ASKERS if asker != ("nobody" if public else "spectator")]
        self.taking_part = {abandoned_match: {ALICE, OUTSIDER}}
        self.matches = {kind: self.create(kind) for kind in MATCHES} | {"left": abandoned_match}

    def create(self, kind: str) -> str:
        """A new match of a kind, in which Alice is to move."""
        creator = MATCHES[kind]
        players = [ALICE, BOB if creator == ADMIN else DUMMY]
        body = {
            "playerids": players,
            "tags": ["all"],
            "randomSeed": "canary-1",
            "drawPile": [["Mermaid", 9], ["Kraken", 7], ["Hook", 6]],
            "discardPile": [],
        }
        match = str(self.client.post("/api/matches", creator, body).json()["id"])
        seen = self.client.get(f"/api/matches/{match}", creator).json()
        assert seen["activePlayerIndex"] == 0
        if kind in ("ended", "practised"):
            self.client.request("DELETE", f"/api/matches/{match}/terminate", creator, {})
        self.taking_part[match] = set(players)
        return match

    def ask(self, row: Row, asker: str) -> HttpResponse:
        """Send a request and return its response; matches that it could change are new."""
        user = ASKERS[asker]
        writes = row.method not in ("GET", "HEAD")
        fresh = {
            kind: self.create(kind) for kind in MATCHES if writes and f"{{{kind}}}" in row.path
        }
        people = {"alice": ALICE, "bob": BOB, "dummy": DUMMY, "removed": OUTSIDER, "me": user}
        named = self.matches | fresh | people | {"none": "f" * 24, "name": "look.css"}
        body: dict[str, object] = {"etype": "Draw"}
        if row.players:
            body = {"playerids": [named[player] or "" for player in row.players]}
        path = row.path.format(**named)
        headers = {"Authorization": WRONG} if asker == "wrong" else None
        return self.client.request(row.method, path, user, body if writes else None, headers)

    def visible_letters(self, answer: HttpResponse, asker: str) -> str:
        """Return the letters for what a response reveals to its asker."""
        visible_matches = {match for match in self.taking_part if match in answer.text}
        asker_matches = {
            match for match in visible_matches if ASKERS[asker] in self.taking_part[match]
        }
        secrets = ("canary-", '"drawPile":[', 'Kraken","value":7', '"clientIP":"')
        visibility = {
            "s": any(secret in answer.text for secret in secrets),
            "o": bool(asker_matches),
            "f": bool(visible_matches - asker_matches),
            "e": "@example.com" in answer.text,
        }
        return "".join(letter for letter, is_visible in visibility.items() if is_visible)


@pytest.fixture(scope="module", params=[False, True], ids=["closed", "public"])
def world(
    opened: Opened, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """An arena with a contest that has begun, and a match of a team that was removed since."""
    folder, at_once = tmp_path_factory.mktemp("arena"), timedelta(milliseconds=1)
    teams = load_players_by_id(write_players(folder))
    contest = create_contest_in(folder / "contest", ContestSettings("cup", seed="canary-contest"))
    for team in ("a" * 24, "b" * 24):
        contest.append_team(TeamEntry(team, f"Team {team[0]}", "canary-ha1"))
    contest.start_contest()
    options = {"clock": ManualClock(), "long_poll_timeout": at_once, "watchdog_interval": at_once}
    # Hundreds of wrong passwords, one after the other, are not to be slowed here.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(throttling, "throttle_delay", lambda _over: timedelta())
        patch.setattr(throttling, "MAX_GUESSES_UNDELAYED", 10**6)
        with opened(folder, is_public=request.param, load_players=lambda: teams, **options) as (
            arena,
            client,
        ):
            abandoned_match = arena.create_match_and_get_id([ALICE, OUTSIDER], seed="canary-left")
            del teams[OUTSIDER]
            arena._arena.mount_pages(ContestPages(lambda: ContestRepository(contest.documents)))
            yield World(arena, client, abandoned_match, public=request.param)
    contest.close()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.path}")
def test_every_asker_gets_the_response_of_the_access_table(world: World, row: Row) -> None:
    """No answer has a password or what proves it; the dummy's is everybody's.

    A HEAD tells the same status, and no body; in the sample the organiser and the last one ask it.
    """
    secret = {user: password for user, password in PASSWORDS.items() if user != DUMMY}
    proofs = [*secret.values(), *(digest_ha1(user, password) for user, password in secret.items())]
    heads = world.askers[:: case_count(len(world.askers) - 1, full=1)]
    responses = {}
    for asker in world.askers:
        answer = world.ask(row, asker)
        responses[asker] = f"{answer.status}{world.visible_letters(answer, asker)}"
        assert not [proof for proof in proofs if proof in answer.text]
        if row.method == "GET" and asker in heads:
            head = world.ask(row._replace(method="HEAD"), asker)
            assert (head.status, head.raw) == (answer.status, b"")
    assert responses == {asker: row.cells[asker] for asker in world.askers}


def test_a_client_that_signs_in_on_a_challenge_gets_player_responses(world: World) -> None:
    """Alice's client sends no password before a challenge: so what only a player may ask has one.

    Without one it gets, at a public arena, what a spectator gets.
    """
    for row in ROWS:
        unasked = world.ask(row, world.askers[-1])
        summary, expected = (
            f"{unasked.status}{world.visible_letters(unasked, 'spectator')}",
            "spectator",
        )
        if "www-authenticate" in unasked.headers:
            assert unasked.status == 401, row
            answer, expected = world.ask(row, "Alice"), "Alice"
            summary = f"{answer.status}{world.visible_letters(answer, 'Alice')}"
        elif "spectator" not in world.askers:
            expected = "nobody"
        assert summary == row.cells[expected], row


def test_every_route_has_a_row_and_each_of_the_api_is_in_the_document_by_hand(world: World) -> None:
    """And every row a route: what is new is looked at by everybody before it is there."""
    named = re.compile(r"\{(?!name)\w+\}")
    covered_routes = {(row.method, named.sub("{id}", row.path.partition("?")[0])) for row in ROWS}
    assert covered_routes == world.routes
    document = world.client.get("/swagger.json", ADMIN).json()
    described = {
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method in operations
    }
    with_bodies = {(method, path) for method, path in described if method != "HEAD"}
    assert with_bodies == {route for route in world.routes if route[1].startswith("/api/")}


def test_no_action_is_played_for_another(world: World) -> None:
    """A body that names another player changes nothing: the credentials alone decide."""
    match = world.create("cup")
    original_match = world.client.get(f"/api/matches/{match}", ADMIN).json()
    for user, field in product((ADMIN, BOB, OTHER, DUMMY), ("playerId", "_id", "username", "user")):
        body = {"etype": "Draw", field: ALICE, "playerIndex": 0}
        path = f"/api/matches/{match}?{field}={ALICE}"
        assert world.client.post(path, user, body).status in (401, 409)
    assert world.client.get(f"/api/matches/{match}", ADMIN).json() == original_match
