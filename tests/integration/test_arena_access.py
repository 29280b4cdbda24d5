"""Tests of the arena's access table: every route, requested by every kind of client.

A new route needs a row in `tests/samples/arena_access.txt`. A cell has the status, and
letters for what the response shows: o - ids of the requester's matches, f - ids of other
matches, s - a secret of a match (its seed, its draw pile, the addresses of its players),
e - an e-mail address. A response shows only what its letters say, and never a password.
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
    ArenaHttpResponse,
    ManualClock,
    basic_auth,
    write_players,
)
from support.case_counts import case_count
from support.cloud_arena import ArenaFactory
from support.recordings import sample_rows as table

from cardsharp.contest.contest_file import create_contest_in
from cardsharp.contest.models import ContestSettings, TeamEntry
from cardsharp.contest.repository import ContestRepository
from cardsharp.core.credentials import digest_ha1
from cardsharp.games.deadmansdraw.arena.access import throttling
from cardsharp.games.deadmansdraw.arena.access.users import load_players_by_id
from cardsharp.games.deadmansdraw.contest.page_routes import ContestPages
from cardsharp_tools.local_server.arena_server import ArenaServer

UNINVOLVED_PLAYER = "636438380ee778617e6e5c00"
REQUESTERS = {
    "admin": ADMIN,  # the organiser
    "Alice": ALICE,  # takes part in all matches here, and is to move
    "Bob": BOB,  # takes part in the cup's
    "other": UNINVOLVED_PLAYER,  # takes part in none
    "dummy": DUMMY,  # takes part in Alice's practice matches
    "gone": OUTSIDER,  # took part in a match with Alice
    "wrong": ALICE,  # with another password
    "nobody": None,
    "spectator": None,  # nobody, where the arena is run with --public
}

WRONG_CREDENTIALS = basic_auth(ALICE, {ALICE: "guess"})

CREATORS_BY_MATCH_KIND = {"cup": ADMIN, "ended": ADMIN, "practice": ALICE, "practised": ALICE}
"""The kinds of matches, by who creates them; two of them have ended."""


class AccessRow(NamedTuple):
    """A request, the players of a match that it creates, and the expected cell by requester."""

    method: str
    path: str
    players: list[str]
    cells: dict[str, str]


def read_access_rows() -> Iterator[AccessRow]:
    lines = [line.rsplit(maxsplit=len(REQUESTERS)) for line in table("arena_access")]
    for request, *cells in lines[1:]:
        method, path, *player_words = request.split()  # and perhaps: for one and another
        yield AccessRow(method, path, player_words[1::2], dict(zip(REQUESTERS, cells, strict=True)))


ROWS = list(read_access_rows())


class AccessTestArena:
    """An arena with matches of each kind, its requesters, and what a response reveals."""

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
        self.requesters = [
            requester
            for requester in REQUESTERS
            if requester != ("nobody" if public else "spectator")
        ]
        self.players_by_match = {abandoned_match: {ALICE, OUTSIDER}}
        self.matches = {kind: self.create_match(kind) for kind in CREATORS_BY_MATCH_KIND} | {
            "left": abandoned_match
        }

    def create_match(self, kind: str) -> str:
        """Create a match of a kind, in which Alice is to move, and return its id."""
        creator = CREATORS_BY_MATCH_KIND[kind]
        players = [ALICE, BOB if creator == ADMIN else DUMMY]
        body = {
            "playerids": players,
            "tags": ["all"],
            "randomSeed": "canary-1",
            "drawPile": [["Mermaid", 9], ["Kraken", 7], ["Hook", 6]],
            "discardPile": [],
        }
        match = str(self.client.post("/api/matches", creator, body).json()["id"])
        match_view = self.client.get(f"/api/matches/{match}", creator).json()
        assert match_view["activePlayerIndex"] == 0
        if kind in ("ended", "practised"):
            self.client.request("DELETE", f"/api/matches/{match}/terminate", creator, {})
        self.players_by_match[match] = set(players)
        return match

    def request(self, row: AccessRow, requester: str) -> ArenaHttpResponse:
        """Send a request and return its response; matches that it could change are new."""
        user = REQUESTERS[requester]
        is_write = row.method not in ("GET", "HEAD")
        new_matches = {
            kind: self.create_match(kind)
            for kind in CREATORS_BY_MATCH_KIND
            if is_write and f"{{{kind}}}" in row.path
        }
        ids_by_name = {"alice": ALICE, "bob": BOB, "dummy": DUMMY, "removed": OUTSIDER, "me": user}
        path_values = (
            self.matches | new_matches | ids_by_name | {"none": "f" * 24, "name": "look.css"}
        )
        body: dict[str, object] = {"etype": "Draw"}
        if row.players:
            body = {"playerids": [path_values[player] or "" for player in row.players]}
        path = row.path.format(**path_values)
        headers = {"Authorization": WRONG_CREDENTIALS} if requester == "wrong" else None
        return self.client.request(row.method, path, user, body if is_write else None, headers)

    def visible_letters(self, response: ArenaHttpResponse, requester: str) -> str:
        """Return the letters for what a response reveals to its requester."""
        visible_matches = {match for match in self.players_by_match if match in response.text}
        requester_matches = {
            match
            for match in visible_matches
            if REQUESTERS[requester] in self.players_by_match[match]
        }
        secrets = ("canary-", '"drawPile":[', 'Kraken","value":7', '"clientIP":"')
        visibility = {
            "s": any(secret in response.text for secret in secrets),
            "o": bool(requester_matches),
            "f": bool(visible_matches - requester_matches),
            "e": "@example.com" in response.text,
        }
        return "".join(letter for letter, is_visible in visibility.items() if is_visible)


@pytest.fixture(scope="module", params=[False, True], ids=["closed", "public"])
def access_arena(
    opened: ArenaFactory, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AccessTestArena]:
    """An arena with a running contest, and a match of a team that was removed later."""
    folder, short_timeout = tmp_path_factory.mktemp("arena"), timedelta(milliseconds=1)
    teams = load_players_by_id(write_players(folder))
    contest = create_contest_in(folder / "contest", ContestSettings("cup", seed="canary-contest"))
    for team in ("a" * 24, "b" * 24):
        contest.append_team(TeamEntry(team, f"Team {team[0]}", "canary-ha1"))
    contest.start_contest()
    options = {
        "clock": ManualClock(),
        "long_poll_timeout": short_timeout,
        "watchdog_interval": short_timeout,
    }
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
            yield AccessTestArena(arena, client, abandoned_match, public=request.param)
    contest.close()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.path}")
def test_every_requester_gets_the_response_of_the_access_table(
    access_arena: AccessTestArena, row: AccessRow
) -> None:
    """No response has a password or its hash, except that of the dummy, which is public.

    A HEAD request gets the same status without a body. By default, only the organiser and the
    last requester send it.
    """
    passwords = {user: password for user, password in PASSWORDS.items() if user != DUMMY}
    proofs = [
        *passwords.values(),
        *(digest_ha1(user, password) for user, password in passwords.items()),
    ]
    head_requesters = access_arena.requesters[
        :: case_count(len(access_arena.requesters) - 1, full=1)
    ]
    responses = {}
    for requester in access_arena.requesters:
        response = access_arena.request(row, requester)
        responses[requester] = (
            f"{response.status}{access_arena.visible_letters(response, requester)}"
        )
        assert not [proof for proof in proofs if proof in response.text]
        if row.method == "GET" and requester in head_requesters:
            head = access_arena.request(row._replace(method="HEAD"), requester)
            assert (head.status, head.raw) == (response.status, b"")
    assert responses == {requester: row.cells[requester] for requester in access_arena.requesters}


def test_every_file_that_a_page_loads_is_served_to_everybody(access_arena: AccessTestArena) -> None:
    for path in ("/matches", "/contest", "/matches/statistics", "/docs"):
        page = access_arena.client.get(path, ADMIN).text
        assets = re.findall(r'(?:href|src)="(/page/[^"]+)"', page)
        assert assets, path
        for asset in assets:
            response = access_arena.client.get(asset, None)
            assert (response.status, bool(response.text)) == (200, True), asset


def test_a_client_that_signs_in_on_a_challenge_gets_player_responses(
    access_arena: AccessTestArena,
) -> None:
    """Alice's client sends its password only after a challenge, so restricted routes send one.

    Without a challenge the client gets the response of a spectator.
    """
    for row in ROWS:
        challenge = access_arena.request(row, access_arena.requesters[-1])
        summary, expected_requester = (
            f"{challenge.status}{access_arena.visible_letters(challenge, 'spectator')}",
            "spectator",
        )
        if "www-authenticate" in challenge.headers:
            assert challenge.status == 401, row
            response, expected_requester = access_arena.request(row, "Alice"), "Alice"
            summary = f"{response.status}{access_arena.visible_letters(response, 'Alice')}"
        elif "spectator" not in access_arena.requesters:
            expected_requester = "nobody"
        assert summary == row.cells[expected_requester], row


def test_every_route_has_a_row_and_every_api_route_is_documented(
    access_arena: AccessTestArena,
) -> None:
    """Every row has a route, every route a row, and every API route an OpenAPI entry."""
    path_parameter = re.compile(r"\{(?!name)\w+\}")
    covered_routes = {
        (row.method, path_parameter.sub("{id}", row.path.partition("?")[0])) for row in ROWS
    }
    assert covered_routes == access_arena.routes
    document = access_arena.client.get("/swagger.json", ADMIN).json()
    documented_routes = {
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method in operations
    }
    documented_without_head = {
        (method, path) for method, path in documented_routes if method != "HEAD"
    }
    assert documented_without_head == {
        route for route in access_arena.routes if route[1].startswith("/api/")
    }


def test_no_action_is_played_for_another(access_arena: AccessTestArena) -> None:
    """A request that names another player changes nothing: only the credentials count."""
    match = access_arena.create_match("cup")
    original_match = access_arena.client.get(f"/api/matches/{match}", ADMIN).json()
    for user, field in product(
        (ADMIN, BOB, UNINVOLVED_PLAYER, DUMMY), ("playerId", "_id", "username", "user")
    ):
        body = {"etype": "Draw", field: ALICE, "playerIndex": 0}
        path = f"/api/matches/{match}?{field}={ALICE}"
        assert access_arena.client.post(path, user, body).status in (401, 409)
    assert access_arena.client.get(f"/api/matches/{match}", ADMIN).json() == original_match
