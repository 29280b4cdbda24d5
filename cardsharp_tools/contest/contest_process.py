"""The command that runs a contest: its arena or match host, and the loop of its director."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from cardsharp.contest.admin import ContestAdmin
from cardsharp.contest.director import ContestRunner
from cardsharp.contest.match_host import MatchHost
from cardsharp.contest.models import PracticeMatch
from cardsharp.contest.results import ContestRecords
from cardsharp.core.clock import utc_now
from cardsharp.errors import ArenaError, ConfigError
from cardsharp_tools.cli.options import ArenaServerOptions
from cardsharp_tools.contest.contest_arena import (
    DEFAULT_LISTEN_OPTIONS,
    LoggingMatchHost,
    run_arena_and_local_players,
)
from cardsharp_tools.contest.contest_lock import LockHolder
from cardsharp_tools.contest.local_match_host import STEP_INTERVAL_SECONDS, LocalMatchHost
from cardsharp_tools.contest.open_contest import LockedContest
from cardsharp_tools.local_play.handler_environment import (
    Notify,
    forward_warnings,
    redirect_telemetry,
)

FORWARDED_LOGGERS = ("cardsharp.games.deadmansdraw.arena", "cardsharp_tools.contest")
"""Loggers whose warnings are printed while a contest runs."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ContestLoop:
    """Loop that runs a contest: `step` advances it, and `pause` waits between two steps.

    `practice_matches` returns the practice matches that have ended, and `next_lock` the
    command that waits to take over.
    """

    records: ContestRecords
    step: Callable[[], object]
    practice_matches: Callable[[], Iterable[PracticeMatch]]
    pause: Callable[[], None]
    next_lock: Callable[[], LockHolder | None] = lambda: None

    def iterate_steps_until(self, is_over: Callable[[], bool]) -> Iterator[None]:
        """Take steps until the contest is over; yield after each one."""
        return run_steps(self.step, is_over, self.pause)

    def iterate_practice_steps_until(self, end: datetime) -> Iterator[None]:
        """Take steps until practice ends by time, or because `contest run` waits for the folder.

        Running matches then get the time of one turn to end; the contest plays the others to their
        end. If the waiting command goes away, practice continues until `end`.
        """
        last_heir: LockHolder | None = None
        limit = timedelta(seconds=self.records.settings.timeout)

        def is_over() -> bool:
            nonlocal last_heir
            if self.records.practice_until is None:
                return True
            if (heir := self.next_lock()) != last_heir:
                last_heir = heir
                self.records.set_practice_until(end if heir is None else heir.since)
            return heir is not None and utc_now() > heir.since + limit

        return self.iterate_steps_until(is_over)


def sleep_between_steps() -> None:
    """Wait between two steps of an observer of a contest."""
    time.sleep(STEP_INTERVAL_SECONDS)


def run_steps(
    run_step: Callable[[], object], is_finished: Callable[[], bool], pause: Callable[[], None]
) -> Iterator[None]:
    """Take steps until `is_finished`; yield after each one, then wait."""
    while True:
        try:
            run_step()
            is_over = is_finished()
        except ArenaError as error:
            _log.warning("A request of the contest's director failed at the arena: %s", error)
            is_over = False
        yield
        if is_over:
            return
        pause()


def check_team_count(records: ContestRecords) -> None:
    """Raise `ConfigError` if a contest has too few teams to begin."""
    if len(records.teams()) < 2:  # noqa: PLR2004 - a pairing needs two
        raise ConfigError(
            "A contest needs at least two teams. Enter them with `cardsharp contest teams add`."
        )


@contextmanager
def run_contest_loop(
    contest: LockedContest, listen_options: ArenaServerOptions, notify: Notify
) -> Iterator[ContestLoop]:
    """Start the arena or match host of a contest, and yield the loop of its director.

    Raises `ConfigError` if the contest cannot be run with these options.
    """
    records, name, game = contest.records, contest.settings.name, contest.settings.game
    with (
        redirect_telemetry(contest.log_file),
        forward_warnings(notify, *FORWARDED_LOGGERS),
        ExitStack() as stack,
    ):
        begins = f"contest {contest.lock.holder.command} begins"
        ContestAdmin(records, utc_now).add_history_entry(begins)
        check_team_count(records)
        tables: MatchHost
        if contest.settings.has_arena:
            url, arena = stack.enter_context(run_arena_and_local_players(contest, listen_options))
            contest.lock.publish_url(url)
            notify(f"contest {name}: arena at {url}; Ctrl-C stops it.")
            tables, pause = LoggingMatchHost(arena, contest), sleep_between_steps
        elif listen_options != DEFAULT_LISTEN_OPTIONS:
            raise ConfigError(
                f"A contest of {game} has no arena. Remove the options for its address."
            )
        else:
            tables = local_host = stack.enter_context(LocalMatchHost(contest, utc_now))
            notify(f"contest {name}: {game}, played here; Ctrl-C stops it.")
            pause = local_host.wait_for_match_end
        course = ContestRunner(records, tables, utc_now)
        yield ContestLoop(
            records,
            course.step,
            lambda: course.ended_practice_matches,
            pause,
            contest.lock.waiting_command,
        )
