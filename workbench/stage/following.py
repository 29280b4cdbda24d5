"""Matches followed to their ends in the match log."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

from cardsharp.cloud.ports import Clock, MatchLog
from cardsharp.errors import CardsharpError

GLANCE = timedelta(milliseconds=50)
"""How often the match log is looked at."""

Glance = Callable[[Sequence[str]], None]
"""Called again and again with the ids of the matches that run."""


def has_ended(log: MatchLog, match_id: str) -> bool:
    """Whether a match is finished in the log."""
    record = log.match(match_id)
    return record is not None and record.outcome is not None


class StallGuard:
    """Notices when nothing moves any more in the matches that run."""

    _EVERY = timedelta(seconds=1)

    def __init__(self, log: MatchLog, clock: Clock, limit: timedelta) -> None:
        self._log = log
        self._clock = clock
        self._limit = limit
        self._moves: tuple[int, ...] = ()
        self._moved = self._looked = clock.monotonic()

    def check(self, running: Sequence[str]) -> None:
        """Raise `CardsharpError` if the number of moves has stood still for too long."""
        now = self._clock.monotonic()
        if now - self._looked < self._EVERY.total_seconds():
            return
        self._looked = now
        moves = tuple(len(self._log.moves(match_id)) for match_id in running)
        if moves != self._moves:
            self._moves, self._moved = moves, now
        elif now - self._moved > self._limit.total_seconds():
            raise CardsharpError(
                f"No move was made for {self._limit.total_seconds():g} s in {', '.join(running)}."
            )


def until_ended(
    log: MatchLog, clock: Clock, matches: Sequence[str], glance: Glance, stall: StallGuard
) -> Iterator[str]:
    """The ids of `matches` as they end.

    Raises:
        CardsharpError: no move was made for too long.
    """
    running = list(matches)
    while running:
        clock.sleep(GLANCE)
        glance(tuple(running))
        for match_id in [i for i in running if has_ended(log, i)]:
            running.remove(match_id)
            yield match_id
        stall.check(running)
