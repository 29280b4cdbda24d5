"""Hints about the strategy files of a command, each of which is printed once at its end.

Their worker processes detect the habits (`strategy_habits`); slowness shows here. Every command
asks for hints, so this module imports little.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from cardsharp.core.limits import DECISION_TIMEOUT

SLOW_MEDIAN = 0.1  # seconds of a decision from which a strategy is called slow
SLOW_MAX = DECISION_TIMEOUT.total_seconds() / 2  # the same of its slowest decision

_MAX_DECISION_TIMES = 10_000  # decisions whose times are stored


@dataclass
class StrategyFileHabits:
    """Observations of one file: hints from its process, and the seconds of its decisions."""

    hints: dict[str, None] = field(default_factory=dict)
    seconds: deque[float] = field(default_factory=lambda: deque(maxlen=_MAX_DECISION_TIMES))


_habits_by_file: defaultdict[str, StrategyFileHabits] = defaultdict(StrategyFileHabits)


def record_decision(name: str, duration_seconds: float, hints: Iterable[str]) -> None:
    """Record the seconds and hints of one decision of a file of that name."""
    habits = _habits_by_file[name]
    habits.seconds.append(duration_seconds)
    habits.hints.update(dict.fromkeys(hints))


def take_hints() -> Iterator[str]:
    """Yield the hints about all files, and clear them."""
    while _habits_by_file:
        name, habits = _habits_by_file.popitem()
        yield from habits.hints
        from statistics import median  # noqa: PLC0415 - slow to import

        middle, longest = median(habits.seconds), max(habits.seconds)
        if middle >= SLOW_MEDIAN or longest >= SLOW_MAX:
            yield (
                f"{name} is slow: half of its decisions took {middle:.2f} s or more, the slowest "
                f"{longest:.2f} s. A decision may take {DECISION_TIMEOUT.total_seconds():g} s, and "
                "a whole turn may take 10 s at most arenas. A late decision is replaced by a safe "
                "action."
            )
