"""A decision that may be sent: in time, legal, not refused before; else a safe one says why not.

A strategy is anybody's code and may be late or broken.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from cardsharp.strategy import Decision, Strategy

P = TypeVar("P")
A = TypeVar("A")
D_co = TypeVar("D_co", covariant=True)
DA = TypeVar("DA", bound=Decision[Any])
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Decided(Generic[D_co]):
    """A decision, how long it took, and what went wrong where a safe one replaced it."""

    decision: D_co
    took: timedelta = timedelta(0)
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Decider(Generic[P, A, DA]):
    """What a game knows of decisions: which it refuses, and which is safe when none is left.

    `refusal` says why the rules refuse an action in a position, None where they do not; `safe`
    is the action that risks least, those that were refused before coming last; `make` is the
    game's `Decision`.
    """

    refusal: Callable[[P, A], str | None]
    safe: Callable[[P, frozenset[A]], A]
    make: Callable[[A, str], DA]

    def decide(
        self,
        strategy: Strategy[P, DA],
        position: P,
        limit: timedelta | None,
        monotonic: Callable[[], float],
        refused: frozenset[A] = frozenset(),
    ) -> Decided[DA]:
        """The strategy's decision, or the safe one where it is late, fails or would be refused.

        `refused` are the actions that were already turned down in this position. Without a
        `limit` the strategy keeps its own time, and no thread is started for it.
        """

        def work() -> DA | str:
            decision = strategy.decide(position)
            return self._fault(position, decision.action, refused) or decision

        began = monotonic()
        found = _tried(work) if limit is None else _within(limit, work)
        fault = found if isinstance(found, str) else None
        if isinstance(found, str):
            found = self.make(self.safe(position, refused), f"Safe action: {fault}.")
        return Decided(found, timedelta(seconds=monotonic() - began), fault)

    def _fault(self, position: P, action: A, refused: frozenset[A]) -> str | None:
        """Why an action must not be sent, None for nothing."""
        if action in refused:
            return f"the arena refused '{action}'"
        return self.refusal(position, action)


def _within(limit: timedelta, work: Callable[[], T | str]) -> T | str:
    """What `work` returns, or what was wrong with it.

    It runs in a thread of its own, which is left behind if it is late: a thread cannot be
    stopped, and as a daemon it keeps no process from ending.
    """
    answers: SimpleQueue[T | str] = SimpleQueue()
    threading.Thread(target=lambda: answers.put(_tried(work)), name="decision", daemon=True).start()
    try:
        return answers.get(timeout=limit.total_seconds())
    except Empty:
        return f"no decision within {limit.total_seconds():g} s"


def _tried(work: Callable[[], T | str]) -> T | str:
    """What `work` returns, or what it failed of."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - a strategy is anybody's code; the turn must go on
        return f"the strategy failed: {type(error).__name__}: {error}"
