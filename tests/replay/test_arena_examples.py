"""The arena answers the 119 recorded protocol examples as the original did."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from requests import Request, Session
from requests.auth import HTTPDigestAuth
from support.arena import (
    ADMIN,
    ALICE,
    BOB,
    DUMMY,
    NAMES,
    PASSWORDS,
    Answer,
    Client,
    HandClock,
    as_shown_to,
    as_text,
    normalised,
)
from support.arena_cloud import Opened
from support.recorded import recording

from cardsharp.deadmansdraw.arena.randomness import Randomness

IDS = {name: player for player, name in NAMES.items()} | {"admin": ADMIN}

DEVIATIONS = {
    "create malformed json": "the text is the JavaScript engine's",
    "POST JSON null": "the text is the JavaScript engine's",
}
"""Examples whose body differs, each with its reason; their status is the same."""

_SEED = re.compile(r'"randomSeed":"(\d{15,17})"')
_ID = re.compile("[0-9a-f]{24}")


class Conversation:
    """The recorded examples, asked again in their order."""

    def __init__(self, url: str, client: Client, clock: HandClock) -> None:
        self.url, self.client, self.clock = url, client, clock
        self.ids: dict[str, str] = {}

    def ask(self, example: dict[str, Any]) -> Answer:
        """Our answer to an example's request."""
        method, path = example["request"].split(" ", 1)
        for recorded, ours in self.ids.items():
            path = path.replace(recorded, ours)
        self.set_clock(example["title"])
        who, body = example["as"], example["body"]
        if who == "digest Alice":
            return self.ask_with_digest(method, path)
        headers = {}
        if who.endswith(" bad credentials"):
            headers["Authorization"] = "Basic eDp5"
        if "form encoded" in example["title"]:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = b"etype=Draw"
        if isinstance(body, str):
            body = body.encode()
        if method == "POST" and path == "/api/matches" and example["status"] == 200:
            body = with_seed(body, example["response"])
        answer = self.client.ask(method, path, IDS.get(who), body, headers)
        self.clock.step = timedelta()
        return answer

    def set_clock(self, title: str) -> None:
        """Let the time pass that had passed when the examples were recorded."""
        self.clock.turn(timedelta(milliseconds=20))
        if title == "watchdog admin":
            self.clock.turn(timedelta(seconds=1.3))
        if title == "watchdog repeat=3":
            # The second and the third look find the turn overdue, as they did there.
            self.clock.step = timedelta(seconds=1.02)
            self.clock.turn(-self.clock.step)

    def ask_with_digest(self, method: str, path: str) -> Answer:
        with Session() as session:
            auth = HTTPDigestAuth(ALICE, PASSWORDS[ALICE])
            request = Request(method, self.url + path, auth=auth)
            response = session.send(session.prepare_request(request), timeout=10)
        headers = {name.lower(): [value] for name, value in response.headers.items()}
        return Answer(response.status_code, response.content, headers)

    def learn_id(self, example: dict[str, Any], answer: Answer) -> None:
        """Remember which of our matches stands for a recorded one."""
        recorded = example["headers"].get("X-Result-Id")
        if example["request"] == "POST /api/matches" and example["status"] == 200:
            recorded = json.loads(example["response"])["id"]
        if recorded:
            ours = answer.headers["x-result-id"][0]
            assert _ID.fullmatch(ours)
            self.ids[recorded] = ours

    def expected(self, example: dict[str, Any]) -> str:
        """The recorded body as our arena should say it."""
        text: str = example["response"]
        for recorded, ours in self.ids.items():
            text = text.replace(recorded, ours)
        if not text.startswith(("{", "[")):
            return text
        body = as_shown_to(IDS.get(example["as"]), json.loads(text))
        return normalised(as_text(body), "no id")


def with_seed(body: Any, response: str) -> dict[str, Any]:  # noqa: ANN401 - any recorded body
    """The request that makes the match that the original's own seed made."""
    found = _SEED.search(response)
    wished = dict(body or {})
    return {"randomSeed": found[1], **wished} if found else wished


@pytest.fixture(scope="module")
def conversation(
    opened: Opened, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Conversation]:
    clock = HandClock()
    folder = tmp_path_factory.mktemp("arena")
    with opened(
        folder,
        randomness=Randomness.ORIGINAL,
        clock=clock,
        poll_timeout=timedelta(milliseconds=30),
        watchdog_pause=timedelta(milliseconds=1),
    ) as (arena, client):
        yield Conversation(arena.url, client, clock)


def test_every_example_is_answered_as_recorded(conversation: Conversation) -> None:
    """Equal status, content type and body of all examples, but for the named deviations."""
    examples = recording("arena_examples")
    differences = []
    for example in examples:
        answer = conversation.ask(example)
        conversation.learn_id(example, answer)
        kind = answer.headers.get("content-type", [None])[0]
        text = answer.text.replace('"dbname":"dynamodb"', '"dbname":"memory"')
        ours = [answer.status, kind, normalised(text, "no id")]
        recorded = [example["status"], example["ctype"], conversation.expected(example)]
        if example["title"] in DEVIATIONS:
            assert answer.json().keys() == {"error"}
            ours[2] = recorded[2]
        if ours != recorded:
            differences.append(f"{example['title']}:\n ours {ours}\n theirs {recorded}")
    assert not differences, f"{len(differences)}\n" + "\n".join(differences)[:4000]
    assert len(examples) == 119
    assert {IDS[name] for name in ("Alice", "Bob", "Dummy")} == {ALICE, BOB, DUMMY}


def test_a_stranger_is_asked_for_digest_or_basic(conversation: Conversation) -> None:
    """401 in plain text without a content type; an HTTP API joins the two headers in one."""
    answer = conversation.client.get("/api/whoami", user=None)
    digest, basic = answer.challenges
    assert (answer.status, answer.raw) == (401, b"Unauthorized")
    assert "content-type" not in answer.headers
    assert re.fullmatch(
        r'Digest realm="SLCEE-2023-PC", nonce="[\w-]{32,}={0,2}", qop="auth"', digest
    )
    assert basic == 'Basic realm="SLCEE-2023-PC"'
