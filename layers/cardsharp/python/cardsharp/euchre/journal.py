"""What is written down about a decision: the choices with their expected points, and why."""

from datetime import timedelta
from typing import TYPE_CHECKING

from cardsharp.cloud.metrics import Meter, Metric
from cardsharp.deciding import Decided
from cardsharp.euchre.asks import Ask, to_act
from cardsharp.euchre.cards import name
from cardsharp.euchre.position import Position
from cardsharp.euchre.records import DealKey
from cardsharp.euchre.strategies import Decision, Option
from cardsharp.euchre.table import ToAct

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

GAME = "euchre"

Entry = dict[str, object]


class Journal:
    """Takes what a service has to tell, and keeps nothing of it."""

    def decided(
        self, key: DealKey, ask: Ask, position: Position | None, decided: Decided[Decision]
    ) -> None:
        """A new decision; without a position, one that the question alone had to answer."""

    def troubled(self, key: DealKey, what: str, cause: Exception) -> None:
        """Something failed, and the service goes on without it."""


class LogJournal(Journal):
    """Writes structured log lines, and counts and times on a meter."""

    def __init__(self, log: "Logger", meter: Meter) -> None:
        self._log, self._meter = log, meter

    def decided(
        self, key: DealKey, ask: Ask, position: Position | None, decided: Decided[Decision]
    ) -> None:
        """Write the decision, as a warning where the strategy did not make it."""
        entry = decision_entry(key, to_act(ask), position, decided)
        self._meter.time(Metric.DECISION, decided.took, game=GAME)
        if decided.fault is None:
            self._log.info("decision", extra=entry)
        else:
            self._meter.count(Metric.SAFE_ACTIONS, game=GAME)
            self._log.warning("decision", extra=entry)

    def troubled(self, key: DealKey, what: str, cause: Exception) -> None:
        """Write what failed."""
        self._log.warning(what, extra={**_of(key), "cause": f"{type(cause).__name__}: {cause}"})


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
