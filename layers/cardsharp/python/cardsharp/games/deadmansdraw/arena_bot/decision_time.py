"""Processor time that a decision has, by the settings of the match and of this process.

It never depends on a clock: a strategy that searches further with more time has to decide equally
in every repetition of a match.
"""

import os
from datetime import timedelta

DECISION_SHARE = 0.5  # share of the time limit that decisions may use; requests take the rest
REQUESTS_PER_DECISION = 2  # the action, and a view of the match if its answer is lost
ONE_CPU_MEMORY_MB = 1769  # memory with which a Lambda function has one whole processor
MEMORY_VARIABLE = "AWS_LAMBDA_FUNCTION_MEMORY_SIZE"


def cpu_seconds_for_decision(
    turn_limit: timedelta | None,
    requests_left: int = REQUESTS_PER_DECISION,
    memory_mb: int = ONE_CPU_MEMORY_MB,
) -> float | None:
    """Return the processor time of a decision in seconds, None if it is not limited.

    `turn_limit` is the time from one move to the next. It has to suffice for `requests_left`
    requests, each of which may need another decision. A Lambda function with `memory_mb` has a
    share of a processor in proportion.
    """
    if turn_limit is None:
        return None
    processor_share = min(1.0, memory_mb / ONE_CPU_MEMORY_MB)
    return turn_limit.total_seconds() * DECISION_SHARE * processor_share / requests_left


def memory_of_this_function() -> int:
    """Return the memory of this Lambda function in MB; elsewhere that of a whole processor."""
    memory_text = os.environ.get(MEMORY_VARIABLE, "")
    return int(memory_text) if memory_text.isdecimal() else ONE_CPU_MEMORY_MB
