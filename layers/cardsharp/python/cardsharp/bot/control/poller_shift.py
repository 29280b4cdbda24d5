"""Shift of a poller: its timing, and the hand-over to a later poller."""

import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cardsharp.bot.control.listening_windows import ListeningWindow
from cardsharp.core.limits import LONG_POLL_DURATION, LONG_POLL_TIMEOUT
from cardsharp.errors import StoreError

_log = logging.getLogger("cardsharp.scout")


@dataclass(frozen=True, slots=True, kw_only=True)
class PollerTiming:
    """Intervals of the poller.

    `list_interval`: minimum between two requests for the list of which the arena answers the
    first with matches, which it does at once; as long as its long poll. `min_request_interval`:
    the same after an empty answer, and where the arena permits more requests.
    `lease_check_interval`: between two checks of the leases. `long_poll_timeout`: limit of one
    request. `max_backoff`: the longest pause while the arena keeps failing. `shift_duration`:
    time until the successor is due.
    """

    list_interval: timedelta = LONG_POLL_DURATION
    min_request_interval: timedelta = timedelta(seconds=3)
    lease_check_interval: timedelta = timedelta(milliseconds=500)
    long_poll_timeout: timedelta = LONG_POLL_TIMEOUT
    max_backoff: timedelta = timedelta(seconds=30)
    shift_duration: timedelta = timedelta(minutes=1)


class PollerGenerations:
    """The generations of the poller: each start begins one, and runs until it sees a later one.

    So there is a running poller at every moment, however unevenly the schedule starts them.
    This class serves a local process, which runs one poller at a time; methods raise
    `StoreError`.
    """

    def start_generation(self) -> int:
        """Return a new generation's number, one more than the last; here always 0."""
        return 0

    def latest_generation(self) -> int:
        """Return the number of the latest generation; a late value makes a poller run longer."""
        return 0


@dataclass(slots=True)
class PollerShift:
    """Shift of one poller, after which a later one relieves it.

    At least `min_pollers` pollers listen at any time.

    They listen in the `windows` only; without any they always listen.
    """

    generations: PollerGenerations = field(default_factory=PollerGenerations)
    min_pollers: int = 1
    generation: int = 0
    windows: tuple[ListeningWindow, ...] = ()

    def start_generation(self) -> None:
        """Begin a new generation; raises `StoreError`."""
        self.generation = self.generations.start_generation()

    def is_listening_time(self, current_time: datetime) -> bool:
        """Return True if a listening window is open at this time, or if there are no windows."""
        return not self.windows or any(window.is_open(current_time) for window in self.windows)

    def is_relieved(self) -> bool:
        """Return True if `min_pollers` later pollers listen; False if that cannot be read."""
        # A poller stops only when it has seen its successors, never by a timer: schedules start
        # pollers late or not at all. If the store cannot be read it listens on, because two
        # pollers only cost requests, while a gap can cost a turn.
        try:
            return self.generations.latest_generation() - self.generation >= self.min_pollers
        except StoreError as error:
            _log.warning("%s", error)
            return False
