"""Run loop of `cardsharp bot` once the arena has confirmed its account: play and report news."""

import fcntl
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from hashlib import sha256
from math import inf
from time import monotonic

import poller.app
from cardsharp.analysis.replay import UNKNOWN
from cardsharp.bot.match_dispatcher import MatchDispatcher
from cardsharp.bot.queueing.memory_queue import MemoryQueue
from cardsharp.core.private_files import ensure_private_file
from cardsharp.core.queue import Queue
from cardsharp.errors import StoreError
from cardsharp.games.deadmansdraw.arena_bot.bootstrap import ArenaBotDependencies
from cardsharp.store.locations import sqlite_path
from cardsharp.store.match_log import MatchStatus
from cardsharp_tools.cli.exit_codes import StoppedBySignal, handle_signals
from cardsharp_tools.games.deadmansdraw.bot_startup import bot_log_path
from cardsharp_tools.games.deadmansdraw.commands.bot import BotOptions
from cardsharp_tools.games.deadmansdraw.match_printer import LiveMatchPrinter
from cardsharp_tools.local_cloud.lambda_events import (
    Event,
    LambdaHandler,
    LocalLambdaContext,
    failure_observer,
)
from cardsharp_tools.local_cloud.lambda_scheduler import LambdaScheduler, LambdaSchedulerOptions
from cardsharp_tools.local_play.bot_runtime import LOCAL_WORKER_TIME, run_poller_and_workers
from cardsharp_tools.terminal.display import DisplayErrorGuard

BOT_LOG_POLL_INTERVAL = timedelta(
    milliseconds=200
)  # between two checks of the log, unless they take long
MAX_NEWS_TIME_SHARE = (
    0.1  # the part of the time that may go into looking: the matches need the processor more
)
# seconds after SIGTERM in which running matches may end; most systems kill after ten
PLAYED_ON = 5.0


def run_bot(
    assembly: ArenaBotDependencies, name: str, options: BotOptions, notify: Callable[[str], None]
) -> None:
    """Play as the account `name` as soon as its slot at the arena is free."""
    tags = f", tags {' '.join(assembly.settings.tags)}" if assembly.settings.tags else ""
    attends = f"{assembly.settings.arena_url} as {name}{tags}."
    with bot_slot_acquirer(assembly) as take:
        is_first = take()
        if is_first:
            notify(f"playing at {attends}")
        elif options.standby:
            notify(f"standing by: another bot with this match log plays at {attends}")
        else:
            notify(
                f"playing at {attends} Another bot with this match log does, too; see --standby."
            )
        notify(f"Press Ctrl-C to take no new matches. The program's log is {bot_log_path()}.")
        backlog_reporter = partial(report_backlog, notify, assembly.queue, options.concurrency)
        home = LambdaSchedulerOptions(
            concurrency=options.concurrency,
            on_invocation=failure_observer(notify),
            on_backlog=backlog_reporter,
        )
        listen = None
        if options.standby and not is_first:
            listen = standby_poller(assembly, take, lambda: notify(f"now playing at {attends}"))
        news = _MatchReporter(assembly.dispatcher, options, notify)
        work = run_poller_and_workers(
            assembly.dispatcher, home, worker_time=LOCAL_WORKER_TIME, poller_handler=listen
        )
        with work as at_work:
            _run_until_stopped(at_work, news, options.once, notify)


def _run_until_stopped(
    scheduler: LambdaScheduler,
    reporter: "_MatchReporter",
    once: bool,
    notify: Callable[[str], None],
) -> None:
    """Show matches until Ctrl-C or the end of a match, then finish the running ones."""
    # signals are recorded here: an exception could be caught by any code that runs
    heard: list[int] = []
    with handle_signals(
        lambda signal_number, _: heard.append(signal_number), signal.SIGINT, signal.SIGTERM
    ):
        while not (heard or (once and reporter.has_finished_match)):
            reporter.report_news_throttled()
        if heard:
            notify("No new matches are taken.")
        scheduler.stop_accepting()
        _drain_running_matches(scheduler, reporter, heard, notify)
        reporter.report_news()


def _drain_running_matches(
    scheduler: LambdaScheduler,
    reporter: "_MatchReporter",
    received_signals: list[int],
    notify: Callable[[str], None],
) -> None:
    """Wait until the running matches end, or until a second signal.

    After SIGTERM the wait is short.
    """
    ends = signal.SIGTERM in received_signals
    due = monotonic() + PLAYED_ON if ends else inf
    if scheduler.running_worker_count:
        then = f"played on for {PLAYED_ON:g} s" if ends else "played to the end"
        notify(
            f"{scheduler.running_worker_count} running matches are {then}. Ctrl-C again "
            "stops at once."
        )
    while scheduler.running_worker_count:
        if len(received_signals) > 1 or monotonic() > due:
            raise StoppedBySignal(received_signals[-1])
        reporter.report_news_throttled()


class _MatchReporter:
    """Reporter of the matches that this process plays, which are some of those in the log.

    The log has matches of other games and of other processes, too. If some news cannot be read,
    that is reported and playing continues.
    """

    def __init__(
        self, offering: MatchDispatcher, options: BotOptions, say: Callable[[str], None]
    ) -> None:
        self._log, self._clock, self._taken_match_ids = (
            offering.match_log,
            offering.clock,
            offering.leased_ids,
        )
        self._printer = LiveMatchPrinter(
            offering.match_log, show_match_tag=True, as_json=options.as_json
        )
        self._guard = DisplayErrorGuard(say)
        self._abandoned_match_ids: set[str] = set()
        self._next_report_time = 0.0

    @property
    def has_finished_match(self) -> bool:
        """True if any match has been played to its end.

        A match that remains from another arena does not count.
        """
        return any(
            self._read_result(i) not in {None, UNKNOWN} for i in tuple(self._taken_match_ids)
        )

    def report_news_throttled(self) -> None:
        """Report news, but spend no more than a share of the time on it."""
        self._clock.sleep(BOT_LOG_POLL_INTERVAL)
        began = self._clock.monotonic()
        if began >= self._next_report_time:
            self.report_news()
            current_time = self._clock.monotonic()
            self._next_report_time = current_time + (current_time - began) / MAX_NEWS_TIME_SHARE

    def report_news(self) -> None:
        """Report the new events of the matches."""
        for match_id in tuple(self._taken_match_ids):  # workers add to it meanwhile
            if self._printer.is_end_printed(match_id) or match_id in self._abandoned_match_ids:
                continue
            if self._print_news(match_id) or self._read_result(match_id) is None:
                continue
            # The match may have ended after the printer had read its record. Its end is printed
            # the second time.
            self._print_news(match_id)
            self._abandoned_match_ids.add(match_id)

    def _print_news(self, match_id: str) -> bool:
        """Print the new events of a match; report a failure, and return whether there was none."""
        return self._guard.run(
            partial(self._printer.print_new_events, [match_id]), f"Match {match_id}"
        )

    def _read_result(self, match_id: str) -> object:
        """Return the result of a match, "" if it cannot be read, None while the match runs."""
        try:
            record = self._log.match(match_id)
        except StoreError as error:
            self._guard.report_once(str(error))
            return None
        if record is None or record.status is not MatchStatus.FINISHED:
            return None
        return (record.outcome or {}).get("result", "")


def report_backlog(
    notify: Callable[[str], None], queue: Queue, concurrency: int, running: int
) -> None:
    """Report waiting matches while no more can be played, and say what to do."""
    if not (isinstance(queue, MemoryQueue) and queue.visible_count):
        return
    if running >= concurrency:
        notify(f"Matches wait, because {concurrency} are being played. Raise --concurrency.")
    else:
        notify(f"Matches wait, because this machine cannot play more than {running} at once.")


@contextmanager
def bot_slot_acquirer(assembly: ArenaBotDependencies) -> Iterator[Callable[[], bool]]:
    """Yield a function that takes the bot's slot at an arena and returns True if it is ours.

    Bots of one player with the same match log share one slot. The bot that plays holds a lock,
    which the operating system releases however the process ends. Meanwhile the other bots check the
    leases, as every poller does, so that a match whose worker died is continued at once. They poll
    the arena for matches only when they hold the lock themselves. If the log is not a file, a bot
    cannot see the others.
    """
    settings = assembly.settings
    store = sqlite_path(settings.store)
    if store is None:
        yield lambda: True
        return
    lock_id = sha256(f"{settings.arena_url} {assembly.player_id}".encode()).hexdigest()[:8]
    lock = store.with_name(f"{store.name}.{lock_id}.lock")
    ensure_private_file(lock)
    with lock.open("ab") as file:

        def take() -> bool:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

        yield take


def standby_poller(
    assembly: ArenaBotDependencies, acquire: Callable[[], bool], on_acquired: Callable[[], None]
) -> LambdaHandler:
    """Return a poller that only watches leases until it acquires the slot, then polls.

    It only checks leases until the slot is free; then it polls as any other.
    """
    waits = True

    def handler(event: Event, context: LocalLambdaContext) -> object:
        """Wait for the slot during this invocation, or poll if the slot is ours."""
        nonlocal waits

        def remaining_time() -> timedelta:
            if acquire():
                return timedelta(0)
            return timedelta(milliseconds=context.get_remaining_time_in_millis())

        if waits:
            assembly.dispatcher.dispatch_until(
                assembly.settings.lease_check_interval, remaining_time
            )
            if not acquire():
                return {"offered": 0}
            waits = False
            on_acquired()
        return poller.app.handler(event, context)

    return handler
