"""All recorded conversations with the original agree, but for the decisions that are listed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from support.blef import Reply, without_nothings
from support.blef_recording import ALICE, Recording
from support.recorded import recording, table

from workbench.cloud.http_events import WireRequest

BOTH_KEYS = ("/make-public", "/make-private", "/play")
"""Where the original's documentation says `message` and its code `error`, we send both.

The state is the other such path.
"""


@dataclass(frozen=True)
class Decision:
    """Where we answer otherwise on purpose: which cases, what instead, and why."""

    cases: Sequence[str]
    status: int
    reason: str
    error: str | None = None

    def agrees(self, reply: Reply) -> bool:
        return reply.status == self.status and (
            self.error is None or reply.json["error"] == self.error
        )


DECISIONS = [Decision(**one) for one in table("blef_decisions")["decision"]]


def expected(pair: dict[str, Any]) -> Any:  # noqa: ANN401 - whatever JSON it was
    """The recorded body, with null for its empty objects and with both keys of an error."""
    body = without_nothings(pair["body"])
    path = pair["request"]["target"].partition("?")[0]
    is_state = path.startswith("/v2/games/") and path.count("/") == 3
    doubled = path.endswith(BOTH_KEYS) or (is_state and pair["status"] == 400)
    if isinstance(body, dict) and "error" in body and doubled:
        return {**body, "message": body["error"]}
    return body


def agrees(pair: dict[str, Any], reply: Reply) -> bool:
    """Whether status, type and body are as recorded, the order of keys too.

    Of Allow only that it is there: the original sends it empty, ours names the methods.
    """
    headers = {name.lower() for name in reply.headers}
    if reply.status != pair["status"] or ("allow" in headers) is not ("allow" in pair["headers"]):
        return False
    if reply.headers["Content-Type"] != pair["headers"]["content-type"]:
        return False
    # API Gateway and the local front leave a HEAD's body away.
    is_head = pair["request"]["method"] == "HEAD"
    return is_head or json.dumps(reply.json) == json.dumps(expected(pair))


def ask(recording: Recording, pair: dict[str, Any]) -> Reply:
    """The reply to a recorded request; what only we carry out does not disturb the others."""
    if pair["case"] in {"method.create.POST", "method.join.POST"}:
        elsewhere = Recording(recording.pairs)
        elsewhere.create(ALICE)
        return elsewhere.ask(pair)
    return recording.ask(pair)


def test_every_recorded_pair_agrees_or_is_a_listed_decision() -> None:
    pairs = recording("blef_requests")
    assert len(pairs) == 220
    service = Recording(pairs)
    decided = {case: decision for decision in DECISIONS for case in decision.cases}
    wrong, needed = [], set()
    for pair in pairs:
        case = pair["case"]
        reply = ask(service, pair)
        if case in decided and not agrees(pair, reply):
            needed.add(case)
            right = decided[case].agrees(reply)
        else:
            right = agrees(pair, reply)
        if case == "state.uppercase.game_uuid":
            target = pair["request"]["target"].lower()
            right &= reply.json == service.client.send(WireRequest("GET", target)).json
        if not right:
            wrong.append((pair["n"], case, pair["status"], pair["body"], reply.status, reply.text))
        if case == "state.oddnicks":
            kept = [p["nickname"] for p in reply.json["players"]]
            assert kept == ["a", "A", "a_1", "aé", "NULL", "a\u0661"]
            service.full_house()
    assert wrong == []
    assert needed == set(decided), "a decision that nothing needs is none"
