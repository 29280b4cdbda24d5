"""Failures of the teams' code, which are stored and reported to the organiser."""

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime

from cardsharp.contest.formats.pairing import TeamId
from cardsharp.core.clock import utc_now
from cardsharp.errors import StoreError
from cardsharp_tools.contest.open_contest import OpenContest
from cardsharp_tools.executors.sandbox_supervisor import escape_control_chars

_log = logging.getLogger(__name__)


class TeamFailureReporter:
    """Reporter of teams' failures to the organiser, which also stores them."""

    def __init__(self, contest: OpenContest, clock: Callable[[], datetime] = utc_now) -> None:
        self._contest, self._clock = contest, clock

    def __call__(self, team: TeamId, fault: object, did: str = "failed") -> None:
        """Report a failure of a team's code, or something else that it `did`."""
        message = escape_control_chars(str(fault).splitlines()[0])
        records = self._contest.records
        with suppress(StoreError):  # the warning below reports it in any case
            records.add_team_fault(team, message, self._clock())
        _log.warning("%s %s: %s", records.team_names_with_removed().get(team, team), did, message)

    def report_sandbox_violations(self, teams: Iterable[TeamId]) -> None:
        """Report what the sandboxes of these teams have refused."""
        for team in teams:
            for violation in self._contest.submissions_of(team).take_sandbox_violations():
                self(team, violation, "broke a rule of the sandbox")

    def report_all_sandbox_violations(self) -> None:
        """Report what the sandboxes of all teams have refused."""
        self.report_sandbox_violations(entry.id for entry in self._contest.records.teams())
