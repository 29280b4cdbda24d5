"""Function of the viewer on a DynamoDB table in an emulator, and its requests to AWS."""

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
from support.lambda_events import invocation_context
from support.stored_matches import sample_match

TTL = timedelta(minutes=1)
VIEWER_PASSWORD = "correct horse battery"
SEAT_SECRET = "the seat's own uuid"
NOTE_TEXT = "a note about a fault"
PARAMETER = "/stack/viewer"

Request = tuple[str, dict[str, Any]]


@dataclass
class DeployedViewer:
    """Function of the viewer with a separate table, and the requests of its last invocation."""

    log: DynamoMatchLog
    table_name: str
    aws_requests: list[Request]
    cookies: dict[str, str] = field(default_factory=dict)

    def request(self, target: str, body: str = "") -> HttpResponse:
        cookie_header = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = (("Cookie", cookie_header),) if cookie_header else ()
        http_request = HttpRequest("POST" if body else "GET", target, headers, body.encode())
        response = self.invoke(to_event(http_request, datetime.now(UTC)))
        for name, value in response.headers:
            if name == "Set-Cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        return response

    def invoke(self, event: dict[str, Any]) -> HttpResponse:
        self.aws_requests.clear()
        return parse_response(pages.app.handler(event, invocation_context()))

    def text(self, target: str) -> str:
        response = self.request(target)
        assert response.status == 200, target
        return response.body.decode()

    def log_moves(
        self, name: str, moves: Sequence[MoveRecord], lease: Lease | None = None
    ) -> Lease:
        """Write the bot's intents and the arena's facts into the log, as a worker does."""
        record, _ = sample_match("deadmansdraw")
        lease = lease or self.log.acquire_lease(name, "a worker", TTL, record.header)
        for move in moves:
            if move.intent is not None:
                self.log.write_intent(lease, move.sequence, move.intent)
            if move.facts is not None:
                self.log.write_facts(lease, {move.sequence: move.facts})
        return lease

    def finish_match(self, lease: Lease) -> None:
        self.log.finish(lease, sample_match("deadmansdraw")[0].outcome or {})


@contextmanager
def deployed_viewer(emulator: Emulator, *, public: bool) -> Iterator[DeployedViewer]:
    aws_requests: list[Request] = []

    def record_request(params: dict[str, Any], model: Any, **_more: object) -> None:  # noqa: ANN401
        if model.service_model.service_name == "dynamodb":
            aws_requests.append((model.name, dict(params)))

    handler: tuple[str, Any] = ("before-parameter-build", record_request)
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
        log.add_note("over", "fault", {"text": NOTE_TEXT})
        VAULT_FACTORY.open_dynamodb_store(table, SystemClock(), client).add(
            "over", {"id": SEAT_SECRET}
        )
        botocore.handlers.BUILTIN_HANDLERS.append(handler)
        stack.callback(botocore.handlers.BUILTIN_HANDLERS.remove, handler)
        for cached_function in (
            aws.shared_session,
            ssm_credentials.ssm_provider,
            pages.app.pages_handler,
        ):
            cached_function.cache_clear()
            stack.callback(cached_function.cache_clear)
        yield DeployedViewer(log, table, aws_requests)
