"""Tests of the starters for the arena's API: each plays both seats of a match at an arena."""

import json
import os
import re
import runpy
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from time import sleep
from typing import Any

import pytest
import requests
from support.arena_server import (
    ADMIN,
    ALICE,
    BOB,
    DUMMY,
    NAMES,
    PASSWORDS,
    ArenaHttpClient,
    running_arena,
)
from support.cli import start_program
from support.ports import unused_port
from support.starters import START_COMMANDS, STARTERS_DIR, StarterProcess, start_starter
from support.waiting import HANG_SECONDS, wait_until

from cardsharp.games.deadmansdraw.arena.access.quotas import QuotaEnforcer
from cardsharp.games.deadmansdraw.arena.access.users import User
from cardsharp.games.deadmansdraw.arena.openapi import arena_openapi_document
from cardsharp_tools.local_cloud.arena_concurrency import TEAM_EXECUTIONS
from cardsharp_tools.local_server.arena_server import ArenaServer

ArenaAndClient = tuple[ArenaServer, ArenaHttpClient]

SHORT_DRAW_PILE = [
    ["Key", 3],
    ["Map", 5],
    ["Mermaid", 9],
    ["Sword", 4],
]  # a draw pile that is soon through


POLL_SECONDS = 0.1  # between two requests of a test, so that the starters have the arena


def for_each_starter(*slow: str) -> pytest.MarkDecorator:
    """Parametrize a test by starter, and mark the given starters as slow.

    Slow are starters that need a process for each request, or a compilation for each run.
    """
    return pytest.mark.parametrize(
        "kit",
        [pytest.param(kit, marks=[pytest.mark.slow] * (kit in slow)) for kit in START_COMMANDS],
    )


@pytest.fixture
def arena_and_client(tmp_path: Path) -> Iterator[ArenaAndClient]:
    with running_arena(tmp_path) as running:
        yield running


def start_bot(kit: str, url: str, player: str, *options: str, password: str = "") -> StarterProcess:
    return start_starter(kit, url, player, *options, password=password or PASSWORDS[player])


WAIT_LINE = "Player {} waits for {} at {}"
LOST_LINE = re.compile(r"The arena does not answer \(.{2,}\)\. Trying again every second\.")


def result_lines(match: dict[str, Any], player: str) -> list[str]:
    """Return the lines that a starter prints about a finished match."""
    seat = match["playerids"].index(player)
    names = " against ".join(NAMES[name] for name in match["playerids"])
    points = [sum(max(values) for values in bank.values()) for bank in match["state"]["banks"]]
    result = {None: "drawn", seat: "won", 1 - seat: "lost"}[match["state"]["winnerIdx"]]
    title = f"Match {match['_id']}, {names}"
    return [f"{title}: begins", f"{title}: {result} {points[seat]}:{points[1 - seat]}"]


def has_acted(client: ArenaHttpClient, match: dict[str, Any], player: str) -> bool:
    """Return True if a player has acted in a match."""
    full_match = client.get(f"/api/matches/{match['_id']}?showevents=1", ADMIN).json()
    seat = match["playerids"].index(player)
    return any(
        event.get("playerIndex") == seat for move in full_match["moves"] for event in move["events"]
    )


@for_each_starter("curl", "java", "go")
def test_a_starter_practises_against_the_dummy_played_by_it(
    kit: str, arena_and_client: ArenaAndClient
) -> None:
    """It says at its start for whom it waits for what, and when the match begins and ends."""
    arena, client = arena_and_client
    dummy = start_bot(kit, arena.url, DUMMY)
    try:
        output, error_output = start_bot(kit, arena.url, ALICE, "--practice").communicate(
            timeout=HANG_SECONDS
        )
        assert dummy.poll() is None, dummy.communicate()
    finally:
        os.killpg(dummy.pid, signal.SIGKILL)  # the script's curl as well
        dummy_output, dummy_error_output = dummy.communicate()
    assert (error_output, dummy_error_output) == ("", "")
    (match,) = client.get("/api/matches", ADMIN).json()
    assert match["playerids"] == [ALICE, DUMMY]
    assert "timeoutCount" not in match["state"]
    wait_line = WAIT_LINE.format(ALICE, "a practice match", arena.url)
    assert output.splitlines() == [wait_line, *result_lines(match, ALICE)]
    wait_line = WAIT_LINE.format(DUMMY, "all its matches", arena.url)
    assert dummy_output.splitlines()[:2] == [wait_line, result_lines(match, DUMMY)[0]]


@for_each_starter("curl", "java", "go")
def test_a_starter_plays_all_matches_with_its_tag_and_no_other(
    kit: str, arena_and_client: ArenaAndClient
) -> None:
    """It prints the begin of each match, and its result at the latest when the next one begins."""
    arena, client = arena_and_client
    for tag in ("cup", "cup", "other"):
        match_request = {"playerids": [ALICE, BOB], "tags": [tag], "drawPile": SHORT_DRAW_PILE}
        client.post("/api/matches", ADMIN, match_request)
    expected_other_matches = client.get("/api/matches?tags=other", ADMIN).json()
    bots = {player: start_bot(kit, arena.url, player, "cup") for player in (ALICE, BOB)}

    def read_finished_flags(tag: str) -> list[bool]:
        matches = client.get(f"/api/matches?condensed=1&tags={tag}", ADMIN).json()
        return [match["finished"] for match in matches]

    try:
        wait_until(lambda: read_finished_flags("cup") == [True, True], POLL_SECONDS)
        client.post("/api/matches", ADMIN, {"playerids": [ALICE, BOB], "tags": ["cup"]})
        wait_until(lambda: read_finished_flags("cup") == [True] * 3, POLL_SECONDS)
    finally:
        for bot in bots.values():
            os.killpg(bot.pid, signal.SIGKILL)
    matches = client.get("/api/matches?tags=cup", ADMIN).json()
    last_match, *ended_matches = matches
    for player, bot in bots.items():
        output, error_output = bot.communicate()
        wait_line, *lines = output.splitlines()
        assert error_output == ""
        assert wait_line == WAIT_LINE.format(player, "matches with the tag cup", arena.url)
        # A player that had no turn in a match that was soon through knows nothing of it.
        expected_lines = {
            line
            for match in ended_matches
            if has_acted(client, match, player)
            for line in result_lines(match, player)
        }
        assert {*lines[: len(expected_lines)]} == expected_lines
        assert lines[len(expected_lines)] == result_lines(last_match, player)[0]
    assert client.get("/api/matches?tags=other", ADMIN).json() == expected_other_matches


@for_each_starter("java", "go")
def test_a_starter_explains_why_it_cannot_play(kit: str, arena_and_client: ArenaAndClient) -> None:
    """A starter reports a wrong password, an unencrypted URL and unknown arguments."""
    arena_url = arena_and_client[0].url
    waits = WAIT_LINE.format(ALICE, "all its matches", arena_url) + "\n"
    for url, password, options, exit_code, waits_line, message in (
        (arena_url, "wrong", (), 1, waits, "Unauthorized: are ID and ARENA_PASSWORD right?"),
        ("http://localhost.example.org", "", (), 1, "", "use https://, or --insecure"),
        ("http://127.0.0.1", "", ("cup", "more"), 2, "", "URL ID [TAG | --practice] [--insecure]"),
    ):
        bot = start_bot(kit, url, ALICE, *options, password=password)
        output, error_output = bot.communicate(timeout=HANG_SECONDS)
        expected_code = 1 if kit == "go" else exit_code  # `go run` exits with 1 for any failure
        assert (bot.returncode, output, message in error_output) == (
            expected_code,
            waits_line,
            True,
        ), error_output


@for_each_starter("curl", "java", "go")
def test_a_starter_plays_over_plain_http_if_told_so_and_survives_a_restart(
    kit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It warns, says in one line each that the arena is gone and back, and plays on.

    It also tells what the arena notices about its tags.
    """
    settings = {"host": "0.0.0.0", "allow_plain_http": True, "port": unused_port()}  # noqa: S104
    url = f"http://127.0.0.2:{settings['port']}"  # to a starter this is another machine
    options: tuple[str, ...] = ("--insecure",)
    if kit == "python":
        monkeypatch.setenv("ARENA_INSECURE", "1")
        options = ()
    bots = []
    try:
        with running_arena(tmp_path, data_file=tmp_path / "arena.db", **settings) as (_, client):
            bots = [start_bot(kit, url, player, "cup", *options) for player in (ALICE, BOB)]
            client.post("/api/matches", ADMIN, {"playerids": [ALICE, BOB], "tags": ["cup"]})
            wait_until(
                lambda: client.get("/api/matches", ADMIN).json()[0]["turnCount"] > 3, POLL_SECONDS
            )
        sleep(3)
        with running_arena(tmp_path, data_file=tmp_path / "arena.db", **settings) as (_, client):
            wait_until(
                lambda: "winnerIdx" in client.get("/api/matches", ADMIN).json()[0]["state"],
                POLL_SECONDS,
            )
            match_request = {"playerids": [ALICE, BOB], "tags": ["cup"]}
            client.post("/api/matches", ADMIN, match_request)  # it reports the result of the last
            wait_until(
                lambda: client.get("/api/matches", ADMIN).json()[0]["turnCount"] > 3, POLL_SECONDS
            )
            match = client.get("/api/matches?sortasc=1", ADMIN).json()[0]
    finally:
        for bot in bots:
            os.killpg(bot.pid, signal.SIGKILL)
    for bot, player in zip(bots, (ALICE, BOB), strict=True):
        output, error_output = bot.communicate()
        assert error_output == "Warning: others in this network can read the password.\n"
        lines = output.splitlines()
        lost_indexes = [index for index, line in enumerate(lines) if LOST_LINE.fullmatch(line)]
        assert lines.index("The arena answers again.") > lost_indexes[0]
        assert len(lost_indexes) <= 2, "once for each time that the arena was closed"
        assert [lines.count(line) for line in result_lines(match, player)] == [1, 1], output
        assert len(lines) <= 7


@pytest.mark.slow  # half a minute of matches, for a figure that seldom changes
@pytest.mark.usefixtures("cli")
def test_a_client_has_as_many_requests_open_as_the_cloud_reckons_with(
    arena_and_client: ArenaAndClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the cloud each open request is an execution of a function (docs/arena.md)."""
    arena, client = arena_and_client
    open_counts, peaks = Counter[str](), Counter[str]()
    reserve_request = QuotaEnforcer.reserve_concurrent_request

    @contextmanager
    def count_open_requests(quotas: QuotaEnforcer, user: User) -> Iterator[None]:
        with reserve_request(quotas, user):
            open_counts[user.id] += 1
            peaks[user.id] = max(peaks[user.id], open_counts[user.id])
            try:
                yield
            finally:
                open_counts[user.id] -= 1

    monkeypatch.setattr(QuotaEnforcer, "reserve_concurrent_request", count_open_requests)
    monkeypatch.setenv("CARDSHARP_PASSWORD", PASSWORDS[BOB])
    starter = start_bot("python", arena.url, ALICE, "cup")
    try:
        with start_program("bot", "--url", arena.url, "--user", BOB, "--tag", "cup") as bot:
            for _ in range(3):
                match_request = {"playerids": [ALICE, BOB], "tags": ["cup"], "timeout": 60}
                client.post("/api/matches", ADMIN, match_request)
                wait_until(
                    lambda: client.get("/api/matches?condensed=1", ADMIN).json()[0]["finished"],
                    POLL_SECONDS,
                )
            bot.send_signal(signal.SIGINT)
    finally:
        os.killpg(starter.pid, signal.SIGKILL)
        starter.communicate()
    assert peaks[ALICE] == 1
    assert peaks[BOB] <= TEAM_EXECUTIONS


def test_the_python_starter_pauses_if_the_rate_limit_is_exhausted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The starter sleeps when the response to its 100th request reports that none remain."""
    sleep_seconds: list[float] = []
    bot = runpy.run_path(str(STARTERS_DIR / "python/bot.py"))
    monkeypatch.setattr("time.sleep", sleep_seconds.append)
    with running_arena(tmp_path, throttle=True) as (arena, _), requests.Session() as session:
        session.auth = (ALICE, PASSWORDS[ALICE])
        for _request in range(100):
            assert sleep_seconds == []
            bot["ask"](session, "GET", f"{arena.url}/api/whoami")
    assert sleep_seconds == [1]


# --- the collection for Postman, by its own requests -----------------------------------------


DOCUMENT: Any = arena_openapi_document()
COLLECTION = json.loads((STARTERS_DIR / "postman/arena.postman_collection.json").read_text())
COLLECTION_ITEMS = {item["name"]: item for item in COLLECTION["item"]}
SET_VARIABLE_SCRIPT = re.compile(
    r'pm\.collectionVariables\.set\("(\w+)", pm\.response\.json\(\)\.(\w+)\);'
)


class PostmanClient:
    """Client that sends the requests of a Postman collection.

    It supports only the features that this collection uses.
    """

    def __init__(self, arena: str) -> None:
        self._values = {variable["key"]: variable["value"] for variable in COLLECTION["variable"]}
        self._values["arena"] = arena
        self.sign_in(ALICE)

    def sign_in(self, player: str) -> None:
        self._values |= {"playerId": player, "password": PASSWORDS[player]}

    def send(self, name: str) -> requests.Response:
        request = COLLECTION_ITEMS[name]["request"]
        auth = {
            entry["key"]: self._fill_variables(entry["value"])
            for entry in COLLECTION["auth"]["basic"]
        }
        response = requests.request(
            request["method"],
            self._fill_variables(request["url"]["raw"]),
            data=self._fill_variables(request.get("body", {}).get("raw", "")),
            headers={"Content-Type": "application/json"} if "body" in request else {},
            auth=None if "auth" in request else (auth["username"], auth["password"]),
            timeout=HANG_SECONDS,
        )
        for event in COLLECTION_ITEMS[name].get("event", ()):
            script_match = SET_VARIABLE_SCRIPT.fullmatch("".join(event["script"]["exec"]))
            assert script_match, "a script that this test does not know"
            self._values[script_match[1]] = response.json()[script_match[2]]
        return response

    def _fill_variables(self, text: str) -> str:
        return re.sub(r"\{\{(\w+)\}\}", lambda match: self._values[match[1]], text)


@pytest.fixture
def postman(tmp_path: Path) -> Iterator[PostmanClient]:
    with running_arena(tmp_path, long_poll_timeout=timedelta(milliseconds=1)) as (arena, _):
        yield PostmanClient(arena.url)


def test_a_practice_match_is_played_by_the_requests_of_the_collection(
    postman: PostmanClient,
) -> None:
    assert "Arena server" in postman.send("Hello").json()["message"]
    assert postman.send("Who am I").json()["username"] == ALICE
    match = postman.send("Practise against the dummy").json()["id"]
    players = [ALICE, DUMMY]
    while (wait_response := postman.send("Wait for my turn")).status_code != 410:
        if wait_response.status_code == 409:
            players.reverse()
            postman.sign_in(players[0])
            continue
        (waiting_match,) = postman.send("Matches that wait for me").json()
        assert waiting_match["_id"] == match
        has_enough_cards = len(wait_response.json()["state"]["playArea"]) >= 3
        name = "End my turn" if has_enough_cards else "Draw, effects answered by the arena"
        assert postman.send(name).status_code == 200
    full_match = postman.send("The match with all that happened").json()
    assert "matchEndedScores" in str(full_match["moves"][-1])
    assert [entry["id"] for entry in postman.send("My matches").json()] == [match]


@pytest.mark.parametrize("name", COLLECTION_ITEMS)
def test_the_arena_describes_each_request_of_the_collection(name: str) -> None:
    request, url = COLLECTION_ITEMS[name]["request"], COLLECTION_ITEMS[name]["request"]["url"]
    path = "/" + "/".join(url["path"]).replace("{{matchId}}", "{id}")
    operation = DOCUMENT["paths"][path][request["method"].lower()]
    documented_parameters = {
        parameter["name"]
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query"
    }
    query_parameters = {parameter["key"]: parameter["value"] for parameter in url.get("query", ())}
    assert set(query_parameters) <= documented_parameters
    expected_query = "&".join(f"{key}={value}" for key, value in query_parameters.items())
    assert url["raw"].partition("?")[2] == expected_query
