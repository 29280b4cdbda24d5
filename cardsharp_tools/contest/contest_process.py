"""The command that runs a contest: its arena or match host, and the loop of its director."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from typing import Protocol

from cardsharp.contest.admin import ContestAdmin
from cardsharp.contest.director import ContestRunner
from cardsharp.contest.match_host import MatchHost
from cardsharp.contest.models import ContestStage, PracticeMatch
from cardsharp.contest.results import ContestRecords
from cardsharp.core.clock import utc_now
from cardsharp.errors import ArenaError, ConfigError
from cardsharp_tools.cli.options import ArenaServerOptions
from cardsharp_tools.contest.contest_arena import (
    DEFAULT_LISTEN_OPTIONS,
    run_arena_and_local_players,
)
from cardsharp_tools.contest.contest_lock import LockHolder
from cardsharp_tools.contest.local_match_host import LocalMatchHost
from cardsharp_tools.contest.logging_match_host import LoggingMatchHost
from cardsharp_tools.contest.open_contest import LockedContest
from cardsharp_tools.local_play.handler_environment import (
    Notify,
    forward_warnings,
    redirect_telemetry,
)

FORWARDED_LOGGERS = ("cardsharp.games.deadmansdraw.arena", "cardsharp_tools.contest")
"""Loggers whose warnings are printed while a contest runs."""

_log = logging.getLogger(__name__)


class ContestLoop(ABC):
    """Loop of a command in which a contest goes on, step by step."""

    def __init__(self, records: ContestRecords) -> None:
        self.records = records

    @abstractmethod
    def take_step(self) -> None:
        """Advance the contest. Raises `ArenaError` if the arena failed."""

    @abstractmethod
    def pause(self) -> None:
        """Wait between two steps."""

    def practice_matches(self) -> Iterable[PracticeMatch]:
        """Return the practice matches that have ended."""
        return self.records.practice_matches()

    def waiting_command(self) -> LockHolder | None:
        """Return the command that waits to take over, or None."""
        return None

    def steps(self) -> Iterator[None]:
        """Take steps without end; yield after each one, then wait."""
        while True:
            try:
                self.take_step()
            except ArenaError as error:
                _log.warning("A request of the contest's director failed at the arena: %s", error)
            yield
            self.pause()

    def finish_practice(self) -> None:
        """Take steps until the running matches of practice have ended."""
        for _ in self.steps():
            if self.records.practice_until is None:
                return

    def contest_steps(self) -> Iterator[None]:
        """Take steps until the contest is over; yield after each one."""
        for _ in self.steps():
            is_over = self.records.stage is ContestStage.OVER
            yield
            if is_over:
                return

    def practice_steps_until(self, end: datetime) -> Iterator[None]:
        """Take steps until practice ends by time, or because `contest run` waits for the folder.

        Running matches then get the time of one turn to end; the contest plays the others to their
        end. If the waiting command goes away, practice continues until `end`.
        """
        last_heir: LockHolder | None = None
        limit = timedelta(seconds=self.records.settings.timeout)
        for _ in self.steps():
            is_over = self.records.practice_until is None
            if not is_over:
                if (heir := self.waiting_command()) != last_heir:
                    last_heir = heir
                    self.records.set_practice_until(end if heir is None else heir.since)
                is_over = heir is not None and utc_now() > heir.since + limit
            yield
            if is_over:
                return


class LoopMatchHost(MatchHost, Protocol):
    """Match host on this machine, which can wait for the end of a match."""

    def wait_for_match_end(self) -> None:
        """Wait until a match has ended, or at most for the usual time between two steps."""


class LocalContestLoop(ContestLoop):
    """Loop of the command that holds the contest's lock: each step is one of the director's."""

    def __init__(self, contest: LockedContest, match_host: LoopMatchHost) -> None:
        super().__init__(contest.records)
        self._lock, self._match_host = contest.lock, match_host
        self._runner = ContestRunner(contest.records, match_host, utc_now)

    def take_step(self) -> None:
        """Let the director read the matches and begin the next ones."""
        self._runner.step()

    def pause(self) -> None:
        """Wait until a match may have ended."""
        self._match_host.wait_for_match_end()

    def practice_matches(self) -> Iterable[PracticeMatch]:
        """Return the practice matches that have ended, as the director has noticed them."""
        return self._runner.ended_practice_matches

    def waiting_command(self) -> LockHolder | None:
        """Return the command that waits for the lock, or None."""
        return self._lock.waiting_command()


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
    with (
        redirect_telemetry(contest.log_file),
        forward_warnings(notify, *FORWARDED_LOGGERS),
        ExitStack() as stack,
    ):
        begins = f"contest {contest.lock.holder.command} begins"
        ContestAdmin(contest.records, utc_now).add_history_entry(begins)
        check_team_count(contest.records)
        match_host: LoopMatchHost
        if contest.settings.has_arena:
            match_host = _start_arena(contest, listen_options, notify, stack)
        elif listen_options != DEFAULT_LISTEN_OPTIONS:
            raise ConfigError(
                f"A contest of {contest.settings.game} has no arena. Remove the options for its "
                "address."
            )
        else:
            match_host = stack.enter_context(LocalMatchHost(contest, utc_now))
            notify(
                f"contest {contest.settings.name}: {contest.settings.game}, played here; Ctrl-C "
                "stops it."
            )
        yield LocalContestLoop(contest, match_host)


def _start_arena(
    contest: LockedContest, listen_options: ArenaServerOptions, notify: Notify, stack: ExitStack
) -> LoggingMatchHost:
    """Start the contest's arena until `stack` is closed; return it as match host."""
    url, client = stack.enter_context(run_arena_and_local_players(contest, listen_options))
    contest.lock.publish_url(url)
    notify(f"contest {contest.settings.name}: arena at {url}; Ctrl-C stops it.")
    return LoggingMatchHost(client, contest)
