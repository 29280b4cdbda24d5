"""Players of the lab: strategies by name, those that only the lab knows, or a user's own file.

Where a user's own fails in a duel, it is named with its line, and the run stops: a duel with a
strategy that fails says nothing of it, so no safe action replaces its own there.
"""

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from random import Random
from time import monotonic, process_time
from types import FrameType
from typing import Any, NoReturn

from cardsharp.deciding import Decided, Decider, shaped
from cardsharp.errors import ConfigError, StrategyFault
from cardsharp.games import game
from cardsharp.registry import strategies_of
from cardsharp.strategy import Decision
from cardsharp.trying import LATE, Unfit, own_lines, tried
from workbench import companion
from workbench.lab.extras import extras_of
from workbench.lab.plan import AnyStrategy, Plan
from workbench.program import Outside
from workbench.strategy_file import called, files_of, is_own, strategy_named, unknown
from workbench.submission import is_submission
from workbench.warden import descendants

LIMIT = timedelta(seconds=2)
"""What a decision may take of the processor, or spend asleep or waiting: see `companion.Usage`.

At an arena a limit is one on the clock. Here nobody is late because the machine does other things.
"""

AnyDecider = Decider[Any, Any, Any]

Past = Sequence[tuple[int, Any]]
"""The matches of a series so far as one of the two knows them, each with its seat."""

BEATS = 8  # how often it is looked at what has been taken of that limit


SLOW = 0.25  # seconds of the processor for a decision that make a run of the lab long
_SLOW_DECISIONS = 3  # so many of them, and it is said
_slow: Counter[str] = Counter()  # of each player, in this process


class DecisionTooLong(BaseException):
    """A decision took too long; no `except Exception` of the strategy's own takes it."""

    slept = False


class Guarded:
    """A strategy of a user's file; `name` is how the user calls it."""

    def __init__(self, name: str, strategy: AnyStrategy, decider: AnyDecider | None = None) -> None:
        self.name, self._strategy, self._decider = name, strategy, decider
        self.printed = ""

    def decide(self, position: Any) -> Decision[Any]:  # noqa: ANN401 - any game's
        """Its decision, with what it prints in `printed`; raises `StrategyFault` where it fails."""
        own, kinds = self._strategy, () if self._decider is None else self._decider.kinds

        def work() -> Decision[Any]:
            decision = own.decide(position)
            try:
                return shaped(decision, Decision, kinds)
            except Unfit as unfit:
                unfit.position = position
                raise

        return self._result(work)

    def _result(self, work: Callable[[], Decision[Any]]) -> Decision[Any]:
        own, began = self._strategy, process_time()
        try:
            with _limited(own):
                found = tried(work, own, locates=True)
        except DecisionTooLong as late:
            raise StrategyFault(f"{self.name}: {_late(late, own)}.") from None
        if found.result is None:
            raise StrategyFault(f"{self.name}: {found.fault}.\n{found.trace}".rstrip())
        self.printed = found.printed
        if (seconds := process_time() - began) >= SLOW:
            self._note_slow(seconds)
        return found.result

    def _note_slow(self, seconds: float) -> None:
        """Say while it plays that it takes long: a run may take hours for it."""
        _slow[self.name] += 1
        if _slow[self.name] == _SLOW_DECISIONS:
            companion.say(
                f"{self.name} is slow: {_SLOW_DECISIONS} decisions took some {seconds:.1f} s each. "
                f"One may take {LIMIT.total_seconds():g} s, but the lab makes thousands of them; "
                "`cardsharp lab profile` measures it."
            )

    def refuse(self, position: object, action: object, why: str) -> NoReturn:
        """Raise `StrategyFault` for an action that the rules refuse, with its line."""
        fault = None if self._decider is None else self._decider.fault_of(position, action)

        def work() -> Decision[Any]:
            raise Unfit(fault or why, position=position)

        self._result(work)
        raise AssertionError(why)  # the line above has raised


def decided_again(
    decider: Decider[Any, Any, Any], strategy: AnyStrategy, position: object
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
    seconds = LIMIT.total_seconds()
    usage = companion.Usage(lambda: descendants(os.getpid()))

    def look(_number: int, _frame: FrameType | None) -> None:
        usage.look(seconds / BEATS)
        if usage.is_over(seconds):
            late = DecisionTooLong()
            late.slept = usage.used < seconds
            raise late

    def used_up(_number: int, _frame: FrameType | None) -> None:
        raise DecisionTooLong

    signal.signal(signal.SIGPROF, used_up)
    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    if not isinstance(strategy, Outside):
        signal.setitimer(signal.ITIMER_REAL, seconds / BEATS, seconds / BEATS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)


def strategy_of(plan: Plan, name_or_file: str, dice: Random, past: Past = ()) -> AnyStrategy:
    """A player of the plan, with the past in mind and all its `dice`; raises `ConfigError`.

    It is guarded where it comes from a user's file or program.
    """
    strategy = bare_strategy_of(plan, name_or_file, dice, past)
    name = called(name_or_file) if is_submission(name_or_file) else name_or_file
    part = game(plan.game).decider
    decider = None if part is None else part.load()
    return Guarded(name, strategy, decider) if is_own(name_or_file) else strategy


def bare_strategy_of(plan: Plan, name_or_file: str, dice: Random, past: Past = ()) -> AnyStrategy:
    """The same without the guard around a user's own, which is imported or started here."""
    own = extras_of(plan.game).strategy(name_or_file, plain=plan.plain)
    if own is not None:
        return own
    name = strategy_named(name_or_file, game(plan.game)) if is_own(name_or_file) else name_or_file
    return plan.simulation.strategy(name, dice, past)


def check_players(plan: Plan) -> None:
    """Make both once; raises `ConfigError` where one cannot be, or nobody knows its luck."""
    if plan.less_luck and not extras_of(plan.game).tells_luck:
        of = game(plan.game).title
        raise ConfigError(f"Nobody tells the luck of {of}; leave --less-luck out.")
    if not plan.plain and extras_of(plan.game).series(plan) is not None:
        return
    for name in (plan.first, plan.second):
        if extras_of(plan.game).guest(name) is None:
            try:
                strategy_of(plan, name, Random(0))
            except ConfigError as error:
                there = strategies_of(game(plan.game).strategies).names()
                raise error if is_own(name) else unknown(error, name, there) from None


def fingerprint(plan: Plan) -> str:
    """A short word that changes when the strategies' code or weights do, or a player's files."""
    digest = sha256()
    folder = Path(str(files(game(plan.game).strategies)))
    shipped = (f for f in folder.rglob("*") if f.is_file() and f.parent.name != "__pycache__")
    players = (files_of(name, game(plan.game)) for name in (plan.first, plan.second))
    own = (file for files in players for file in files)
    for file in (*sorted(shipped), *own):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
