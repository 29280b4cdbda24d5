"""Tests of the Blef bot under faults: joining a game, its secret, and the original service.

A test in tests/contract checks that no fault at any step harms a game. The original
service differs from our rules (docs/spec/blef.md): every request is a GET; a missing
value is `{}`; an error is `{"error": …}`; no header gives a version; a player can neither
choose a uuid nor wait. It accepts only the documented parameters, and a repeated one is
an error. Later versions of it have one more key in a state.
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
from support.simulated_blef_server import BOT_SECRET_UUID, SERVICE_URL, SimulatedBlefServer
from support.store_fixtures import require_match

from cardsharp.bot.bootstrap import build_vault
from cardsharp.bot.service_seats import ServiceSeat, find_seat
from cardsharp.bot.session_result import SessionResult
from cardsharp.core.redaction import REDACTED, redact
from cardsharp.store.match_log import Body
from cardsharp_tools.local_cloud.api_gateway_events import HttpResponse

UUID_ASSIGNING_SERVER = partial(SimulatedBlefServer, allows_chosen_uuid=False)


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[MatchHarness]:
    with closing(MatchHarness(SimulatedBlefServer, tmp_path)) as harness:
        yield harness


def test_a_seat_joined_meanwhile_by_another_worker_is_played_by_its_uuid(
    tmp_path: Path,
) -> None:
    """A worker plays by the uuid that another worker stored after this one read the vault.

    A value that is read without the lease is stale, and joining again would be refused.
    Without a fault the assigned uuid is stored once as well.
    """
    faultless_harness = run_harness(MatchHarness(UUID_ASSIGNING_SERVER, tmp_path))
    steps = faultless_harness.plan.steps
    assert (faultless_harness.observed_violations, steps.count("replace")) == ([], 1)
    join_step = steps.index("replace") - steps.index("find")
    harness = MatchHarness(UUID_ASSIGNING_SERVER, tmp_path)
    first_worker_plan = FaultPlan(harness.clock, {join_step: FaultKind.CRASH_AFTER})

    def run_first_worker(step: str) -> None:
        if step == "acquire_lease" and not first_worker_plan.steps:
            harness.run_session(harness.match_id, first_worker_plan)
            harness.wait_out_lease(HARSH_TIMING.lease_ttl)

    with closing(harness):
        harness.order_match()
        harness.plan.on_step = run_first_worker
        harness.run_session(harness.match_id)
        assert first_worker_plan.steps[-1] == "replace"
        assert harness.violations() == []


def test_a_game_without_a_seat_for_the_bot_is_closed_for_good(harness: MatchHarness) -> None:
    """A game that started without us is closed with its reason, and is not dispatched again."""
    server = harness.server
    server.client.join(server.game_id, "another")
    server.client.post(f"/games/{server.game_id}/start", {"admin_uuid": server.rival_secret})
    harness.order_match()
    assert harness.run_session(harness.match_id) is SessionResult.UNKNOWN_MATCH
    assert logged_outcome(harness)["reason"] == "Game already started"
    assert harness.dispatcher().dispatch_unattended() == 0


def logged_outcome(harness: MatchHarness) -> Body:
    """Return the outcome of the game in the log."""
    return require_match(harness.log, harness.match_id).outcome


def test_the_secret_is_in_the_vault_alone(harness: MatchHarness) -> None:
    """The secret is neither in the match log nor in a message nor in a repr."""
    harness.order_match()
    assert (
        str(BOT_SECRET_UUID)
        not in harness.queue.receive_message(timedelta(0)).body + harness.stored_contents()
    )
    assert harness.vault.find(harness.match_id)["player"] == str(BOT_SECRET_UUID)
    assert str(BOT_SECRET_UUID) not in repr(find_seat(harness.vault, harness.match_id))
    assert (harness.folder / "log.vault").stat().st_mode & 0o077 == 0


def test_the_secret_is_redacted_from_the_moment_its_seat_is_loaded(tmp_path: Path) -> None:
    """A worker in a new process redacts the secret of its seat, although it ordered nothing.

    The secret that a service assigns in its response to joining is redacted as well.
    """
    secret, assigned_secret = str(uuid4()), str(uuid4())
    with closing(build_vault(f"sqlite:{tmp_path / 'log'}", VirtualClock())) as vault:
        vault.add(
            "seat",
            ServiceSeat(SERVICE_URL, "game", "ann", "greedy", SecretStr(secret)).vault_record,
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
class OriginalBlefServer(SimulatedBlefServer):
    """Game at the original service, played to its end: each player begins with one card."""

    refused_post_count: int = 0
    """How many requests were refused for being no GET."""

    def request_kind(self, request: requests.PreparedRequest) -> str:
        operation = _operation(request)
        return {"join": "join", "play": "act"}.get(operation, "view")

    def handle_request(self, request: requests.PreparedRequest) -> HttpResponse:
        if request.method != "GET":
            self.refused_post_count += 1
            return _json_response(405, {"error": "405 - Method Not Allowed"})
        parts = urlsplit(str(request.url))
        query = parse_qsl(parts.query)
        if len(dict(query)) < len(query):
            return _json_response(500, {"error": "500 - Internal server error"})
        parameters = {k: v for k, v in query if k in OPERATION_PARAMETERS[_operation(request)]}
        plain_request = requests.Request(
            "GET", parts._replace(query=urlencode(parameters)).geturl()
        ).prepare()
        response = invoke_handler(self.client.api, plain_request, self.clock)
        return _json_response(response.status, _original_body(json.loads(response.body)))

    def _shorten_game(self) -> None:
        """Do nothing, so that the full game is played."""


def _operation(request: requests.PreparedRequest) -> str:
    last = urlsplit(str(request.url)).path.rpartition("/")[2]
    return last if last in OPERATION_PARAMETERS else "state"


def _original_body(body: Any) -> Any:  # noqa: ANN401 - JSON
    """Return our response body as the original would send it."""
    if "error" in body:
        return {"error": body["error"]}
    if "history" not in body:
        return body
    return {name: {} if value is None else value for name, value in body.items()} | {"room": 42}


def _json_response(status: int, body: object) -> HttpResponse:
    return HttpResponse(status, (), json.dumps(body).encode())


@pytest.fixture
def original_harness(tmp_path: Path) -> Iterator[MatchHarness]:
    with closing(MatchHarness(OriginalBlefServer, tmp_path)) as harness:
        yield harness


def test_a_complete_game_is_played_at_the_original_service(original_harness: MatchHarness) -> None:
    """The bot joins, plays from one card each to the end, and sends each action once."""
    original_harness.run_match()
    assert original_harness.violations() == []
    server, step_counts = original_harness.server, Counter(original_harness.plan.steps)
    state = server.state()
    assert state["status"] == "Finished"
    assert state["round_number"] >= 11
    assert server.refused_post_count == original_harness.worker_count, (
        "a worker asks once in vain, and then by GET alone"
    )
    assert (
        step_counts["join"] + step_counts["act"]
        == 1 + len(original_harness.proxy.accepted) + server.refused_post_count
    )


def test_a_game_that_cannot_continue_is_closed_and_can_be_reordered(
    original_harness: MatchHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A game for which the service keeps responding 404 is closed; a new order plays it."""
    error_404_response = _json_response(404, {"error": "404 - Resource Not Found"})
    with monkeypatch.context() as patch:
        patch.setattr(
            original_harness.server, "handle_request", lambda _request: error_404_response
        )
        original_harness.run_match()
    assert logged_outcome(original_harness)["reason"] == "404 - Resource Not Found"
    assert original_harness.log.running_matches() == []
    original_harness.run_match()
    assert logged_outcome(original_harness)["result"] in {"won", "lost"}
