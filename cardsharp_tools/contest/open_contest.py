"""An open contest: what a command opens once and hands on to everything that runs the contest.

Only this module knows what the files in the contest's folder are called.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cardsharp.contest.contest_file import open_contest_in
from cardsharp.contest.formats.pairing import TeamId
from cardsharp.contest.models import ContestSettings, TeamEntry
from cardsharp.contest.results import ContestRecords
from cardsharp_tools.contest.contest_lock import HANDOVER_SECONDS, ContestLock, lock_contest
from cardsharp_tools.executors.strategy_reference import StrategyReference, parse_strategy
from cardsharp_tools.executors.submission import (
    TeamSubmissions,
    resolve_team_strategy,
    team_submissions,
)
from cardsharp_tools.local_play.handler_environment import Notify


@dataclass(frozen=True, slots=True)
class OpenContest:
    """Contest in a folder: its records, its files, and what its teams have submitted."""

    folder: Path
    records: ContestRecords

    @property
    def settings(self) -> ContestSettings:
        """Settings with which the contest was created."""
        return self.records.settings

    @property
    def match_log_file(self) -> Path:
        """File of the match log."""
        return self.folder.absolute() / "matches.db"

    @property
    def arena_file(self) -> Path:
        """File with the data of the contest's arena."""
        return self.folder / "arena.db"

    @property
    def log_file(self) -> Path:
        """File with the log of the command that runs the contest."""
        return self.folder / "contest.log"

    def player_log_file(self, player: TeamId) -> Path:
        """Return the file with the output of a team's process."""
        return self.folder / f"{player}.log"

    def submissions_of(self, team: TeamId) -> TeamSubmissions:
        """Return the versions that a team has submitted, which are played in a sandbox."""
        return team_submissions(self.folder, team)

    def strategy_of(self, team: TeamEntry) -> StrategyReference | None:
        """Return the strategy that plays a team's matches here, or None for a remote team."""
        if team.strategy is None:
            return None
        return resolve_team_strategy(parse_strategy(team.strategy), self.folder, team.id)


@dataclass(frozen=True, slots=True)
class LockedContest(OpenContest):
    """Open contest whose folder a command has locked, so that it alone runs the contest."""

    lock: ContestLock


@contextmanager
def open_and_lock_contest(folder: Path, command: str, notify: Notify) -> Iterator[LockedContest]:
    """Open the contest of a folder for the command that runs it.

    Raises `ConfigError` if there is no contest, or if another command runs it.
    """
    with open_contest_in(folder) as records:
        handover_timeout = records.settings.timeout + HANDOVER_SECONDS
        with lock_contest(folder, command, handover_timeout, notify) as lock:
            yield LockedContest(folder, records, lock)
