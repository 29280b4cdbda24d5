"""For how long matches have stood as they are, by the clock of whoever looks at them.

Machines do not agree on the time, and a clock can be an hour wrong. So nobody reads a moment that
another machine has written: a lease or an announcement is over when an onlooker has seen it
unchanged for as long as it lasts, by its own clock, from its own first look.
"""

from collections.abc import Container
from datetime import timedelta

from cardsharp.cloud.ports import MatchRecord, Outwaited


class Onlooker:
    """What one process has seen, and since when, in its own monotonic seconds."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, float]] = {}

    def idle(self, match: MatchRecord, now: float) -> timedelta:
        """For how long, at least, nothing was written of a match that was just read."""
        beat, since = self._seen.get(match.match_id, (match.beat, now))
        self._seen[match.match_id] = match.beat, since if beat == match.beat else now
        return timedelta(seconds=now - self._seen[match.match_id][1])

    def outwaited(self, match: MatchRecord, now: float) -> Outwaited | None:
        """That nobody attends a match that was just read, None where somebody may."""
        idle = self.idle(match, now)
        return Outwaited(match.beat, idle) if match.ttl is None or idle >= match.ttl else None

    def forget_all_but(self, ids: Container[str]) -> None:
        """Forget the matches that nobody looks at any more."""
        self._seen = {name: seen for name, seen in self._seen.items() if name in ids}
