"""The service behind the API: keeps what it is told, answers what it is asked, never gives up.

Any status above 399 ends the client's whole tournament. So a store that fails is tried again and
then done without: a legal answer does not depend on it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from cardsharp.cloud.metrics import Meter, Metric
from cardsharp.cloud.ports import Clock
from cardsharp.deciding import Decided
from cardsharp.errors import StoreError
from cardsharp.euchre.asks import (
    Ask,
    Told,
    event_of,
    event_told,
    is_about,
    position_of,
    recalled,
    safe,
    to_act,
)
from cardsharp.euchre.cards import name
from cardsharp.euchre.fallback import DECIDER
from cardsharp.euchre.position import Position
from cardsharp.euchre.store import DealKey, Deals, Event
from cardsharp.euchre.strategies import Decision, Option, Strategy
from cardsharp.euchre.table import ToAct
from cardsharp.euchre.wire import InDeal, NewDeal

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger


GAME = "euchre"

Entry = dict[str, object]


def decision_entry(
    key: DealKey, asked: ToAct, position: Position | None, decided: Decided[Decision]
) -> Entry:
    """A decision as fields of a log line; nothing in it that its seat does not know."""
    decision = decided.decision
    entry: Entry = {
        **_of(key),
        "seat": asked.seat,
        "question": asked.question.value,
        "answer": str(decision.action),
        "reason": decision.reason,
        "candidates": [_candidate(option) for option in decision.options],
        "worlds": decision.worlds,
        "decision_ms": round(decided.took / timedelta(milliseconds=1), 3),
    }
    if position is not None:
        entry["hand"] = [name(card) for card in position.hand]
    if decision.cut:
        entry["cut"] = True
    if decided.fault is not None:
        entry["fault"] = decided.fault
    if decided.trace:
        entry["trace"] = decided.trace
    if decided.printed:
        entry["printed"] = decided.printed
    return entry


def _candidate(option: Option) -> Entry:
    candidate: Entry = {"answer": str(option.action)}
    if option.value is not None:
        candidate["points"] = round(option.value, 3)
    if option.note:
        candidate["note"] = option.note
    return candidate


def _of(key: DealKey) -> Entry:
    return {"game": GAME, "token": key.token, "game_num": key.game, "deal_num": key.deal}


ATTEMPTS = 3  # how often a request tries the store; a conflict or a failure is worth another
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EuchreService:
    """The sixteen operations, except those that only echo; `log` and `meter` are told of them."""

    store: Deals
    strategy: Strategy
    clock: Clock
    log: "Logger | None" = None
    meter: Meter = field(default_factory=Meter)

    def begin_deal(self, told: NewDeal) -> None:
        """Keep a deal's cards; whatever happened under its number is forgotten."""
        key = key_of(told)
        self._trying(key, "the deal is not stored", lambda: self.store.begin(key, told.cards))

    def note(self, told: Told) -> None:
        """Keep what another player did; the same again changes nothing."""
        key, event = key_of(told), event_told(told)

        def note() -> None:
            record = self.store.read(key)
            if record is not None and record.find(event.key) != event:
                self.store.append(record, event)

        self._trying(key, "an event is not stored", note)

    def answer(self, ask: Ask) -> Event:
        """The stored answer to a question, or a new one that is stored first."""
        key = key_of(ask)
        made: dict[Position | None, Decided[Decision]] = {}  # one each, however often it is tried

        def decide(position: Position | None) -> Event:
            if position not in made:
                made[position] = self._decided(ask, position)
            return event_of(ask, made[position].decision.action)

        def answer() -> Event:
            record = self.store.read(key)
            if record is None or not is_about(ask, record):
                return decide(None)
            stored = recalled(ask, record)
            if stored is not None:
                return stored
            event = decide(position_of(record, ask))
            self.store.append(record, event)
            return event

        event = self._trying(key, "an answer is not stored", answer)
        if event is None:  # what was decided but could not be kept, if a deal could be read
            event = decide(next(reversed(made), None))
        for position, decided in made.items():
            self._tell(key, ask, position, decided)
        return event

    def _tell(
        self, key: DealKey, ask: Ask, position: Position | None, decided: Decided[Decision]
    ) -> None:
        """A new decision to log and meter, as a warning where the strategy did not make it."""
        self.meter.time(Metric.DECISION, decided.took, game=GAME)
        if decided.fault is not None:
            self.meter.count(Metric.SAFE_ACTIONS, game=GAME)
        if self.log is not None:
            write = self.log.info if decided.fault is None else self.log.warning
            write("decision", extra=decision_entry(key, to_act(ask), position, decided))

    def _decided(self, ask: Ask, position: Position | None) -> Decided[Decision]:
        """The decision in a position; a safe one where no stored deal leads to the question."""
        if position is not None:
            # Without a limit: a strategy of Euchre keeps its own time.
            return DECIDER.decide(self.strategy, position, None, self.clock.monotonic)
        fault = "no stored deal leads to this question"
        return Decided(Decision(safe(ask), f"Safe answer: {fault}."), fault=fault)

    def _trying(self, key: DealKey, trouble: str, deed: Callable[[], T]) -> T | None:
        """What the deed returns, None where the store has failed it too often."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return deed()
            except StoreError as error:
                what = "trying again" if attempt < ATTEMPTS else trouble
                cause = f"{type(error).__name__}: {error}"
                if self.log is not None:
                    self.log.warning(what, extra={**_of(key), "cause": cause})
        return None


def key_of(message: InDeal) -> DealKey:
    """Which deal a message is about."""
    return DealKey(message.token, message.game_num, message.deal_num)
