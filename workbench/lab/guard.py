"""A user's strategy in the lab: where it fails, it is named with its line, and the run stops.

A duel with a strategy that fails says nothing of it, so no safe action replaces its own here.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic, process_time
from types import FrameType
from typing import Any

from cardsharp.deciding import Decided, Decider, shaped
from cardsharp.errors import StrategyFault
from cardsharp.strategy import Decision, Strategy
from cardsharp.trying import LATE, own_lines, tried
from workbench.program import Outside
from workbench.strategy_file import called, is_own
from workbench.submission import is_submission

LIMIT = timedelta(seconds=2)
"""What a decision may take of the processor; at a table it is the same on the clock.

Who sleeps or waits so long without using the processor is late as well.
"""

ASLEEP = 0.01  # the part of that time below which it has slept; a busy machine gives it more


class DecisionTooLong(BaseException):
    """A decision took too long; no `except Exception` of the strategy's own takes it."""

    slept = False


class Guarded:
    """A strategy of a user's file; `name` is how the user calls it."""

    def __init__(self, name: str, strategy: Strategy[Any, Decision[Any]]) -> None:
        self.name, self._strategy = name, strategy
        self.printed = ""

    def decide(self, position: Any) -> Decision[Any]:  # noqa: ANN401 - any game's
        """Its decision, with what it prints in `printed`; raises `StrategyFault` where it fails."""
        own = self._strategy
        try:
            with _limited(own):
                found = tried(lambda: shaped(own.decide(position), Decision), own)
        except DecisionTooLong as late:
            raise StrategyFault(f"{self.name}: {_late(late, own)}.") from None
        if found.result is None:
            raise StrategyFault(f"{self.name}: {found.fault}.\n{found.trace}".rstrip())
        self.printed = found.printed
        return found.result


class SeatedFile:
    """A user's strategy at a table: its faults are told, and a safe action is `decided`."""

    def __init__(
        self,
        name: str,
        strategy: Strategy[Any, Decision[Any]],
        decider: Decider[Any, Any, Any],
        tell: Callable[[str], None],
    ) -> None:
        self._name, self._strategy, self._decider, self._tell = name, strategy, decider, tell
        self._told: set[str] = set()
        self.decided: Decided[Any] | None = None
        self.is_useless = False

    def decide(self, position: Any) -> Decision[Any]:  # noqa: ANN401 - any game's
        """Its decision, or the safe one; each fault is told once."""
        now = decided_again(self._decider, self._strategy, position)
        self.is_useless = now.fault is not None and (self.is_useless or self.decided is None)
        self.decided = now
        if now.fault is not None and now.fault not in self._told:
            self._told.add(now.fault)
            self._tell(f"{self._name}: {now.fault}. A safe action is played.\n{now.trace}".rstrip())
        decision: Decision[Any] = now.decision
        return decision


def guarded(name_or_file: str, strategy: Any) -> Any:  # noqa: ANN401 - any game's
    """The strategy; guarded where it comes from a user's file or program."""
    name = called(name_or_file) if is_submission(name_or_file) else name_or_file
    return Guarded(name, strategy) if is_own(name_or_file) else strategy


def decided_again(
    decider: Decider[Any, Any, Any],
    strategy: Any,  # noqa: ANN401 - any game's
    position: Any,  # noqa: ANN401
) -> Decided[Any]:
    """What a strategy decides in a position, with the fault where it fails or takes too long."""
    try:
        with _limited(strategy):
            return decider.decide(strategy, position, None, monotonic)
    except DecisionTooLong as late:
        fault = _late(late, strategy)
        safe = decider.safe(position, frozenset())
        return Decided(decider.make(safe, f"Safe action: {fault}."), LIMIT, fault)


def _late(late: DecisionTooLong, strategy: object) -> str:
    lines = own_lines(late, strategy)
    place = f" ({lines[-1]})" if lines else ""
    how = "while it slept or waited" if late.slept else "of processor time"
    return f"{LATE} {LIMIT.total_seconds():g} s {how}{place}"


@contextmanager
def _limited(strategy: object) -> Iterator[None]:
    """Raise `DecisionTooLong` in the block when it has had its share of the processor, or slept.

    What another process decides, for which ours waits, has a limit of its own. Only a main thread
    can be interrupted so; elsewhere, as on a cluster's worker, nothing is limited.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seconds, used = LIMIT.total_seconds(), process_time()

    def awake(_number: int, _frame: FrameType | None) -> None:
        nonlocal used
        before, used = used, process_time()
        if used - before < ASLEEP * seconds:
            late = DecisionTooLong()
            late.slept = True
            raise late
        signal.setitimer(signal.ITIMER_REAL, seconds)  # it worked; perhaps it sleeps from now on

    def used_up(_number: int, _frame: FrameType | None) -> None:
        raise DecisionTooLong

    signal.signal(signal.SIGPROF, used_up)
    signal.signal(signal.SIGALRM, awake)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    if not isinstance(strategy, Outside):
        signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
