"""Match host of a contest at an arena of this machine, which also stores the matches."""

import logging

from cardsharp.contest.match_host import FullMatchReport
from cardsharp.errors import InvalidInput, StoreError
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.contest.arena_match_host import ArenaMatchHost, report_from_view
from cardsharp.games.deadmansdraw.history.arena_import import match_from_view
from cardsharp_tools.contest.local_match_host import sleep_between_steps
from cardsharp_tools.contest.open_contest import OpenContest
from cardsharp_tools.match_sources.match_logs import import_match, open_log

_log = logging.getLogger(__name__)


class LoggingMatchHost(ArenaMatchHost):
    """Match host of the arena that also stores each finished match in the contest's log."""

    def __init__(self, arena: ArenaClient, contest: OpenContest) -> None:
        super().__init__(arena)
        self._log = contest.match_log_file

    def match_report(self, match_id: str) -> FullMatchReport:
        """Return the report of a match with all its moves; store it if it has finished."""
        view = self.get_match_view(match_id)
        if view.finished:
            try:
                with open_log(f"sqlite:{self._log}") as log:
                    import_match(*match_from_view(view), log)
            except (StoreError, InvalidInput) as error:  # the contest goes on without it
                _log.warning("Match %s could not be stored in %s: %s", match_id, self._log, error)
        return report_from_view(view)

    def wait_for_match_end(self) -> None:
        """Wait for the usual time between two steps: the arena reports no end of a match."""
        sleep_between_steps()
