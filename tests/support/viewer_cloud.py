"""The viewer's function on a table of an emulator's cloud, and what it asks for there."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import botocore.handlers

import viewer.app
from cardsharp.cloud import aws, secrets
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.dynamodb import DynamoLog
from cardsharp.cloud.ports import Lease, MoveRecord
from cardsharp.cloud.vault import VAULTS
from support.bot_events import context
from support.stored import any_match
from workbench.cloud.emulator import Emulator
from workbench.cloud.http_events import Answered, WireRequest, http_event, read_answer
from workbench.cloud.template import create_table
from workbench.stage.surroundings import environment

TTL = timedelta(minutes=1)
WORD = "correct horse battery"
SECRET = "the seat's own uuid"
NOTE = "a note about a fault"
PARAMETER = "/stack/viewer"

Request = tuple[str, dict[str, Any]]


@dataclass
class Deployed:
    """The function on a table of its own, and the requests that it has sent there."""

    log: DynamoLog
    table: str
    sent: list[Request]
    cookies: dict[str, str] = field(default_factory=dict)

    def ask(self, target: str, body: str = "") -> Answered:
        held = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = (("Cookie", held),) if held else ()
        asked = WireRequest("POST" if body else "GET", target, headers, body.encode())
        read = self.invoke(http_event(asked, datetime.now(UTC)))
        for name, value in read.headers:
            if name == "Set-Cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        return read

    def invoke(self, event: dict[str, Any]) -> Answered:
        self.sent.clear()
        return read_answer(viewer.app.handler(event, context()))

    def text(self, target: str) -> str:
        answer = self.ask(target)
        assert answer.status == 200, target
        return answer.body.decode()

    def play(self, name: str, moves: Sequence[MoveRecord], lease: Lease | None = None) -> Lease:
        """Have our intents and the arena's facts in the log, as a worker writes them."""
        record, _ = any_match("deadmansdraw")
        lease = lease or self.log.take(name, "a worker", TTL, record.header)
        for move in moves:
            if move.intent is not None:
                self.log.intend(lease, move.sequence, move.intent)
            if move.facts is not None:
                self.log.record(lease, {move.sequence: move.facts})
        return lease

    def end(self, lease: Lease) -> None:
        self.log.finish(lease, any_match("deadmansdraw")[0].outcome or {})


@contextmanager
def deployed(emulator: Emulator, *, public: bool) -> Iterator[Deployed]:
    sent: list[Request] = []

    def note(params: dict[str, Any], model: Any, **_more: object) -> None:  # noqa: ANN401
        if model.service_model.service_name == "dynamodb":
            sent.append((model.name, dict(params)))

    handler: tuple[str, Any] = ("before-parameter-build", note)
    table = create_table(emulator.client("dynamodb"), "Matches")
    told = {
        **emulator.environment,
        "CARDSHARP_STORE": f"dynamodb:{table}",
        "CARDSHARP_PUBLIC": "yes" if public else "no",
        "CARDSHARP_SERVICE_SECRET": "" if public else PARAMETER,
    }
    secret = json.dumps({"username": "admin", "password": WORD})
    emulator.client("ssm").put_parameter(
        Name=PARAMETER, Value=secret, Type="SecureString", Overwrite=True
    )
    client = emulator.client("dynamodb")
    with environment(told), ExitStack() as stack:
        log = DynamoLog(table, SystemClock(), client)
        log.note("over", "fault", {"text": NOTE})
        VAULTS.in_table(table, SystemClock(), client).add("over", {"id": SECRET})
        botocore.handlers.BUILTIN_HANDLERS.append(handler)
        stack.callback(botocore.handlers.BUILTIN_HANDLERS.remove, handler)
        for one in (aws.session, secrets.provider, viewer.app.pages):
            one.cache_clear()
            stack.callback(one.cache_clear)
        yield Deployed(log, table, sent)
