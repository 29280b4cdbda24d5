"""Limits of captain's search by the processor time that a decision has.

They are counts, and the time decides only which of them are used. It comes from the settings of a
match and not from a clock, so equal settings always give equal decisions.
"""

from cardsharp.games.deadmansdraw.strategies.search.compiled_search import find_search_library
from cardsharp.games.deadmansdraw.strategies.search.leaf_evaluator import SearchLimits

PLAIN_LIMITS = SearchLimits()
"""Limits in plain Python, where a deeper search would take seconds, and where time is short."""
DEEP_LIMITS = SearchLimits(endgame_cards=6, max_leaves=150_000)
"""Limits of the compiled search in the lab, where thousands of matches are played."""
DEEPEST_LIMITS = SearchLimits(endgame_cards=7, max_leaves=1_500_000)
"""Limits of the compiled search in a match with time; docs/strength.md says what they gain."""

# Processor time of the longest decision, with a reserve.
DEEP_CPU_SECONDS = 0.1
DEEPEST_CPU_SECONDS = 0.35


def limits_for(cpu_seconds: float | None, *, is_compiled: bool) -> SearchLimits:
    """Return the limits of a decision that has so much processor time, None if it has enough."""
    if not is_compiled:
        return PLAIN_LIMITS
    if cpu_seconds is None or cpu_seconds >= DEEPEST_CPU_SECONDS:
        return DEEPEST_LIMITS
    return DEEP_LIMITS if cpu_seconds >= DEEP_CPU_SECONDS else PLAIN_LIMITS


def local_limits(cpu_seconds: float | None) -> SearchLimits:
    """Return the limits on this machine, which has the compiled search or not."""
    return limits_for(cpu_seconds, is_compiled=find_search_library() is not None)


def lab_limits() -> SearchLimits:
    """Return the limits of a strategy to which nobody has given a time, as in the lab."""
    return local_limits(DEEP_CPU_SECONDS)
