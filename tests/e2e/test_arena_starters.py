"""The starters for the arena's API play a practice match, both seats of it, at a real arena."""

import json
import os
import re
import runpy
import signal
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import requests
from support.arena_server import ADMIN, ALICE, BOB, DUMMY, PASSWORDS, ArenaHttpClient, running_arena
from support.starters import START_COMMANDS, STARTERS_DIR, Bot, start_starter
from support.waiting import HANG_SECONDS, until

from cardsharp.games.deadmansdraw.arena import pages
from cardsharp_tools.local_server.arena_server import ArenaServer

Place = tuple[ArenaServer, ArenaHttpClient]

SHORT = [["Key", 3], ["Map", 5], ["Mermaid", 9], ["Sword", 4]]  # a draw pile that is soon through


def each(*slow: str) -> pytest.MarkDecorator:
    """Each starter; slow where it is run much: a process a request, Java translated each time."""
    return pytest.mark.parametrize(
        "kit",
        [pytest.param(kit, marks=[pytest.mark.slow] * (kit in slow)) for kit in START_COMMANDS],
    )


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with running_arena(tmp_path) as running:
        yield running


def started(kit: str, url: str, player: str, *more: str, password: str = "") -> Bot:
    return start_starter(kit, url, player, *more, password=password or PASSWORDS[player])


@each("curl", "java")
def test_a_starter_practises_against_the_dummy_played_by_it(kit: str, place: Place) -> None:
    arena, client = place
    dummy = started(kit, arena.url, DUMMY)
    try:
        output, faults = started(kit, arena.url, ALICE, "--practice").communicate(
            timeout=HANG_SECONDS
        )
        assert dummy.poll() is None, dummy.communicate()
    finally:
        os.killpg(dummy.pid, signal.SIGKILL)  # the script's curl as well
        dummy_output = dummy.communicate()
    assert (faults, dummy_output) == ("", ("", ""))
    (match,) = client.get("/api/matches", ADMIN).json()
    assert match["playerids"] == [ALICE, DUMMY]
    assert "timeoutCount" not in match["state"]
    assert output.strip() == {0: "won", 1: "lost", None: "drawn"}[match["state"]["winnerIdx"]]


@each("curl", "java")
def test_a_starter_plays_all_matches_with_its_tag_and_no_other(kit: str, place: Place) -> None:
    arena, client = place
    for tag in ("cup", "cup", "other"):
        order = {"playerids": [ALICE, BOB], "tags": [tag], "drawPile": SHORT}
        client.post("/api/matches", ADMIN, order)
    untouched = client.get("/api/matches?tags=other", ADMIN).json()
    bots = [started(kit, arena.url, player, "cup") for player in (ALICE, BOB)]

    def finished(tag: str) -> list[bool]:
        matches = client.get(f"/api/matches?condensed=1&tags={tag}", ADMIN).json()
        return [match["finished"] for match in matches]

    try:
        until(lambda: finished("cup") == [True, True])
    finally:
        for bot in bots:
            os.killpg(bot.pid, signal.SIGKILL)
    assert [bot.communicate() for bot in bots] == [("", "")] * 2
    assert client.get("/api/matches?tags=other", ADMIN).json() == untouched


@each("java")
def test_a_starter_explains_why_it_cannot_play(kit: str, place: Place) -> None:
    """A wrong password, one that others could read, and words that it does not know."""
    for url, password, more, code, says in (
        (place[0].url, "wrong", (), 1, "Unauthorized: are ID and ARENA_PASSWORD right?"),
        ("http://localhost.example.org", "", (), 1, "use https://"),
        ("http://127.0.0.1", "", ("cup", "more"), 2, "URL ID [TAG | --practice]"),
    ):
        bot = started(kit, url, ALICE, *more, password=password)
        output, faults = bot.communicate(timeout=HANG_SECONDS)
        assert (bot.returncode, output, says in faults) == (code, "", True), faults


def test_the_python_starter_pauses_if_the_rate_limit_is_exhausted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An arena that slows down allows 100 requests a minute; the 100th says that none remain."""
    waited: list[float] = []
    bot = runpy.run_path(str(STARTERS_DIR / "python/bot.py"))
    monkeypatch.setattr("time.sleep", waited.append)
    with running_arena(tmp_path, throttle=True) as (arena, _), requests.Session() as session:
        session.auth = (ALICE, PASSWORDS[ALICE])
        for _request in range(100):
            assert waited == []
            bot["ask"](session, "GET", f"{arena.url}/api/whoami")
    assert waited == [1]


# --- the collection for Postman, by its own requests -----------------------------------------


DOCUMENT = Path(pages.__file__).with_name("openapi.json")
COLLECTION = json.loads((STARTERS_DIR / "postman/arena.postman_collection.json").read_text())
ITEMS = {item["name"]: item for item in COLLECTION["item"]}
KEEPS = re.compile(r'pm\.collectionVariables\.set\("(\w+)", pm\.response\.json\(\)\.(\w+)\);')


class Postman:
    """Client that sends the requests of a Postman collection, as far as ours needs it."""

    def __init__(self, arena: str) -> None:
        self._values = {variable["key"]: variable["value"] for variable in COLLECTION["variable"]}
        self._values["arena"] = arena
        self.sign_in(ALICE)

    def sign_in(self, player: str) -> None:
        self._values |= {"playerId": player, "password": PASSWORDS[player]}

    def send(self, name: str) -> requests.Response:
        request = ITEMS[name]["request"]
        auth = {entry["key"]: self._filled(entry["value"]) for entry in COLLECTION["auth"]["basic"]}
        answer = requests.request(
            request["method"],
            self._filled(request["url"]["raw"]),
            data=self._filled(request.get("body", {}).get("raw", "")),
            headers={"Content-Type": "application/json"} if "body" in request else {},
            auth=None if "auth" in request else (auth["username"], auth["password"]),
            timeout=HANG_SECONDS,
        )
        for event in ITEMS[name].get("event", ()):
            script_match = KEEPS.fullmatch("".join(event["script"]["exec"]))
            assert script_match, "a script that this test does not know"
            self._values[script_match[1]] = answer.json()[script_match[2]]
        return answer

    def _filled(self, text: str) -> str:
        return re.sub(r"\{\{(\w+)\}\}", lambda match: self._values[match[1]], text)


@pytest.fixture
def postman(tmp_path: Path) -> Iterator[Postman]:
    with running_arena(tmp_path, long_poll_timeout=timedelta(milliseconds=1)) as (arena, _):
        yield Postman(arena.url)


def test_a_practice_match_is_played_by_the_requests_of_the_collection(postman: Postman) -> None:
    assert "Arena server" in postman.send("Hello").json()["message"]
    assert postman.send("Who am I").json()["username"] == ALICE
    match = postman.send("Practise against the dummy").json()["id"]
    players = [ALICE, DUMMY]
    while (look := postman.send("Wait for my turn")).status_code != 410:
        if look.status_code == 409:
            players.reverse()
            postman.sign_in(players[0])
            continue
        (waiting,) = postman.send("Matches that wait for me").json()
        assert waiting["_id"] == match
        enough = len(look.json()["state"]["playArea"]) >= 3
        name = "End my turn" if enough else "Draw, effects answered by the arena"
        assert postman.send(name).status_code == 200
    seen = postman.send("The match with all that happened").json()
    assert "matchEndedScores" in str(seen["moves"][-1])
    assert [entry["id"] for entry in postman.send("My matches").json()] == [match]


@pytest.mark.parametrize("name", ITEMS)
def test_the_arena_describes_each_request_of_the_collection(name: str) -> None:
    request, url = ITEMS[name]["request"], ITEMS[name]["request"]["url"]
    path = "/" + "/".join(url["path"]).replace("{{matchId}}", "{id}")
    described = json.loads(DOCUMENT.read_text())["paths"][path][request["method"].lower()]
    documented_parameters = {
        parameter["name"]
        for parameter in described.get("parameters", ())
        if parameter["in"] == "query"
    }
    query_parameters = {parameter["key"]: parameter["value"] for parameter in url.get("query", ())}
    assert set(query_parameters) <= documented_parameters
    written = "&".join(f"{key}={value}" for key, value in query_parameters.items())
    assert url["raw"].partition("?")[2] == written
