"""Our side of a match: the real handlers of poller and worker in a home on this machine.

And matches followed to their ends in its match log.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from pathlib import Path
from uuid import uuid4

from cardsharp.aws.telemetry import metrics_recorder
from cardsharp.bot.fair_semaphore import CPU_SEMAPHORE
from cardsharp.bot.match_dispatcher import MatchDispatcher
from cardsharp.core.clock import Clock
from cardsharp.errors import CardsharpError
from cardsharp.games.deadmansdraw.arena_bot.bootstrap import (
    ArenaBotDependencies,
    build_dependencies,
)
from cardsharp.games.deadmansdraw.arena_bot.settings import ArenaBotSettings
from cardsharp.store.match_log import MatchLog
from cardsharp_tools.local_cloud.lambda_events import LambdaFunction, LambdaHandler
from cardsharp_tools.local_cloud.lambda_scheduler import LambdaScheduler, LambdaSchedulerOptions
from cardsharp_tools.local_play.cloud_backend import CloudBackendKind
from cardsharp_tools.local_play.handler_environment import override_settings_environment


def in_process_backend_settings(log_file: Path) -> dict[str, str]:
    """Return settings for an in-process queue and a match log in a SQLite file.

    `log_file` is the SQLite file.
    """
    return {"CARDSHARP_STORE": f"sqlite:{log_file}", "CARDSHARP_QUEUE": f"memory:{uuid4()}"}


@contextmanager
def start_cloud_backend(kind: CloudBackendKind, folder: Path) -> Iterator[dict[str, str]]:
    """Start an empty cloud backend and yield its settings; the embedded one uses `folder`."""
    if kind is CloudBackendKind.EMBEDDED:
        yield in_process_backend_settings(folder / "stage.db")
        return
    # boto3 is slow to import.
    from cardsharp_tools.local_cloud.emulator import Emulator  # noqa: PLC0415

    with Emulator() as emulator:
        stack = emulator.create_resources()
        store, queue = f"dynamodb:{stack.tables['Matches']}", stack.queues["MatchQueue"]
        yield {"CARDSHARP_STORE": store, "CARDSHARP_QUEUE": queue, **emulator.environment}


POLLER_TIME = timedelta(seconds=100)  # longer than a tick and a poll: so one takes over
MAX_LAMBDA_TIME = timedelta(minutes=15)  # what Lambda grants a function at most
LOCAL_WORKER_TIME = timedelta(days=1)  # nothing limits a worker at home; it stays with its match


HANDLER_SHUTDOWN_GRACE = timedelta(
    seconds=3
)  # how long handlers get to end once the arena has hung up


@contextmanager
def open_bot_dependencies(variables: Mapping[str, str]) -> Iterator[ArenaBotDependencies]:
    """Open the dependencies of the handlers under these settings, as a context manager.

    The match log is closed at the end. Raises `ConfigError` for settings that are wrong.
    """
    with override_settings_environment(variables), ExitStack() as stack:
        assembly = build_dependencies(ArenaBotSettings.load(os.environ), metrics_recorder)
        stack.callback(build_dependencies.cache_clear)
        stack.callback(assembly.match_log.close)
        yield assembly


@contextmanager
def run_poller_and_workers(
    dispatcher: MatchDispatcher,
    options: LambdaSchedulerOptions,
    disconnect: Callable[[], None] | None = None,
    *,
    worker_time: timedelta = MAX_LAMBDA_TIME,
    poller_handler: LambdaHandler | None = None,
) -> Iterator[LambdaScheduler]:
    """Run poller and workers while the block runs; then stop and wait a short time.

    `disconnect` is called before that wait: a caller that stops a local arena there frees the
    poller from its long poll. Without it the poller ends with this process. `poller_handler`
    replaces the usual poller.
    """
    # What is asked of an arena before goes out sooner without them.
    import poller.app  # noqa: PLC0415 - slow to import
    import worker.app  # noqa: PLC0415 - slow to import

    poll = LambdaFunction("poller", poller_handler or poller.app.handler, POLLER_TIME)
    work = LambdaFunction("worker", worker.app.handler, worker_time)
    bearing = replace(options, has_capacity=CPU_SEMAPHORE.can_sustain)
    home = LambdaScheduler(poll, work, dispatcher.queue, dispatcher.clock, bearing).start()
    try:
        yield home
    finally:
        home.stop_accepting()
        if disconnect is not None:
            disconnect()
            home.stop(HANDLER_SHUTDOWN_GRACE)


HOME_LOG_POLL_INTERVAL = timedelta(milliseconds=50)  # how often the match log is looked at
OnRunning = Callable[[Sequence[str]], None]  # told again and again which matches run


class MatchFollower:
    """Follower of running matches; fails if none makes progress for `limit`."""

    _CHECK_INTERVAL = timedelta(seconds=1)

    def __init__(self, log: MatchLog, clock: Clock, limit: timedelta) -> None:
        self._log, self._clock, self._stall_timeout = log, clock, limit
        self._move_counts: tuple[int, ...] = ()
        self._last_progress_time = self._last_check_time = clock.monotonic()

    def iter_finished(
        self,
        matches: Iterable[str],
        concurrency: int,
        on_running: OnRunning = lambda _running: None,
        check: Callable[[], None] = lambda: None,
    ) -> Iterator[str]:
        """Yield the ids of matches as they finish, running `concurrency` of them at once.

        `on_running` gets the ids of those that run. `check` may raise; `CardsharpError` is
        raised if no move is made for too long.
        """
        running = list(islice(matches := iter(matches), concurrency))
        while running:
            self._clock.sleep(HOME_LOG_POLL_INTERVAL)
            on_running(tuple(running))
            records = [(match_id, self._log.match(match_id)) for match_id in running]
            for match_id in [i for i, match in records if match and match.outcome is not None]:
                running.remove(match_id)
                yield match_id
                running += islice(matches, 1)
            check()
            self._check_progress(running)

    def _check_progress(self, running: Sequence[str]) -> None:
        """Raise `CardsharpError` if no match has made a move for too long."""
        current_time = self._clock.monotonic()
        if current_time - self._last_check_time < self._CHECK_INTERVAL.total_seconds():
            return
        self._last_check_time = current_time
        moves = tuple(len(self._log.moves(match_id)) for match_id in running)
        if moves != self._move_counts:
            self._move_counts, self._last_progress_time = moves, current_time
        elif current_time - self._last_progress_time > self._stall_timeout.total_seconds():
            raise CardsharpError(
                f"No move was made for {self._stall_timeout.total_seconds():g} s in these matches: "
                f"{', '.join(running)}."
            )
