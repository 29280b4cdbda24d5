"""The Euchre service in this process: its requests, its answers and its log."""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import requests
from fault_simulation.faults import Crash
from fault_simulation.transport import invoke_handler, response_of
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
    """A log that stores all entries."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, Json]] = []

    def info(self, message: str, *, extra: Json) -> None:
        self.entries.append((message, extra))

    warning = info

    @property
    def decisions(self) -> list[Json]:
        """The log entries about decisions."""
        return [entry for message, entry in self.entries if message == "decision"]

    @property
    def strategy_failures(self) -> list[str]:
        """The reasons for which a strategy was not used, or its answer not accepted."""
        return [entry["fault"] for entry in self.decisions if "fault" in entry]

    @property
    def other_errors(self) -> list[str]:
        """The other errors in the log, with their causes."""
        return [
            f"{message}: {entry['cause']}" for message, entry in self.entries if "cause" in entry
        ]


class RecordingStrategy:
    """Does what it is told and keeps the positions that it was shown."""

    def __init__(self) -> None:
        self.answer: Callable[[EuchrePosition], Action] = lambda position: position.legal_actions[0]
        self.positions: list[EuchrePosition] = []

    def decide(self, position: EuchrePosition) -> EuchreDecision:
        self.positions.append(position)
        return EuchreDecision(self.answer(position), "Told so.")


def memory_store() -> DealStore:
    return DealStore(SqliteDocumentStore(MEMORY_PATH, SystemClock()), SystemClock())


class EuchreServiceHarness:
    """A service over a store, called like the HTTP API's function."""

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

    def answer(self, event: Json) -> Json:
        """The answer to an event."""
        return self.api(event, LocalLambdaContext("euchre", API_REQUEST_TIMEOUT, SystemClock()))

    def call(self, method: str, target: str, body: Json | str | None = None) -> tuple[int, Json]:
        """Status and body of the answer."""
        text = json.dumps(body) if isinstance(body, dict) else body or ""
        sent = text.encode(errors="surrogatepass")
        request = HttpRequest(method, target, (("content-type", "application/json"),), sent)
        answer = self.answer(to_event(request, SystemClock().now()))
        return answer["statusCode"], json.loads(answer["body"])

    def call_ok(self, method: str, target: str, body: Json | str | None = None) -> Json:
        """The body of an answer that must be a good one."""
        status, answer = self.call(method, target, body)
        assert status == 200, answer
        return answer


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
    """Sends the messages of one deal to a service."""

    def __init__(self, service: EuchreServiceHarness, token: str = TOKEN, deal: int = 0) -> None:
        self.service = service
        self.address: Json = {"token": token, "gameNum": 0, "dealNum": deal}

    def begin(self, cards: list[int] = CARDS) -> Json:
        return self._tell("/deal", cards=cards, status="new")

    def request_bid(self, round_number: int, pos: int) -> Json:
        return self.get("/bid", round=round_number, turnCard=TURN_CARD, pos=pos)

    def send_bid(self, round_number: int, pos: int, suit: int, *, alone: bool = False) -> Json:
        bid = {"suit": suit, "alone": alone}
        return self._tell("/bid", round=round_number, turnCard=TURN_CARD, pos=pos, **bid)

    def request_swap(self, declarer: int, cards: list[int]) -> Json:
        deal = {"declarerPos": declarer, "turnCard": TURN_CARD}
        return self.get("/swap", **deal, pos=3, swappableCards=cards)

    def send_swap(self, declarer: int, card: int) -> Json:
        return self._tell("/swap", declarerPos=declarer, turnCard=TURN_CARD, pos=3, card=card)

    def request_play(self, trick: int, seq: int, pos: int, cards: list[int]) -> Json:
        return self.get("/play", trickNum=trick, trickSeq=seq, pos=pos, playableCards=cards)

    def send_play(self, trick: int, seq: int, pos: int, card: int) -> Json:
        return self._tell("/play", trickNum=trick, trickSeq=seq, pos=pos, card=card)

    def get(self, path: str, **query: int | list[int]) -> Json:
        """The answer to a question; lists repeat their key, as the client sends them."""
        query_string = urlencode({**self.address, **query}, doseq=True)
        return self.service.call_ok("GET", f"{path}?{query_string}")

    def _tell(self, path: str, **fields: object) -> Json:
        return self.service.call_ok("POST", path, {**self.address, **fields})


BASE = "http://service"


class RestartingAdapter(HTTPAdapter):
    """Starts a service again that died, and asks it the same once more; `deaths` counts.

    The requests of the client become events for the handler: no port, no thread.
    """

    def __init__(self, service: EuchreServiceHarness) -> None:
        super().__init__()
        self.service = service
        self.restarts = 0
        self.watch: Callable[[requests.PreparedRequest], None] = lambda _: None

    def send(
        self, request: requests.PreparedRequest, *_: object, **__: object
    ) -> requests.Response:
        self.watch(request)
        try:
            answer = invoke_handler(self.service.api, request, SystemClock())
        except Crash:
            self.restarts += 1
            self.service.restart()
            answer = invoke_handler(self.service.api, request, SystemClock())
        return self.build_response(request, response_of(answer))


def in_process_player(
    service: EuchreServiceHarness, token: str = TOKEN
) -> tuple[RemotePlayerClient, RestartingAdapter]:
    """A player that calls the service as the real client does, and what it calls through."""
    player, adapter = RemotePlayerClient(BASE), RestartingAdapter(service)
    player.token = token
    player._http.mount(BASE, adapter)
    return player, adapter
