"""A contest's course: practice while it is open, what is left of it, and then the contest itself.

At home a command takes the steps, in the cloud the ticks of a director do.
"""

from collections.abc import Callable, Iterable
from datetime import datetime

from cardsharp.contest.director import Director
from cardsharp.contest.entries import Stage
from cardsharp.contest.meetings import Meeting
from cardsharp.contest.practice import Practice
from cardsharp.contest.records import Records
from cardsharp.contest.tables import PracticeHost


class Course:
    """One contest's course; it remembers nothing that matters, like those who take its steps."""

    def __init__(
        self, records: Records, tables: PracticeHost, clock: Callable[[], datetime]
    ) -> None:
        self._records, self._tables, self._clock = records, tables, clock
        self._practice: Practice | None = None
        self._director = Director(records, tables, clock)

    @property
    def meetings(self) -> Iterable[Meeting]:
        """The matches of practice that have ended, in the order in which that was seen."""
        return self._practice.meetings if self._practice else self._records.meetings()

    def step(self) -> bool:
        """Take a step; whether more is to come before an organiser acts.

        Raises:
            ArenaError: the host failed, and the step may have had its effect or not.
        """
        until = self._records.practises_until
        if until is None:
            return self._records.stage is not Stage.OPEN and not self._director.step()
        if self._practice is None:
            self._practice = Practice(self._records, self._tables, self._clock)
        goes_on = self._clock() < until
        if self._practice.step(begin=goes_on) and not goes_on:
            self._records.practise(None)
        return True
