"""Limits of captain's search by the processor time that a decision has.

They are counts, and the time decides only which of them are used. It comes from the settings of a
match and not from a clock, so equal settings always give equal decisions.
"""

from cardsharp.games.deadmansdraw.strategies.search.compiled_search import find_search_library
from cardsharp.games.deadmansdraw.strategies.search.leaf_evaluator import SearchLimits

PLAIN_LIMITS = SearchLimits()
"""Limits in plain Python, where a deeper search would take seconds, and where time is short."""
DEEP_LIMITS = SearchLimits(endgame_cards=6, max_leaves=150_000)
"""Limits of the compiled search; docs/strength.md says what they gain."""
DEEP_CPU_SECONDS = 0.1  # processor time of a deep decision at most, with a reserve


def limits_for(cpu_seconds: float | None, *, is_compiled: bool) -> SearchLimits:
    """Return the limits of a decision that has so much processor time, None if it has enough."""
    is_short = cpu_seconds is not None and cpu_seconds < DEEP_CPU_SECONDS
    return DEEP_LIMITS if is_compiled and not is_short else PLAIN_LIMITS


def local_limits(cpu_seconds: float | None = None) -> SearchLimits:
    """Return the limits on this machine, which has the compiled search or not."""
    return limits_for(cpu_seconds, is_compiled=find_search_library() is not None)
