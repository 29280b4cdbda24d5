"""Who may do what with whose matches: every route of the arena, asked by everybody.

Adding a route needs a row of `tests/samples/arena_access.txt`. A cell is the status, and letters
for what the answer shows: o - ids of own matches, f - of matches of others, s - a secret of a match
(its seed, its draw pile, the addresses of its players), e - an e-mail address. What no letter names
is not there, and passwords never are.
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

from cardsharp.contest.contest_file import create_in
from cardsharp.contest.models import ContestSettings, TeamEntry
from cardsharp.contest.repository import ContestRepository
from cardsharp.core.credentials import digest_ha1
from cardsharp.games.deadmansdraw.arena.access import throttling
from cardsharp.games.deadmansdraw.arena.access.users import load_players
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
    """An arena with matches of each kind; who asks, and what an answer shows of them."""

    def __init__(
        self, arena: ArenaServer, client: ArenaHttpClient, left: str, *, public: bool
    ) -> None:
        self.routes = {
            (method, route.path)
            for route in arena._arena.app.routes
            if isinstance(route, Route)
            for method in (route.methods or set()) - {"HEAD"}
        }
        self.client = client
        self.askers = [who for who in ASKERS if who != ("nobody" if public else "spectator")]
        self.taking_part = {left: {ALICE, OUTSIDER}}
        self.matches = {kind: self.create(kind) for kind in MATCHES} | {"left": left}

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

    def ask(self, row: Row, who: str) -> HttpResponse:
        """The answer to one request; what it could change is made for it alone."""
        user = ASKERS[who]
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
        headers = {"Authorization": WRONG} if who == "wrong" else None
        return self.client.request(row.method, path, user, body if writes else None, headers)

    def shown(self, answer: HttpResponse, who: str) -> str:
        """The letters for what an answer shows to whoever asked."""
        found = {match for match in self.taking_part if match in answer.text}
        own = {match for match in found if ASKERS[who] in self.taking_part[match]}
        secrets = ("canary-", '"drawPile":[', 'Kraken","value":7', '"clientIP":"')
        told = {
            "s": any(secret in answer.text for secret in secrets),
            "o": bool(own),
            "f": bool(found - own),
            "e": "@example.com" in answer.text,
        }
        return "".join(letter for letter, is_told in told.items() if is_told)


@pytest.fixture(scope="module", params=[False, True], ids=["closed", "public"])
def world(
    opened: Opened, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """An arena with a contest that has begun, and a match of a team that was removed since."""
    folder, at_once = tmp_path_factory.mktemp("arena"), timedelta(milliseconds=1)
    teams = load_players(write_players(folder))
    contest = create_in(folder / "contest", ContestSettings("cup", seed="canary-contest"))
    for team in ("a" * 24, "b" * 24):
        contest.append_team(TeamEntry(team, f"Team {team[0]}", "canary-ha1"))
    contest.start()
    told = {"clock": ManualClock(), "long_poll_timeout": at_once, "watchdog_interval": at_once}
    # Hundreds of wrong passwords, one after the other, are not to be slowed here.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(throttling, "throttle_delay", lambda _over: timedelta())
        patch.setattr(throttling, "MAX_GUESSES_UNDELAYED", 10**6)
        with opened(folder, is_public=request.param, load_players=lambda: teams, **told) as (
            arena,
            client,
        ):
            left = arena.create_match([ALICE, OUTSIDER], seed="canary-left")
            del teams[OUTSIDER]
            arena._arena.mount_pages(ContestPages(lambda: ContestRepository(contest.documents)))
            yield World(arena, client, left, public=request.param)
    contest.close()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.path}")
def test_everybody_is_answered_as_the_table_says(world: World, row: Row) -> None:
    """No answer has a password or what proves it; the dummy's is everybody's.

    A HEAD tells the same status, and no body; in the sample the organiser and the last one ask it.
    """
    secret = {user: word for user, word in PASSWORDS.items() if user != DUMMY}
    proofs = [*secret.values(), *(digest_ha1(user, word) for user, word in secret.items())]
    heads = world.askers[:: case_count(len(world.askers) - 1, full=1)]
    told = {}
    for who in world.askers:
        answer = world.ask(row, who)
        told[who] = f"{answer.status}{world.shown(answer, who)}"
        assert not [proof for proof in proofs if proof in answer.text]
        if row.method == "GET" and who in heads:
            head = world.ask(row._replace(method="HEAD"), who)
            assert (head.status, head.raw) == (answer.status, b"")
    assert told == {who: row.cells[who] for who in world.askers}


def test_a_client_that_signs_in_only_when_it_is_asked_gets_what_a_player_gets(world: World) -> None:
    """Alice's client sends no password before a challenge: so what only a player may ask has one.

    Without one it gets, at a public arena, what a spectator gets.
    """
    for row in ROWS:
        unasked = world.ask(row, world.askers[-1])
        told, expected = f"{unasked.status}{world.shown(unasked, 'spectator')}", "spectator"
        if "www-authenticate" in unasked.headers:
            assert unasked.status == 401, row
            answer, expected = world.ask(row, "Alice"), "Alice"
            told = f"{answer.status}{world.shown(answer, 'Alice')}"
        elif "spectator" not in world.askers:
            expected = "nobody"
        assert told == row.cells[expected], row


def test_every_route_has_a_row_and_each_of_the_api_is_in_the_document_by_hand(world: World) -> None:
    """And every row a route: what is new is looked at by everybody before it is there."""
    named = re.compile(r"\{(?!name)\w+\}")
    found = {(row.method, named.sub("{id}", row.path.partition("?")[0])) for row in ROWS}
    assert found == world.routes
    document = world.client.get("/swagger.json", ADMIN).json()
    described = {(how.upper(), path) for path, told in document["paths"].items() for how in told}
    with_bodies = {(how, path) for how, path in described if how != "HEAD"}
    assert with_bodies == {one for one in world.routes if one[1].startswith("/api/")}


def test_no_action_is_played_for_another(world: World) -> None:
    """Whatever its body says of who it is from: the credentials alone decide."""
    match = world.create("cup")
    before = world.client.get(f"/api/matches/{match}", ADMIN).json()
    for user, field in product((ADMIN, BOB, OTHER, DUMMY), ("playerId", "_id", "username", "user")):
        body = {"etype": "Draw", field: ALICE, "playerIndex": 0}
        path = f"/api/matches/{match}?{field}={ALICE}"
        assert world.client.post(path, user, body).status in (401, 409)
    assert world.client.get(f"/api/matches/{match}", ADMIN).json() == before
