"""What is Blef's own in attending a game: joining it, its secret, what the log says, and manners.

That no fault at any step harms a game is in tests/contract/test_attending.py. The manners of the
original service are around our rules (docs/spec/blef.md): everything is a GET; a missing value is
`{}`; an error is `{"error": …}`; no header tells a version; nobody chooses a uuid and nobody waits.
Of its parameters it knows those that are documented, and a repeated one is a fault of its own. Its
makers went on and added keys, so a state has one more.
"""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import uuid4

import pytest
import requests
from fault_simulation.faults import FaultKind, FaultPlan
from fault_simulation.match_harness import HARSH_TIMING, MatchHarness, run_harness
from fault_simulation.transport import invoke_handler
from fault_simulation.virtual_clock import VirtualClock
from pydantic import SecretStr
from support.simulated_blef_server import SECRET, SERVICE, SimulatedBlefServer
from support.store_fixtures import require_match

from cardsharp.bot.bootstrap import build_vault
from cardsharp.bot.service_seats import ServiceSeat, find_seat
from cardsharp.bot.session_result import SessionResult
from cardsharp.core.redaction import REDACTED, redact
from cardsharp.store.match_log import Body
from cardsharp_tools.local_cloud.api_gateway_events import HttpResponse

GIVING = partial(SimulatedBlefServer, allows_chosen_uuid=False)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[MatchHarness]:
    with closing(MatchHarness(SimulatedBlefServer, tmp_path)) as made:
        yield made


def test_a_seat_that_another_worker_has_joined_meanwhile_is_played_by_the_uuid_it_was_given(
    tmp_path: Path,
) -> None:
    """What the vault said before the lease was taken is old; joining again would be refused.

    Also without a fault the given uuid is kept, once.
    """
    clean = run_harness(MatchHarness(GIVING, tmp_path))
    steps = clean.plan.steps
    assert (clean.found, steps.count("replace")) == ([], 1)
    joined = steps.index("replace") - steps.index("find")
    bench = MatchHarness(GIVING, tmp_path)
    early = FaultPlan(bench.clock, {joined: FaultKind.CRASH_AFTER})

    def come_between(step: str) -> None:
        if step == "acquire_lease" and not early.steps:
            bench.run_session(bench.match_id, early)
            bench.wait_out_lease(HARSH_TIMING.lease_ttl)

    with closing(bench):
        bench.order_match()
        bench.plan.before_step = come_between
        bench.run_session(bench.match_id)
        assert early.steps[-1] == "replace"
        assert bench.violations() == []


def test_a_game_without_a_seat_for_us_is_closed_and_not_tried_again(bench: MatchHarness) -> None:
    """It has started without us; the log says why, and nobody offers it any more."""
    place = bench.place
    place.client.join(place.table, "another")
    place.client.post(f"/games/{place.table}/start", {"admin_uuid": place.rival})
    bench.order_match()
    assert bench.run_session(bench.match_id) is SessionResult.UNKNOWN_MATCH
    assert outcome_of(bench)["reason"] == "Game already started"
    assert bench.dispatcher().dispatch_unattended() == 0


def outcome_of(bench: MatchHarness) -> Body:
    """How the game ended, by the log."""
    return require_match(bench.log, bench.match_id).outcome


def test_the_secret_is_in_the_vault_alone(bench: MatchHarness) -> None:
    """Neither in the match log, nor in what is queued, nor in what an object shows of itself."""
    bench.order_match()
    assert str(SECRET) not in bench.queue.receive(timedelta(0)).body + bench.stored_contents()
    assert bench.vault.find(bench.match_id)["player"] == str(SECRET)
    assert str(SECRET) not in repr(find_seat(bench.vault, bench.match_id))
    assert (bench.folder / "log.vault").stat().st_mode & 0o077 == 0


def test_the_secret_is_redacted_from_when_its_seat_is_found(tmp_path: Path) -> None:
    """A worker in a new process has never seen the order, and logs nothing of it either.

    Nor of what a service tells in its answer to joining that chooses its players' secrets itself.
    """
    secret, given = str(uuid4()), str(uuid4())
    with closing(build_vault(f"sqlite:{tmp_path / 'log'}", VirtualClock())) as vault:
        vault.add("seat", ServiceSeat(SERVICE, "game", "ann", "greedy", SecretStr(secret)).to_json)
        assert redact(f"player_uuid={secret}") == f"player_uuid={secret}", "nobody has looked yet"
        seat = find_seat(vault, "seat")
    assert (seat.secret, seat.with_secret(given).secret) == (secret, given)
    for told in (secret, given):
        assert redact(f"player_uuid={told}") == f"player_uuid={REDACTED}"


# --- at the original ---------------------------------------------------------------------------

KNOWN = {
    "join": ("nickname",),
    "start": ("admin_uuid",),
    "play": ("player_uuid", "action_id"),
    "state": ("player_uuid", "round"),
}
"""The parameters of each operation (section 5)."""


@dataclass
class OriginalPlace(SimulatedBlefServer):
    """A game at the original, played whole: each player begins with one card."""

    posted: int = 0
    """How many requests were refused for being no GET."""

    def request_kind(self, request: requests.PreparedRequest) -> str:
        operation = _operation(request)
        return {"join": "join", "play": "act"}.get(operation, "view")

    def handle_request(self, request: requests.PreparedRequest) -> HttpResponse:
        if request.method != "GET":
            self.posted += 1
            return _answered(405, {"error": "405 - Method Not Allowed"})
        parts = urlsplit(str(request.url))
        query = parse_qsl(parts.query)
        if len(dict(query)) < len(query):
            return _answered(500, {"error": "500 - Internal server error"})
        known = {k: v for k, v in query if k in KNOWN[_operation(request)]}
        plain = requests.Request("GET", parts._replace(query=urlencode(known)).geturl()).prepare()
        answer = invoke_handler(self.client.api, plain, self.clock)
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


def _answered(status: int, body: object) -> HttpResponse:
    return HttpResponse(status, (), json.dumps(body).encode())


@pytest.fixture
def original(tmp_path: Path) -> Iterator[MatchHarness]:
    with closing(MatchHarness(OriginalPlace, tmp_path)) as made:
        yield made


def test_a_whole_game_is_played_at_the_original(original: MatchHarness) -> None:
    """Joined, played from one card each to the end, and closed; each action is sent once."""
    original.run_match()
    assert original.violations() == []
    place, sent = original.place, Counter(original.plan.steps)
    state = place.state()
    assert state["status"] == "Finished"
    assert state["round_number"] >= 11
    assert place.posted == original.workers, "a worker asks once in vain, and then by GET alone"
    assert sent["join"] + sent["act"] == 1 + len(original.gate.accepted) + place.posted


def test_a_game_in_which_the_bot_cannot_go_on_is_left_and_may_be_ordered_again(
    original: MatchHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service says 404 in its own words, and goes on saying so."""
    gone = _answered(404, {"error": "404 - Resource Not Found"})
    with monkeypatch.context() as patch:
        patch.setattr(original.place, "handle_request", lambda _request: gone)
        original.run_match()
    assert outcome_of(original)["reason"] == "404 - Resource Not Found"
    assert original.log.running_matches() == []
    original.run_match()
    assert outcome_of(original)["result"] in {"won", "lost"}
