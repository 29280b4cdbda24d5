"""The collection for Postman plays a practice match at a real arena, by its own requests."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import requests
from support.arena import ALICE, DUMMY, PASSWORDS, running_arena

ROOT = Path(__file__).parents[2]
COLLECTION = json.loads((ROOT / "starters/arena/postman/arena.postman_collection.json").read_text())
ITEMS = {item["name"]: item for item in COLLECTION["item"]}
KEEPS = re.compile(r'pm\.collectionVariables\.set\("(\w+)", pm\.response\.json\(\)\.(\w+)\);')


class Postman:
    """What Postman does with a collection, as far as this one needs it."""

    def __init__(self, arena: str) -> None:
        self._values = {one["key"]: one["value"] for one in COLLECTION["variable"]}
        self._values["arena"] = arena
        self.sign_in(ALICE)

    def sign_in(self, player: str) -> None:
        self._values |= {"playerId": player, "password": PASSWORDS[player]}

    def send(self, name: str) -> requests.Response:
        request = ITEMS[name]["request"]
        auth = {one["key"]: self._filled(one["value"]) for one in COLLECTION["auth"]["basic"]}
        answer = requests.request(
            request["method"],
            self._filled(request["url"]["raw"]),
            data=self._filled(request.get("body", {}).get("raw", "")),
            headers={"Content-Type": "application/json"} if "body" in request else {},
            auth=None if "auth" in request else (auth["username"], auth["password"]),
            timeout=10,
        )
        for event in ITEMS[name].get("event", ()):
            kept = KEEPS.fullmatch("".join(event["script"]["exec"]))
            assert kept, "a script that this test does not know"
            self._values[kept[1]] = answer.json()[kept[2]]
        return answer

    def _filled(self, text: str) -> str:
        return re.sub(r"\{\{(\w+)\}\}", lambda found: self._values[found[1]], text)


@pytest.fixture
def postman(tmp_path: Path) -> Iterator[Postman]:
    with running_arena(tmp_path, poll_timeout=timedelta(milliseconds=1)) as (arena, _):
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
    assert [one["id"] for one in postman.send("My matches").json()] == [match]


@pytest.mark.parametrize("name", ITEMS)
def test_the_arena_describes_each_request_of_the_collection(name: str) -> None:
    paths: Any = json.loads(
        (ROOT / "layers/cardsharp/python/cardsharp/deadmansdraw/arena/openapi.json").read_text()
    )["paths"]
    request = ITEMS[name]["request"]
    url = request["url"]
    path = "/" + "/".join(url["path"]).replace("{{matchId}}", "{id}")
    described = paths[path][request["method"].lower()]
    known = {one["name"] for one in described.get("parameters", ()) if one["in"] == "query"}
    asked = {one["key"]: one["value"] for one in url.get("query", ())}
    assert set(asked) <= known
    written = "&".join(f"{key}={value}" for key, value in asked.items())
    assert url["raw"].partition("?")[2] == written
