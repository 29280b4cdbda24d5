"""CloudWatch's statistics of the values in one period."""

import math
from collections.abc import Callable, Sequence

from cardsharp.errors import ConfigError

Values = Sequence[float]

_STATISTICS: dict[str, Callable[[Values], float]] = {
    "Sum": sum,
    "Maximum": max,
    "Minimum": min,
    "Average": lambda values: sum(values) / len(values),
    "SampleCount": lambda values: float(len(values)),
}


def statistic(name: str, values: Values) -> float | None:
    """The statistic of a period's values; None where the period has none.

    Raises:
        ConfigError: it is none that we know.
    """
    if not values:
        return None
    if name in _STATISTICS:
        return float(_STATISTICS[name](values))
    if name.startswith("p") and name[1:].replace(".", "", 1).isdigit():
        return _percentile(values, float(name[1:]))
    raise ConfigError(f"The statistic {name} is not known here; add it to {__name__}.")


def _percentile(values: Values, percent: float) -> float:
    """The value below or at which that part of all values lies."""
    ordered = sorted(values)
    rank = math.ceil(percent / 100 * len(ordered))
    return ordered[max(rank, 1) - 1]
