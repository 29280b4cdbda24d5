"""The REST API beyond the recorded examples: order of checks, limits, races, lists."""

import gzip
import json
import threading
import zlib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.arena import (
    ADMIN,
    ALICE,
    BOB,
    DUMMY,
    OUTSIDER,
    Client,
    HandClock,
)
from support.arena_cloud import Opened

from workbench.arena.server import ArenaServer

Running = tuple[ArenaServer, Client, HandClock]


@pytest.fixture(scope="module")
def running(opened: Opened, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    clock = HandClock()
    folder = tmp_path_factory.mktemp("arena")
    short = timedelta(milliseconds=1)
    with opened(folder, clock=clock, poll_timeout=short) as (arena, client):
        yield arena, client, clock


@pytest.fixture
def client(running: Running) -> Client:
    return running[1]


@pytest.fixture
def match(running: Running) -> str:
    """Path of a match of the admin's in which Alice is to move."""
    return f"/api/matches/{running[0].create_match([ALICE, BOB], seed='norandom')}"


def error(answer: Any) -> tuple[int, str]:  # noqa: ANN401 - an Answer
    return answer.status, answer.json()["error"]


# --- bad input -----------------------------------------------------------------------------

NASTY = {
    "deep list": b"[" * 60_000,
    "deep object": b'{"a":' * 10_000,
    "deep but closed": b'{"effect":{"card":' + b"[" * 900 + b"]" * 900 + b"}}",
    "deep etype": b'{"etype":' + b"[" * 900 + b"]" * 900 + b"}",
    "deep effect type": b'{"effect":{"effectType":' + b"[" * 900 + b"]" * 900 + b'}, "etype":"x"}',
    "not a number": b'{"timeout":NaN, "etype":NaN}',
    "infinite": b'{"timeout":1e999, "etype":1e999}',
    "many digits": b'{"etype":' + b"9" * 5000 + b"}",
    "huge card": b'{"drawPile":[["Hook",1' + b"0" * 400 + b']],"effect":{"card":["Hook",1'
    + b"0" * 400 + b"]}}",
    "half a surrogate pair": b'{"tags":["\\ud800"],"etype":"\\ud800"}',
    "not UTF-8": b'{"tags":["\xff"]}',
    "nothing but a quote": b'"',
    "a bare number": b"7",
}  # fmt: skip


@pytest.mark.parametrize("body", NASTY.values(), ids=NASTY)
def test_a_nasty_action_is_refused_and_changes_nothing(
    client: Client, match: str, body: bytes
) -> None:
    """400 with a sentence."""
    answer = client.ask("POST", match, ALICE, body)
    assert answer.status == 400
    assert answer.json()["error"]
    assert client.get(match).json()["moveCount"] == 1


@pytest.mark.parametrize("body", NASTY.values(), ids=NASTY)
def test_a_nasty_creation_is_refused_or_harmless(client: Client, body: bytes) -> None:
    """Never a 5xx; what was created can be looked at and ended."""
    answer = client.ask("POST", "/api/matches", ALICE, body)
    assert answer.status in {200, 400}
    if answer.status == 200:
        path = f"/api/matches/{answer.json()['id']}"
        assert client.get(path).status == 200
        assert client.ask("DELETE", f"{path}/terminate", ALICE, body).status in {200, 400}


@pytest.mark.parametrize("size", [102_401, 900_000])
def test_a_body_that_is_too_large_is_refused(client: Client, size: int) -> None:
    """413 in JSON; the connection goes on with the next request."""
    answer = client.ask("POST", "/api/matches", ALICE, b'{"tags":["' + b"x" * size + b'"]}')
    assert error(answer) == (413, "The body is larger than 102400 bytes.")
    client.close()
    assert client.get("/api/whoami").status == 200


def test_a_body_just_below_the_limit_is_read(client: Client) -> None:
    """100 kB are allowed, also where fewer are sent, compressed."""
    body = json.dumps({"nobody": ["x" * 102_300]}).encode()
    assert len(body) < 102_400
    assert client.ask("POST", "/api/matches", ALICE, body).status == 200
    packed, headers = gzip.compress(body), {"Content-Encoding": "gzip"}
    assert client.ask("POST", "/api/matches", ALICE, packed, headers).status == 200


@pytest.mark.parametrize(
    ("headers", "body", "expected"),
    [
        ({"Content-Encoding": "br"}, b"{}", (415, 'unsupported content encoding "br"')),
        ({"Content-Encoding": "gzip"}, b"{}", (400, "The body is not compressed with gzip.")),
        (
            {"Content-Encoding": "deflate"},
            zlib.compress(b" " * 102_401),
            (413, "The body is larger than 102400 bytes."),
        ),
        (
            {"Content-Type": "application/json; charset=latin1"},
            b"{}",
            (415, 'unsupported charset "LATIN1"'),
        ),
    ],
)
def test_a_body_in_an_unknown_form_is_refused(
    client: Client, headers: dict[str, str], body: bytes, expected: tuple[int, str]
) -> None:
    """Whoever sends it: a body is read before anybody is asked who they are."""
    for user in (ALICE, None):
        assert error(client.ask("POST", "/api/matches", user, body, headers)) == expected


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"randomSeed": "x" * 201}, "longer than 200"),
        ({"randomSeed": [[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]}, "nested too deeply"),
        ({"timeout": 1e10}, "a year"),
        ({"timeout": "soon"}, "'timeout' with value ''soon''"),
        ({"timeout": True}, "'timeout' with value 'true'"),
        ({"banks": [[]]}, "'banks' with value '[ [] ]'"),
        ({"banks": {"Hook": [3]}}, "'banks' with value '{ Hook: [ 3 ] }'"),
        ({"drawPile": "all"}, "'drawPile' with value ''all''"),
        ({"drawPile": [["Hook", "3"]], "discardPile": []}, "'0' with value '[ 'Hook', '3' ]'"),
        ({"drawPile": [["Hook", 3], ["Hook", 2.5]]}, "'1' with value '[ 'Hook', 2.5 ]'"),
        ({"tags": "ok"}, "'tags' with value ''ok''"),
        ({"playerids": ["x", ALICE]}, "to start a practice match"),
        ({"playerids": [ALICE, OUTSIDER]}, "to start a practice match"),
        ({"playerids": [BOB, BOB]}, "to start a practice match"),
    ],
)
def test_a_wish_that_cannot_be_granted_is_refused(client: Client, body: object, told: str) -> None:
    """With the field and its value as the original quotes them."""
    status, message = error(client.post("/api/matches", ALICE, body))
    assert status == 400
    assert told in message


def test_the_order_of_an_actions_checks(client: Client, match: str) -> None:
    """Admin, card, id, participant, end, turn, verb (docs/spec/arena.md section 4)."""
    bad_card = {"etype": "x", "effect": {"effectType": "Hook", "card": ["Parrot", 3]}}
    none = f"/api/matches/{'f' * 24}"
    assert client.post(none, ADMIN, bad_card).status == 401
    assert "'effect'" in error(client.post(none, ALICE, bad_card))[1]
    assert client.post("/api/matches/x", ALICE, {}).status == 400
    assert client.post(none, ALICE, {"etype": "x"}).status == 404
    assert client.post(match, OUTSIDER, {"etype": "x"}).status == 401
    assert client.post(match, BOB, {"etype": "x"}).status == 409
    assert error(client.post(match, ALICE, {"etype": "x"})) == (400, "Unknown action verb: x")
    client.ask("DELETE", f"{match}/terminate", ADMIN, {})
    assert client.post(match, BOB, {"etype": "x"}).status == 410


def test_a_late_player_with_a_bad_verb_is_refused_before_the_timeout(running: Running) -> None:
    """And with a good one the turn is ended by force instead of played."""
    arena, client, clock = running
    created = arena.create_match([ALICE, BOB], timeout=timedelta(seconds=10), seed="norandom")
    path = f"/api/matches/{created}"
    clock.turn(timedelta(seconds=10))
    assert client.post(path, ALICE, {"etype": "Draw"}).json()[0]["eventType"] == "Draw"
    clock.turn(timedelta(seconds=10, milliseconds=500))
    assert client.post(path, ALICE, {"etype": "x"}).status == 400
    events = client.post(path, ALICE, {"etype": "Draw"}).json()
    assert [event["eventType"] for event in events] == ["Comment", "TurnEnded"]
    assert events[0]["comment"] == (
        f"Forceful turn ending due to player {ALICE} inactivity after 10.5 seconds."
    )


# --- termination ---------------------------------------------------------------------------


def test_a_match_is_ended_by_decision(client: Client, match: str) -> None:
    """For whom the admin or, of a practice match, its creator names; else it is drawn."""
    made = client.post("/api/matches", ALICE, {"playerids": [ALICE, DUMMY]}).json()["id"]
    won = client.ask("DELETE", f"/api/matches/{made}/terminate", ALICE, {"winnerId": DUMMY})
    assert won.json()["state"]["winnerIdx"] == 1
    drawn = client.ask("DELETE", f"{match}/terminate", ADMIN)
    assert drawn.json()["state"]["winnerIdx"] is None


@pytest.mark.parametrize(
    ("body", "told"),
    [({"winnerId": ""}, "24 hex"), ({"winnerId": "x"}, "24 hex")],
)
def test_a_termination_that_makes_no_sense_is_refused(
    client: Client,
    match: str,
    body: object,
    told: str,
) -> None:
    """And the match goes on."""
    status, message = error(client.ask("DELETE", f"{match}/terminate", ADMIN, body))
    assert status == 400
    assert told in message
    assert client.get(match).json()["activePlayerIndex"] == 0


@pytest.mark.parametrize(
    "body", [{"winnerId": OUTSIDER}, {"winnerId": 7}, {"comment": ["x"]}, {"comment": 5}]
)
def test_a_termination_that_names_no_winner_of_the_match_is_a_draw(
    client: Client, match: str, body: object
) -> None:
    """Whoever has more points; what is no text is as good as left out."""
    ended = client.ask("DELETE", f"{match}/terminate", ADMIN, body)
    assert ended.json()["state"]["winnerIdx"] is None
    events = client.get(match).json()["moves"][0]["events"]
    assert [event["eventType"] for event in events] == ["MatchEnded"]


# --- lists ---------------------------------------------------------------------------------


def test_pages_of_a_list_follow_one_another(opened: Opened, tmp_path: Path) -> None:
    """limit=1 gives 11 (sic); offset goes on after the last, in both orders."""
    with opened(tmp_path, clock=HandClock()) as (arena, client):
        made = [arena.create_match([ALICE, BOB], tags=[str(n)]) for n in range(25)]

        def ids(query: str) -> list[str]:
            answer = client.get(f"/api/matches?condensed=1&{query}", ALICE)
            return [found["id"] for found in answer.json()]

        newest = made[::-1]
        assert ids("") == newest
        assert ids("sortasc=1") == made
        assert ids("limit=1") == newest[:11]
        assert ids(f"limit=1&offset={newest[10]}") == newest[11:22]
        assert ids(f"limit=1&sortasc=1&offset={made[10]}") == made[11:22]
        assert ids(f"offset={newest[10]}") == newest
        assert ids("limit=0") == ids("limit=-1") == ids("limit=x") == ids("limit=1.5") == newest
        assert ids("tags=3,24,none") == [made[24], made[3]]


def test_lists_by_day(running: Running) -> None:
    """`today`, an ISO date, an ISO moment, month/day/year, the form of busydays; nothing else."""
    arena, client, clock = running
    tag = "by day"
    created = arena.create_match([OUTSIDER, BOB], tags=[tag])
    day = clock.now.astimezone().date()
    fits = ["today", day.isoformat(), day.strftime("%a+%b+%d+%Y"), day.strftime("%m/%d/%Y")]
    fits.append(f"{day}T23:59:59")
    others = ["", "2001-01-01", "yesterday", (day + timedelta(days=1)).isoformat()]
    for at, expected in [*((at, [created]) for at in fits), *((at, []) for at in others)]:
        found = client.get(f"/api/matches?condensed=1&tags=by+day&at={at}", OUTSIDER).json()
        assert [one["id"] for one in found] == expected, at


def test_a_match_against_oneself_is_always_active(client: Client) -> None:
    """In the creator's active list from the start to the end, whoever's turn it is."""
    created = client.post("/api/matches", OUTSIDER).json()["id"]
    path = f"/api/matches/{created}"
    for verb in ("Draw", "EndTurn", "Draw"):
        active = client.get("/api/matches?active=1", OUTSIDER).json()
        assert [one["_id"] for one in active if one["_id"] == created] == [created]
        assert client.post(path, OUTSIDER, {"etype": verb, "autopick": True}).status == 200


# --- the rest -------------------------------------------------------------------------------


def test_simultaneous_actions_are_played_one_after_another(running: Running) -> None:
    """Eight draws at once: each is answered by itself, and the history has them all in order."""
    arena, client, _ = running
    pile = [["Mermaid", value] for value in (5, 6, 7, 8)] + [["Key", 3], ["Anchor", 3]]
    created = arena.create_match([ALICE, ALICE], seed="norandom", drawPile=pile, discardPile=[])
    path, answers = f"/api/matches/{created}", []

    def draw() -> None:
        own = Client(arena.url)
        answers.append(own.post(path, ALICE, {"etype": "Draw"}))
        own.close()

    threads = [threading.Thread(target=draw) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    moves = client.get(f"{path}?showevents=1").json()["moves"]
    accepted = [answer.json() for answer in answers if answer.status == 200]
    assert {answer.status for answer in answers} <= {200, 410}
    assert len(accepted) == len(moves) - 1
    assert [move["sequenceId"] for move in moves] == list(range(len(moves)))
    drawn = [event["drawCard"] for events in accepted for event in events if "drawCard" in event]
    assert sorted(map(str, drawn)) == sorted(str({"suit": s, "value": v}) for s, v in pile)


def test_an_unknown_path_is_shown_as_text(client: Client) -> None:
    """The original's page, with what was asked escaped."""
    answer = client.get("/api/'&<script>alert(1)</script>", None)
    assert answer.status == 404
    assert "<script>" not in answer.text
    assert "Cannot GET /api/&#x27;&amp;&lt;script&gt;alert(1)" in answer.text


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/api/hello", "GET,HEAD"),
        ("/api/matches", "GET,POST,HEAD"),
        ("/api/matches/watchdog", "POST,GET,HEAD"),
        (f"/api/matches/{'f' * 24}/terminate", "DELETE"),
    ],
)
def test_options_tell_what_a_path_has(client: Client, path: str, allowed: str) -> None:
    """In the header and in the body, to everybody."""
    answer = client.ask("OPTIONS", path)
    assert (answer.status, answer.text, answer.headers["allow"]) == (200, allowed, [allowed])
    assert client.ask("OPTIONS", "/api/nothing").status == 404


def test_paths_are_compared_as_they_were_sent(client: Client, match: str) -> None:
    """In any case, with or without a last slash; only a parameter is decoded."""
    assert client.get("/API/HelloWorld/", None).status == 200
    assert client.get("/api/%68ello", None).status == 404
    escaped = "".join(f"%{ord(letter):02x}" for letter in match.rpartition("/")[2])
    assert client.get(f"/api/matches/{escaped}/").status == 200
    for broken in ("%zz", "%", "%ff"):
        refused = (400, f"Failed to decode param '{broken}'")
        assert error(client.get(f"/api/matches/{broken}", None)) == refused


def test_what_a_client_has_is_not_sent_again(client: Client, match: str) -> None:
    """304 by the tag, unless it asks for all of it, and only where something is looked at."""
    tag = client.get(match).headers["etag"][0]

    def status(known: str, method: str = "GET", **headers: str) -> int:
        return client.ask(method, match, ALICE, headers={"If-None-Match": known, **headers}).status

    assert (status(tag), status(f'"x", {tag}'), status("*"), status('W/"x"')) == (
        304,
        304,
        304,
        200,
    )
    assert status(tag, **{"Cache-Control": "no-cache"}) == 200
    assert status("*", "POST") == 400
    assert client.ask("GET", match, BOB, headers={"If-None-Match": "*"}).raw == b""


def test_busy_days_are_ones_own_of_a_month_and_the_week_around(
    opened: Opened, tmp_path: Path
) -> None:
    """The admin's are all; without a day it is this month, without a readable one any."""
    clock = HandClock()
    with opened(tmp_path, clock=clock) as (arena, client):
        today = clock.now
        for players in ([ALICE, BOB], [OUTSIDER, BOB], [ALICE, ALICE]):
            arena.create_match(players)
            clock.turn(timedelta(days=20))
        first, second, third = (
            (today + timedelta(days=days)).astimezone().strftime("%a %b %d %Y")
            for days in (0, 20, 40)
        )

        def days(user: str, query: str = "") -> list[str]:
            found: list[str] = client.get(f"/api/matches/busydays{query}", user).json()
            return found

        assert days(ALICE, "?at=2026-11-03") == [first]
        assert days(ADMIN, "?at=2026-12-02") == [second, third]
        assert days(ADMIN) == [third]  # it is January
        assert days(ALICE, "?at=any") == [first, third]
        assert days(DUMMY, "?at=any") == []


def test_answers_carry_a_weak_etag(client: Client, match: str) -> None:
    """The same body has the same tag, another body another."""
    first, second = client.get(match), client.get(match)
    other = client.get(f"{match}?condensed=1")
    assert first.headers["etag"] == second.headers["etag"] != other.headers["etag"]
    assert first.headers["etag"][0].startswith('W/"')


def test_a_forwarded_address_is_not_believed(client: Client) -> None:
    """The address is that of the connection, whatever a header claims."""
    credentials = {"X-Forwarded-For": "6.6.6.6"}
    answer = client.ask("GET", "/api/sessioninfo", ALICE, headers=credentials)
    assert answer.json()["ip"] == "127.0.0.1"


def test_an_empty_country_is_left_out(client: Client) -> None:
    """The admin has none."""
    assert "country" not in client.get("/api/sessioninfo", ADMIN).json()
    assert client.get("/api/sessioninfo", ALICE).json()["country"] == "hu"
