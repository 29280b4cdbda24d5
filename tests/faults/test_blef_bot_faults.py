"""Tests of the Blef bot under faults: joining a game, its secret, and the original service.

That no fault at any step harms a game is tested in tests/contract/test_attending.py. The original
service differs from our rules (docs/spec/blef.md): every request is a GET; a missing value is
`{}`; an error is `{"error": …}`; no header gives a version; a player can neither choose a uuid nor
wait. It accepts only the documented parameters, and a repeated one is an error. Its makers have
added keys since, so a state has one more.
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
    with closing(MatchHarness(SimulatedBlefServer, tmp_path)) as harness:
        yield harness


def test_a_seat_joined_meanwhile_by_another_worker_is_played_by_its_uuid(
    tmp_path: Path,
) -> None:
    """Play by the uuid that another worker has stored since this one read the vault.

    A value read before the lease was taken is stale, and joining again would be refused. Without a
    fault the assigned uuid is stored once as well.
    """
    clean = run_harness(MatchHarness(GIVING, tmp_path))
    steps = clean.plan.steps
    assert (clean.observed_violations, steps.count("replace")) == ([], 1)
    joined = steps.index("replace") - steps.index("find")
    bench = MatchHarness(GIVING, tmp_path)
    early = FaultPlan(bench.clock, {joined: FaultKind.CRASH_AFTER})

    def come_between(step: str) -> None:
        if step == "acquire_lease" and not early.steps:
            bench.run_session(bench.match_id, early)
            bench.wait_out_lease(HARSH_TIMING.lease_ttl)

    with closing(bench):
        bench.order_match()
        bench.plan.on_step = come_between
        bench.run_session(bench.match_id)
        assert early.steps[-1] == "replace"
        assert bench.violations() == []


def test_a_game_without_a_seat_for_the_bot_is_closed_for_good(bench: MatchHarness) -> None:
    """It has started without us; the log says why, and nobody offers it any more."""
    place = bench.place
    place.client.join(place.table, "another")
    place.client.post(f"/games/{place.table}/start", {"admin_uuid": place.rival})
    bench.order_match()
    assert bench.run_session(bench.match_id) is SessionResult.UNKNOWN_MATCH
    assert outcome_of(bench)["reason"] == "Game already started"
    assert bench.dispatcher().dispatch_unattended() == 0


def outcome_of(bench: MatchHarness) -> Body:
    """Return the outcome of the game, by the log."""
    return require_match(bench.log, bench.match_id).outcome


def test_the_secret_is_in_the_vault_alone(bench: MatchHarness) -> None:
    """Neither in the match log, nor in what is queued, nor in what an object shows of itself."""
    bench.order_match()
    assert (
        str(SECRET) not in bench.queue.receive_message(timedelta(0)).body + bench.stored_contents()
    )
    assert bench.vault.find(bench.match_id)["player"] == str(SECRET)
    assert str(SECRET) not in repr(find_seat(bench.vault, bench.match_id))
    assert (bench.folder / "log.vault").stat().st_mode & 0o077 == 0


def test_the_secret_is_redacted_from_the_moment_its_seat_is_loaded(tmp_path: Path) -> None:
    """A worker in a new process has never seen the order, and logs nothing of it either.

    Nor of what a service tells in its answer to joining that chooses its players' secrets itself.
    """
    secret, assigned_secret = str(uuid4()), str(uuid4())
    with closing(build_vault(f"sqlite:{tmp_path / 'log'}", VirtualClock())) as vault:
        vault.add(
            "seat", ServiceSeat(SERVICE, "game", "ann", "greedy", SecretStr(secret)).vault_record
        )
        assert redact(f"player_uuid={secret}") == f"player_uuid={secret}", "nobody has looked yet"
        seat = find_seat(vault, "seat")
    assert (seat.secret, seat.with_secret(assigned_secret).secret) == (secret, assigned_secret)
    for value in (secret, assigned_secret):
        assert redact(f"player_uuid={value}") == f"player_uuid={REDACTED}"


# --- at the original ---------------------------------------------------------------------------

OPERATION_PARAMETERS = {
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
        parameters = {k: v for k, v in query if k in OPERATION_PARAMETERS[_operation(request)]}
        plain = requests.Request(
            "GET", parts._replace(query=urlencode(parameters)).geturl()
        ).prepare()
        answer = invoke_handler(self.client.api, plain, self.clock)
        return _answered(answer.status, _worded(json.loads(answer.body)))

    def _shorten(self) -> None:
        """Play it whole."""


def _operation(request: requests.PreparedRequest) -> str:
    last = urlsplit(str(request.url)).path.rpartition("/")[2]
    return last if last in OPERATION_PARAMETERS else "state"


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
    with closing(MatchHarness(OriginalPlace, tmp_path)) as harness:
        yield harness


def test_a_complete_game_is_played_at_the_original_service(original: MatchHarness) -> None:
    """Joined, played from one card each to the end, and closed; each action is sent once."""
    original.run_match()
    assert original.violations() == []
    place, sent = original.place, Counter(original.plan.steps)
    state = place.state()
    assert state["status"] == "Finished"
    assert state["round_number"] >= 11
    assert place.posted == original.workers, "a worker asks once in vain, and then by GET alone"
    assert sent["join"] + sent["act"] == 1 + len(original.gate.accepted) + place.posted


def test_a_game_that_cannot_continue_is_closed_and_can_be_reordered(
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
