"""The Euchre service in this process: events in, answers out, and what it wrote down."""

import json
from dataclasses import dataclass, field
from typing import Any

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.deciding import Decided
from cardsharp.euchre.asks import Ask
from cardsharp.euchre.journal import Journal
from cardsharp.euchre.position import Position
from cardsharp.euchre.records import DealKey
from cardsharp.euchre.routes import API
from cardsharp.euchre.service import EuchreService
from cardsharp.euchre.store import Deals
from cardsharp.euchre.strategies import Decision, Strategy, build
from cardsharp.keep.sqlite import SqliteKeep
from cardsharp.web import edge
from workbench.cloud.context import LambdaContext
from workbench.cloud.http_front import HttpFront
from workbench.stage.serving import TIMEOUT, front

Json = dict[str, Any]


@dataclass
class Diary(Journal):
    """A journal that keeps everything."""

    decisions: list[tuple[DealKey, Ask, Position | None, Decided[Decision]]] = field(
        default_factory=list
    )
    troubles: list[str] = field(default_factory=list)

    def decided(
        self, key: DealKey, ask: Ask, view: Position | None, decided: Decided[Decision]
    ) -> None:
        self.decisions.append((key, ask, view, decided))

    def troubled(self, key: DealKey, what: str, cause: Exception) -> None:
        self.troubles.append(f"{key.deal}: {what}: {cause}")

    @property
    def faults(self) -> list[str]:
        """Why a strategy was not asked, or not listened to."""
        return [decided.fault for _, _, _, decided in self.decisions if decided.fault is not None]


def memory_store() -> Deals:
    return Deals(SqliteKeep(MEMORY, SystemClock()), SystemClock())


def event(method: str, target: str, body: str | None = None) -> Json:
    """The event of a request, as an HTTP API sends it."""
    path, _, query = target.partition("?")
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": {"content-type": "application/json"},
        "requestContext": {"http": {"method": method, "path": path}, "stage": "$default"},
        "isBase64Encoded": False,
        **({} if body is None else {"body": body}),
    }


def euchre_front(strategy: Strategy, journal: Journal, store: Deals | None = None) -> HttpFront:
    """A front that answers with a strategy."""
    service = EuchreService(store or memory_store(), strategy, SystemClock(), journal)
    return front(API, service)


class Service:
    """A service over a store, called like the HTTP API's function."""

    def __init__(self, strategy: Strategy | str = "rules", store: Deals | None = None) -> None:
        self.diary = Diary()
        self.store = store or memory_store()
        self.strategy = build(strategy) if isinstance(strategy, str) else strategy
        self.restart()

    def restart(self) -> None:
        """Begin anew with nothing but what the store holds."""
        clock = SystemClock()
        self.api = edge.build(API, EuchreService(self.store, self.strategy, clock, self.diary))

    def answer(self, asked: Json) -> Json:
        """The answer to an event."""
        return self.api(asked, LambdaContext("euchre", TIMEOUT, SystemClock()))

    def call(self, method: str, target: str, body: Json | str | None = None) -> tuple[int, Json]:
        """Status and body of the answer."""
        text = json.dumps(body) if isinstance(body, dict) else body
        answer = self.answer(event(method, target, text))
        assert isinstance(answer["statusCode"], int)
        assert isinstance(answer["body"], str)
        return answer["statusCode"], json.loads(answer["body"])

    def ok(self, method: str, target: str, body: Json | str | None = None) -> Json:
        """The body of an answer that must be a good one."""
        status, answer = self.call(method, target, body)
        assert status == 200, answer
        return answer
