"""Matches followed to their ends in the match log."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import islice

from cardsharp.cloud.ports import Clock, MatchLog
from cardsharp.errors import CardsharpError

GLANCE = timedelta(milliseconds=50)  # how often the match log is looked at
Glance = Callable[[Sequence[str]], None]  # told again and again which matches run


class Follower:
    """Follows matches to their ends; for `limit` it may be that nothing moves in those that run."""

    _EVERY = timedelta(seconds=1)

    def __init__(self, log: MatchLog, clock: Clock, limit: timedelta) -> None:
        self._log, self._clock, self._limit = log, clock, limit
        self._moves: tuple[int, ...] = ()
        self._moved = self._looked = clock.monotonic()

    def as_they_end(
        self,
        matches: Iterable[str],
        at_once: int,
        glance: Glance = lambda _running: None,
        check: Callable[[], None] = lambda: None,
    ) -> Iterator[str]:
        """The ids as matches end, so many `at_once`; `check` or a standstill may raise."""
        running = list(islice(matches := iter(matches), at_once))
        while running:
            self._clock.sleep(GLANCE)
            glance(tuple(running))
            found = [(match_id, self._log.match(match_id)) for match_id in running]
            for match_id in [i for i, match in found if match and match.outcome is not None]:
                running.remove(match_id)
                yield match_id
                running += islice(matches, 1)
            check()
            self._check(running)

    def _check(self, running: Sequence[str]) -> None:
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
