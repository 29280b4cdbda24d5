"""Euchre service: stores what is reported, and answers every question.

Any status above 399 ends the client's whole tournament. So a failing store is retried and then
ignored: a legal answer does not depend on it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from cardsharp.core.clock import Clock
from cardsharp.core.metrics import MetricName, Metrics
from cardsharp.errors import StoreError
from cardsharp.games.euchre.cards import card_name
from cardsharp.games.euchre.fallback import DECISION_RUNNER
from cardsharp.games.euchre.position import EuchrePosition
from cardsharp.games.euchre.public_state import PendingDecision
from cardsharp.games.euchre.service.deal_store import DealKey, DealStore, Event
from cardsharp.games.euchre.service.questions import (
    Notification,
    QuestionRequest,
    event_from_answer,
    event_from_notification,
    fallback_action,
    matches_turn_card,
    position_of,
    requested_decision,
    stored_answer,
)
from cardsharp.games.euchre.service.wire import DealMessage, NewDeal
from cardsharp.games.euchre.strategies import EuchreDecision, EuchreOption, Strategy
from cardsharp.play.decision_runner import DecisionResult

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger


GAME = "euchre"

LogEntry = dict[str, object]


def decision_log_entry(
    key: DealKey,
    pending: PendingDecision,
    position: EuchrePosition | None,
    result: DecisionResult[EuchreDecision],
) -> LogEntry:
    """A decision as fields of a log line; nothing in it that its seat does not know."""
    decision = result.decision
    entry: LogEntry = {
        **_deal_log_fields(key),
        "seat": pending.seat,
        "question": pending.decision_type.value,
        "answer": str(decision.action),
        "reason": decision.reason,
        "candidates": [_to_log_candidate(option) for option in decision.options],
        "worlds": decision.world_count,
        "decision_ms": round(result.duration / timedelta(milliseconds=1), 3),
    }
    if position is not None:
        entry["hand"] = [card_name(card) for card in position.hand]
    if decision.was_cut_short:
        entry["cut"] = True
    if result.error is not None:
        entry["fault"] = result.error
    if result.traceback:
        entry["trace"] = result.traceback
    if result.stdout:
        entry["printed"] = result.stdout
    return entry


def _to_log_candidate(option: EuchreOption) -> LogEntry:
    candidate: LogEntry = {"answer": str(option.action)}
    if option.value is not None:
        candidate["points"] = round(option.value, 3)
    if option.note:
        candidate["note"] = option.note
    return candidate


def _deal_log_fields(key: DealKey) -> LogEntry:
    return {"game": GAME, "token": key.token, "game_num": key.game, "deal_num": key.deal}


MAX_DEAL_WRITE_ATTEMPTS = (
    3  # how often a request tries the store; a conflict or a failure is worth another
)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EuchreService:
    """Service that stores the reported events of each deal, and answers every question.

    Operations that only echo their request are not part of it. Decisions are logged and
    measured.
    """

    store: DealStore
    strategy: Strategy
    clock: Clock
    logger: "Logger | None" = None
    metrics: Metrics = field(default_factory=Metrics)

    def begin_deal(self, request: NewDeal) -> None:
        """Store a deal's cards, replacing anything stored under its number."""
        key = deal_key(request)
        self._retry_store_call(
            key, "the deal is not stored", lambda: self.store.begin(key, request.cards)
        )

    def record_event(self, notification: Notification) -> None:
        """Store another player's action; a repetition changes nothing."""
        key, event = deal_key(notification), event_from_notification(notification)

        def note() -> None:
            record = self.store.read(key)
            if record is not None and record.find_last_event(event.key) != event:
                self.store.append(record, event)

        self._retry_store_call(key, "an event is not stored", note)

    def answer_question(self, request: QuestionRequest) -> Event:
        """The stored answer to a question, or a new one that is stored first."""
        key = deal_key(request)
        results: dict[
            EuchrePosition | None, DecisionResult[EuchreDecision]
        ] = {}  # one each, however often it is tried

        def decide(position: EuchrePosition | None) -> Event:
            if position not in results:
                results[position] = self._decide(request, position)
            return event_from_answer(request, results[position].decision.action)

        def answer() -> Event:
            record = self.store.read(key)
            if record is None or not matches_turn_card(request, record):
                return decide(None)
            stored = stored_answer(request, record)
            if stored is not None:
                return stored
            event = decide(position_of(record, request))
            self.store.append(record, event)
            return event

        event = self._retry_store_call(key, "an answer is not stored", answer)
        if event is None:  # what was decided but could not be kept, if a deal could be read
            event = decide(next(reversed(results), None))
        for position, decided in results.items():
            self._report_decision(key, request, position, decided)
        return event

    def _report_decision(
        self,
        key: DealKey,
        request: QuestionRequest,
        position: EuchrePosition | None,
        result: DecisionResult[EuchreDecision],
    ) -> None:
        """Log and measure a new decision; the log entry of a fallback is a warning."""
        self.metrics.record_duration(MetricName.DECISION, result.duration, game=GAME)
        if result.error is not None:
            self.metrics.count(MetricName.FALLBACK_ACTIONS, game=GAME)
        if self.logger is not None:
            write = self.logger.info if result.error is None else self.logger.warning
            write(
                "decision",
                extra=decision_log_entry(key, requested_decision(request), position, result),
            )

    def _decide(
        self, request: QuestionRequest, position: EuchrePosition | None
    ) -> DecisionResult[EuchreDecision]:
        """Decide in a position; use the fallback if no stored deal leads to the question."""
        if position is not None:
            # Without a limit: a strategy of Euchre keeps its own time.
            return DECISION_RUNNER.decide(self.strategy, position, None, self.clock.monotonic)
        fault = "no stored deal matches this question"
        return DecisionResult(
            EuchreDecision(fallback_action(request), f"Safe answer: {fault}."), error=fault
        )

    def _retry_store_call(
        self, key: DealKey, failure_message: str, operation: Callable[[], T]
    ) -> T | None:
        """Run `operation` with retries and return its result.

        After too many failures of the store, log `failure_message` and return None.
        """
        for attempt in range(1, MAX_DEAL_WRITE_ATTEMPTS + 1):
            try:
                return operation()
            except StoreError as error:
                message = "trying again" if attempt < MAX_DEAL_WRITE_ATTEMPTS else failure_message
                cause = f"{type(error).__name__}: {error}"
                if self.logger is not None:
                    self.logger.warning(message, extra={**_deal_log_fields(key), "cause": cause})
        return None


def deal_key(message: DealMessage) -> DealKey:
    """Return the key of a message's deal."""
    return DealKey(message.token, message.game_num, message.deal_num)
