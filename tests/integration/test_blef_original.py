"""Our bot at the original service, whose manners are around our rules (docs/spec/blef.md).

Everything is a GET; a missing value is `{}`; an error is `{"error": …}`; no header tells a version;
nobody chooses a uuid and nobody waits. Of its parameters it knows those that are documented, and a
repeated one is a fault of its own. Its makers went on and added keys, so a state has one more.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
import requests
from support.blef_bot import BlefPlace
from world.bench import Bench
from world.network import asked_of

from cardsharp.cloud.ports import Status
from workbench.cloud.http_events import Answered

KNOWN = {
    "join": ("nickname",),
    "start": ("admin_uuid",),
    "play": ("player_uuid", "action_id"),
    "state": ("player_uuid", "round"),
}
"""The parameters of each operation (section 5)."""

_JSON = (("Content-Type", "application/json"),)


@dataclass
class OriginalPlace(BlefPlace):
    """A game at the original, played whole: each player begins with one card."""

    posted: int = 0
    """How many requests were refused for being no GET."""

    def step_of(self, request: requests.PreparedRequest) -> str:
        operation = _operation(request)
        return {"join": "join", "play": "act"}.get(operation, "view")

    def ask(self, request: requests.PreparedRequest) -> Answered:
        if request.method != "GET":
            self.posted += 1
            return _answered(405, {"error": "405 - Method Not Allowed"}, (("Allow", ""),))
        parts = urlsplit(str(request.url))
        query = parse_qsl(parts.query)
        if len(dict(query)) < len(query):
            return _answered(500, {"error": "500 - Internal server error"})
        known = {k: v for k, v in query if k in KNOWN[_operation(request)]}
        plain = requests.Request("GET", parts._replace(query=urlencode(known)).geturl()).prepare()
        answer = asked_of(self.client.api, plain, self.clock)
        return _answered(answer.status, _worded(json.loads(answer.body)))

    def _shorten(self) -> None:
        """Play it whole."""


def _operation(request: requests.PreparedRequest) -> str:
    last = urlsplit(str(request.url)).path.rpartition("/")[2]
    return last if last in KNOWN else "state"


def _worded(body: Any) -> Any:  # noqa: ANN401 - JSON
    """Our answer in the original's words."""
    if "error" in body:
        return {"error": body["error"]}
    if "history" not in body:
        return body
    return {name: {} if value is None else value for name, value in body.items()} | {"room": 42}


def _answered(status: int, body: object, more: tuple[tuple[str, str], ...] = ()) -> Answered:
    return Answered(status, (*_JSON, *more), json.dumps(body).encode())


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(OriginalPlace, tmp_path)
    yield made
    made.close()


def place_of(bench: Bench) -> OriginalPlace:
    assert isinstance(bench.place, OriginalPlace)
    return bench.place


def test_a_whole_game_is_played_at_the_original(bench: Bench) -> None:
    """Joined, played from one card each to the end, and closed; each action is sent once."""
    bench.play()
    assert bench.faults_found() == []
    place, sent = place_of(bench), Counter(bench.plan.steps)
    state = place.state()
    assert state["status"] == "Finished"
    assert state["round_number"] >= 11
    assert place.posted == bench.workers, "a worker asks once in vain, and then by GET alone"
    assert sent["join"] + sent["act"] == 1 + len(bench.gate.accepted) + place.posted


def test_a_game_in_which_the_bot_cannot_go_on_is_left_and_may_be_ordered_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service says 404 in its own words, and goes on saying so."""

    def gone(_request: object) -> Answered:
        return Answered(404, (), b'{"error": "404 - Resource Not Found"}')

    with monkeypatch.context() as patch:
        patch.setattr(place_of(bench), "ask", gone)
        bench.play()
    record = bench.log.match(bench.match_id)
    assert record is not None
    assert record.outcome is not None
    assert (record.status, record.outcome["reason"]) == (
        Status.FINISHED,
        "404 - Resource Not Found",
    )
    assert bench.log.running() == []
    bench.play()
    again = bench.log.match(bench.match_id)
    assert again is not None
    assert again.outcome is not None
    assert again.outcome["result"] in {"won", "lost"}
