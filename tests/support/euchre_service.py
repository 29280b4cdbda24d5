"""Euchre service in this process: its requests, its responses and its log."""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import requests
from fault_simulation.faults import Crash
from fault_simulation.transport import invoke_handler, to_urllib3_response
from requests.adapters import HTTPAdapter

from cardsharp.core.clock import SystemClock
from cardsharp.games.euchre.actions import Action
from cardsharp.games.euchre.position import EuchrePosition
from cardsharp.games.euchre.service.deal_store import DealStore
from cardsharp.games.euchre.service.routes import API
from cardsharp.games.euchre.service.service import EuchreService
from cardsharp.games.euchre.strategies import EuchreDecision, Strategy, build
from cardsharp.server.api_application import build_application
from cardsharp.server.lambda_adapter import lambda_handler_for_asgi
from cardsharp.store.sqlite_documents import SqliteDocumentStore
from cardsharp.store.sqlite_file import MEMORY_PATH
from cardsharp_tools.games.euchre.remote_player import RemotePlayerClient
from cardsharp_tools.local_cloud.api_gateway_events import HttpRequest, to_event
from cardsharp_tools.local_cloud.lambda_events import API_REQUEST_TIMEOUT, LocalLambdaContext

Json = dict[str, Any]


class RecordingLog:
    """Log that stores all entries."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, Json]] = []

    def info(self, message: str, *, extra: Json) -> None:
        self.entries.append((message, extra))

    warning = info

    @property
    def decisions(self) -> list[Json]:
        """Log entries about decisions."""
        return [entry for message, entry in self.entries if message == "decision"]

    @property
    def strategy_failures(self) -> list[str]:
        """The reasons why a strategy was not used, or why its answer was not accepted."""
        return [entry["fault"] for entry in self.decisions if "fault" in entry]

    @property
    def other_errors(self) -> list[str]:
        """Other errors in the log, with their causes."""
        return [
            f"{message}: {entry['cause']}" for message, entry in self.entries if "cause" in entry
        ]


class RecordingStrategy:
    """Strategy that decides by its `answer` function and records its positions."""

    def __init__(self) -> None:
        self.answer: Callable[[EuchrePosition], Action] = lambda position: position.legal_actions[0]
        self.positions: list[EuchrePosition] = []

    def decide(self, position: EuchrePosition) -> EuchreDecision:
        self.positions.append(position)
        return EuchreDecision(self.answer(position), "Told so.")


def memory_store() -> DealStore:
    return DealStore(SqliteDocumentStore(MEMORY_PATH, SystemClock()), SystemClock())


class EuchreServiceHarness:
    """Service with a store, called like the HTTP API's function."""

    def __init__(self, strategy: Strategy | str = "rules", store: DealStore | None = None) -> None:
        self.log = RecordingLog()
        self.store = store or memory_store()
        self.strategy = build(strategy) if isinstance(strategy, str) else strategy
        self.restart()

    def restart(self) -> None:
        """Start the service again; only the store survives."""
        clock = SystemClock()
        service = EuchreService(self.store, self.strategy, clock, self.log)
        self.api = lambda_handler_for_asgi(build_application((API,), service))

    def handle_event(self, event: Json) -> Json:
        """Return the response to an event."""
        return self.api(event, LocalLambdaContext("euchre", API_REQUEST_TIMEOUT, SystemClock()))

    def call(self, method: str, target: str, body: Json | str | None = None) -> tuple[int, Json]:
        """Send a request; return status and body of the response."""
        text = json.dumps(body) if isinstance(body, dict) else body or ""
        request_body = text.encode(errors="surrogatepass")
        request = HttpRequest(method, target, (("content-type", "application/json"),), request_body)
        response = self.handle_event(to_event(request, SystemClock().now()))
        return response["statusCode"], json.loads(response["body"])

    def call_ok(self, method: str, target: str, body: Json | str | None = None) -> Json:
        """Send a request that must succeed, and return the body of the response."""
        status, response_body = self.call(method, target, body)
        assert status == 200, response_body
        return response_body


# Seat 0 holds clubs, 1 diamonds, 2 hearts, 3 spades, each without the ace; the ace of spades is
# turned up.
CARDS = [
    *(0, 4, 8, 12, 16),
    *(1, 5, 9, 13, 17),
    *(2, 6, 10, 14, 18),
    *(3, 7, 11, 15, 19),
    *(23, 20, 21, 22),
]
TURN_CARD = 23
TOKEN = "7f0e"


class DealMessages:
    """Sender of the messages of a deal to a service."""

    def __init__(self, service: EuchreServiceHarness, token: str = TOKEN, deal: int = 0) -> None:
        self.service = service
        self.address: Json = {"token": token, "gameNum": 0, "dealNum": deal}

    def begin(self, cards: list[int] = CARDS) -> Json:
        return self._post("/deal", cards=cards, status="new")

    def request_bid(self, round_number: int, pos: int) -> Json:
        return self.get("/bid", round=round_number, turnCard=TURN_CARD, pos=pos)

    def send_bid(self, round_number: int, pos: int, suit: int, *, alone: bool = False) -> Json:
        bid = {"suit": suit, "alone": alone}
        return self._post("/bid", round=round_number, turnCard=TURN_CARD, pos=pos, **bid)

    def request_swap(self, declarer: int, cards: list[int]) -> Json:
        deal = {"declarerPos": declarer, "turnCard": TURN_CARD}
        return self.get("/swap", **deal, pos=3, swappableCards=cards)

    def send_swap(self, declarer: int, card: int) -> Json:
        return self._post("/swap", declarerPos=declarer, turnCard=TURN_CARD, pos=3, card=card)

    def request_play(self, trick: int, seq: int, pos: int, cards: list[int]) -> Json:
        return self.get("/play", trickNum=trick, trickSeq=seq, pos=pos, playableCards=cards)

    def send_play(self, trick: int, seq: int, pos: int, card: int) -> Json:
        return self._post("/play", trickNum=trick, trickSeq=seq, pos=pos, card=card)

    def get(self, path: str, **query: int | list[int]) -> Json:
        """Send a GET request and return the body; a list repeats its key, as the client does."""
        query_string = urlencode({**self.address, **query}, doseq=True)
        return self.service.call_ok("GET", f"{path}?{query_string}")

    def _post(self, path: str, **fields: object) -> Json:
        return self.service.call_ok("POST", path, {**self.address, **fields})


SERVICE_URL = "http://service"


class RestartingAdapter(HTTPAdapter):
    """Adapter that restarts a service that died, and repeats the request.

    `restart_count` counts that. The client's requests become events for the handler, without
    a port.
    """

    def __init__(self, service: EuchreServiceHarness) -> None:
        super().__init__()
        self.service = service
        self.restart_count = 0
        self.on_request: Callable[[requests.PreparedRequest], None] = lambda _: None

    def send(
        self, request: requests.PreparedRequest, *_: object, **__: object
    ) -> requests.Response:
        self.on_request(request)
        try:
            response = invoke_handler(self.service.api, request, SystemClock())
        except Crash:
            self.restart_count += 1
            self.service.restart()
            response = invoke_handler(self.service.api, request, SystemClock())
        return self.build_response(request, to_urllib3_response(response))


def in_process_player(
    service: EuchreServiceHarness, token: str = TOKEN
) -> tuple[RemotePlayerClient, RestartingAdapter]:
    """Return a player that calls the service as the real client does, and its adapter."""
    player, adapter = RemotePlayerClient(SERVICE_URL), RestartingAdapter(service)
    player.token = token
    player._http.mount(SERVICE_URL, adapter)
    return player, adapter
