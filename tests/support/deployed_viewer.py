"""The viewer's function on a DynamoDB table in an emulator, and the requests that it sends."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import botocore.handlers

import pages.app
from cardsharp.aws import client as aws
from cardsharp.aws import ssm_credentials
from cardsharp.core.clock import SystemClock
from cardsharp.store.dynamodb_match_log import DynamoMatchLog
from cardsharp.store.match_log import Lease, MoveRecord
from cardsharp.store.secret_vault import VAULT_FACTORY
from cardsharp_tools.local_cloud.api_gateway_events import (
    HttpRequest,
    HttpResponse,
    parse_response,
    to_event,
)
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.local_cloud.template_files import create_table
from cardsharp_tools.local_play.handler_environment import override_settings_environment
from support.lambda_events import context
from support.stored_matches import sample_match

TTL = timedelta(minutes=1)
VIEWER_PASSWORD = "correct horse battery"
SECRET = "the seat's own uuid"
NOTE = "a note about a fault"
PARAMETER = "/stack/viewer"

Request = tuple[str, dict[str, Any]]


@dataclass
class DeployedViewer:
    """The viewer's function with a separate table, and the AWS requests of its last invocation."""

    log: DynamoMatchLog
    table: str
    aws_requests: list[Request]
    cookies: dict[str, str] = field(default_factory=dict)

    def request(self, target: str, body: str = "") -> HttpResponse:
        cookie_header = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = (("Cookie", cookie_header),) if cookie_header else ()
        http_request = HttpRequest("POST" if body else "GET", target, headers, body.encode())
        read = self.invoke(to_event(http_request, datetime.now(UTC)))
        for name, value in read.headers:
            if name == "Set-Cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        return read

    def invoke(self, event: dict[str, Any]) -> HttpResponse:
        self.aws_requests.clear()
        return parse_response(pages.app.handler(event, context()))

    def text(self, target: str) -> str:
        answer = self.request(target)
        assert answer.status == 200, target
        return answer.body.decode()

    def play(self, name: str, moves: Sequence[MoveRecord], lease: Lease | None = None) -> Lease:
        """Write the bot's intents and the arena's facts into the log, as a worker does."""
        record, _ = sample_match("deadmansdraw")
        lease = lease or self.log.acquire_lease(name, "a worker", TTL, record.header)
        for move in moves:
            if move.intent is not None:
                self.log.write_intent(lease, move.sequence, move.intent)
            if move.facts is not None:
                self.log.write_facts(lease, {move.sequence: move.facts})
        return lease

    def end(self, lease: Lease) -> None:
        self.log.finish(lease, sample_match("deadmansdraw")[0].outcome or {})


@contextmanager
def deployed_viewer(emulator: Emulator, *, public: bool) -> Iterator[DeployedViewer]:
    sent: list[Request] = []

    def note(params: dict[str, Any], model: Any, **_more: object) -> None:  # noqa: ANN401
        if model.service_model.service_name == "dynamodb":
            sent.append((model.name, dict(params)))

    handler: tuple[str, Any] = ("before-parameter-build", note)
    table = create_table(emulator.client("dynamodb"), "Matches")
    variables = {
        **emulator.environment,
        "CARDSHARP_STORE": f"dynamodb:{table}",
        "CARDSHARP_PUBLIC": "yes" if public else "no",
        "CARDSHARP_SERVICE_SECRET": "" if public else PARAMETER,
    }
    secret = json.dumps({"username": "admin", "password": VIEWER_PASSWORD})
    emulator.client("ssm").put_parameter(
        Name=PARAMETER, Value=secret, Type="SecureString", Overwrite=True
    )
    client = emulator.client("dynamodb")
    with override_settings_environment(variables), ExitStack() as stack:
        log = DynamoMatchLog(table, SystemClock(), client)
        log.add_note("over", "fault", {"text": NOTE})
        VAULT_FACTORY.open_dynamodb_store(table, SystemClock(), client).add("over", {"id": SECRET})
        botocore.handlers.BUILTIN_HANDLERS.append(handler)
        stack.callback(botocore.handlers.BUILTIN_HANDLERS.remove, handler)
        for cached_function in (
            aws.shared_session,
            ssm_credentials.ssm_provider,
            pages.app.pages_handler,
        ):
            cached_function.cache_clear()
            stack.callback(cached_function.cache_clear)
        yield DeployedViewer(log, table, sent)
