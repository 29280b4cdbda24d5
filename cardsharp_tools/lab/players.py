"""Players of the lab: strategies by name, strategies that only the lab has, and user files.

If a user's strategy fails in a duel, the error names its line, and the run stops. The bot would
replace the decision by a safe action; here that would make the result meaningless.
"""

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from random import Random
from time import monotonic, process_time
from types import FrameType
from typing import Any, NoReturn

from cardsharp.core.limits import DECISION_TIMEOUT
from cardsharp.errors import ConfigError, StrategyError
from cardsharp.play.catalog import get_game
from cardsharp.play.decision_runner import DecisionResult, DecisionRunner, validate_decision_type
from cardsharp.play.guarded_call import (
    InvalidDecision,
    call_guarded,
    describe_late_decision,
    strategy_traceback,
)
from cardsharp.play.strategy import Decision
from cardsharp.play.strategy_registry import registry_for
from cardsharp_tools.executors import hang_monitor
from cardsharp_tools.executors.private_random import private_rng
from cardsharp_tools.executors.process_usage import process_tree
from cardsharp_tools.executors.strategy_file import (
    register_strategy,
    source_files,
    unknown_strategy_error,
)
from cardsharp_tools.executors.strategy_reference import (
    BuiltIn,
    RemotePlayer,
    StrategyReference,
    Submission,
)
from cardsharp_tools.executors.subprocess_strategy import SubprocessStrategy
from cardsharp_tools.lab.game_adapter import ExternalPlayerClient, lab_adapter
from cardsharp_tools.lab.plan import AnyStrategy, DuelPlan

AnyDecider = DecisionRunner[Any, Any, Any]

SeriesHistory = Sequence[tuple[int, Any]]
"""Matches of a series so far from one player's point of view, each with its seat."""

BEATS = 8  # checks of the used time within that limit


SLOW_DECISION_SECONDS = 0.25  # seconds of processor time from which a decision is slow
_SLOW_WARNING_THRESHOLD = 3  # slow decisions after which the user is warned
_slow_decision_counts: Counter[str] = Counter()  # slow decisions by player, in this process


class DecisionTimeout(BaseException):
    """Timeout of a decision.

    It derives from `BaseException`, so that an `except Exception` in the strategy does not catch
    it.
    """

    was_sleeping = False


class ErrorReportingStrategy:
    """Strategy of a user's file, whose errors and timeouts are raised as `StrategyError`.

    `name` is the user's name for it.
    """

    def __init__(self, name: str, strategy: AnyStrategy, decider: AnyDecider | None = None) -> None:
        self.name, self._strategy, self._decider = name, strategy, decider
        self.printed = ""

    def decide(self, position: Any) -> Decision[Any]:  # noqa: ANN401 - any game's
        """Return the strategy's decision; what it prints is in `printed`.

        Raises `StrategyError` if the strategy fails.
        """
        strategy, kinds = (
            self._strategy,
            () if self._decider is None else self._decider.action_types,
        )

        def work() -> Decision[Any]:
            decision = strategy.decide(position)
            try:
                return validate_decision_type(decision, Decision, kinds)
            except InvalidDecision as unfit:
                unfit.position = position
                raise

        return self._run_guarded(work)

    def _run_guarded(self, work: Callable[[], Decision[Any]]) -> Decision[Any]:
        strategy, began = self._strategy, process_time()
        try:
            with _limit_decision_time(strategy):
                result = call_guarded(work, strategy, locates=True)
        except DecisionTimeout as late:
            raise StrategyError(f"{self.name}: {_describe_timeout(late, strategy)}.") from None
        if result.result is None:
            raise StrategyError(f"{self.name}: {result.error}.\n{result.traceback}".rstrip())
        self.printed = result.stdout
        if (cpu_seconds := process_time() - began) >= SLOW_DECISION_SECONDS:
            self._warn_slow(cpu_seconds)
        return result.result

    def _warn_slow(self, cpu_seconds: float) -> None:
        """Warn, while the duel is running, that the strategy is slow: a run may take hours."""
        _slow_decision_counts[self.name] += 1
        if _slow_decision_counts[self.name] == _SLOW_WARNING_THRESHOLD:
            hang_monitor.write_unbuffered(
                f"{self.name} is slow: {_SLOW_WARNING_THRESHOLD} decisions took some "
                f"{cpu_seconds:.1f} s each. "
                f"One may take {DECISION_TIMEOUT.total_seconds():g} s, but the lab makes "
                "thousands of them; "
                "`cardsharp lab profile` measures it."
            )

    def raise_illegal_action(self, position: object, action: object, reason: str) -> NoReturn:
        """Raise `StrategyError` for an illegal action, with the line that chose it."""
        fault = None if self._decider is None else self._decider.fault_of(position, action)

        def work() -> Decision[Any]:
            raise InvalidDecision(fault or reason, position=position)

        self._run_guarded(work)
        raise AssertionError(reason)  # `_run_guarded` always raises here


def decide_guarded(
    decider: DecisionRunner[Any, Any, Any], strategy: AnyStrategy, position: object
) -> DecisionResult[Any]:
    """Return the decision of a strategy, with the error if it fails or takes too long."""
    try:
        with _limit_decision_time(strategy):
            return decider.decide(strategy, position, None, monotonic)
    except DecisionTimeout as late:
        fault = _describe_timeout(late, strategy)
        safe = decider.fallback_action(position, frozenset())
        return DecisionResult(
            decider.decision_type(safe, f"Safe action: {fault}."), DECISION_TIMEOUT, fault
        )


def _describe_timeout(timeout: DecisionTimeout, strategy: object) -> str:
    lines = strategy_traceback(timeout, strategy)
    location = f" ({lines[-1]})" if lines else ""
    cause = "while it slept or waited" if timeout.was_sleeping else "of processor time"
    return f"{describe_late_decision(DECISION_TIMEOUT)} {cause}{location}"


@contextmanager
def _limit_decision_time(strategy: object) -> Iterator[None]:
    """Raise `DecisionTimeout` in the block if it uses up its processor time, or sleeps too long.

    A decision in another process, for which this process waits, has a limit of its own.
    Python can interrupt only the main thread in this way. Elsewhere, as on a worker of a
    cluster, there is no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    timeout_seconds = DECISION_TIMEOUT.total_seconds()
    usage = hang_monitor.BusyIdleTimeMeter(lambda: process_tree(os.getpid()))

    def look(_signal_number: int, _frame: FrameType | None) -> None:
        usage.take_sample(timeout_seconds / BEATS)
        if usage.exceeds(timeout_seconds):
            late = DecisionTimeout()
            late.was_sleeping = usage.used < timeout_seconds
            raise late

    def used_up(_signal_number: int, _frame: FrameType | None) -> None:
        raise DecisionTimeout

    # Two timers: SIGPROF counts processor time, which a busy machine does not use up. SIGALRM looks
    # on the clock at what a strategy does that uses none, such as sleeping.
    signal.signal(signal.SIGPROF, used_up)
    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_PROF, timeout_seconds)
    if not isinstance(strategy, SubprocessStrategy):
        signal.setitimer(signal.ITIMER_REAL, timeout_seconds / BEATS, timeout_seconds / BEATS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)


def build_player(
    plan: DuelPlan, player: StrategyReference, rngs: Random, series_history: SeriesHistory = ()
) -> AnyStrategy:
    """Return a player of the plan, with its random numbers and the past matches of its series.

    A user's file or program is guarded. Raises `ConfigError` if the player cannot be built.
    """
    strategy = build_unguarded_player(plan, player, rngs, series_history)
    if not player.is_user_code:
        return strategy
    name = player.display_name if isinstance(player, Submission) else str(player)
    lazy_import = get_game(plan.game).decision_runner
    decider = None if lazy_import is None else lazy_import.load()
    return ErrorReportingStrategy(name, strategy, decider)


def build_unguarded_player(
    plan: DuelPlan, player: StrategyReference, rngs: Random, series_history: SeriesHistory = ()
) -> AnyStrategy:
    """Return the player without the guard around a user's strategy.

    A user's file is imported, and a program is started, in this process.
    """
    if isinstance(player, BuiltIn):
        lab_strategy = lab_adapter(plan.game).find_lab_strategy(
            player.name, pure_python=plan.pure_python
        )
        if lab_strategy is not None:
            return lab_strategy
    name = str(player)
    if player.is_user_code:
        name, rngs = register_strategy(player, get_game(plan.game)), private_rng(rngs)
    return plan.simulation.build_strategy(name, rngs, series_history)


def find_external_player(plan: DuelPlan, player: StrategyReference) -> ExternalPlayerClient | None:
    """Return the player of a service, or None for one that plays in this process."""
    if not isinstance(player, RemotePlayer):
        return None
    return lab_adapter(plan.game).find_external_player(player.url)


def check_players(plan: DuelPlan) -> None:
    """Build both players once; raise `ConfigError` if that fails.

    Also raise it if the plan adjusts for luck and the game has no luck model.
    """
    if plan.luck_adjusted and not lab_adapter(plan.game).has_luck_model:
        of = get_game(plan.game).title
        raise ConfigError(f"The luck of {of} cannot be measured. Remove --luck-adjusted.")
    if (
        not plan.pure_python
        and lab_adapter(plan.game).find_compiled_series_player(plan) is not None
    ):
        return
    for player in (plan.first, plan.second):
        if find_external_player(plan, player) is None:
            try:
                build_player(plan, player, Random(0))
            except ConfigError as error:
                strategy_names = registry_for(get_game(plan.game).strategy_package).names()
                raise (
                    error
                    if player.is_user_code
                    else unknown_strategy_error(error, str(player), strategy_names)
                ) from None


def fingerprint(plan: DuelPlan) -> str:
    """Return a short hash of the strategies' code and weights and of the players' files."""
    digest = sha256()
    folder = Path(str(files(get_game(plan.game).strategy_package)))
    shipped = (f for f in folder.rglob("*") if f.is_file() and f.parent.name != "__pycache__")
    players = (source_files(player, get_game(plan.game)) for player in (plan.first, plan.second))
    player_files = (file for files in players for file in files)
    for file in (*sorted(shipped), *player_files):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
