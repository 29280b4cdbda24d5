"""Limits and durations that several packages share, each named for what it bounds."""

from datetime import timedelta

LONG_POLL_DURATION = timedelta(seconds=30)
"""The longest time for which an arena holds a long poll back (docs/spec/arena.md section 4)."""

LONG_POLL_TIMEOUT = LONG_POLL_DURATION + timedelta(seconds=10)
"""The time after which a client gives a long poll up; above the arena's duration."""

DECISION_TIMEOUT = timedelta(seconds=2)
"""The limit of one decision: on the clock at an arena, of processor time on a user's machine."""

MATCHES_PER_PAGE = 50
"""The matches on one page of a list."""

MAX_PRACTICE_MATCHES = 100
"""The practice matches that one order may ask for."""
