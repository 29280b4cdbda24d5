"""The rate slow-down: who asks more than the limit waits, ever longer, never refused."""

from datetime import timedelta

import pytest
from support.arena import HandClock

from cardsharp.deadmansdraw.arena.slowdown import PER_USER, SlowDown


def test_the_measured_delays() -> None:
    """docs/spec/arena.md section 2: request 101 waits 0.1 s, 106 0.6 s, 121 2.1 s, at most 10 s."""
    slow = SlowDown(PER_USER, HandClock())
    delays = [slow.count("key").delay.total_seconds() for _ in range(400)]
    assert delays[:100] == [0] * 100
    assert [delays[n - 1] for n in (101, 106, 111, 121)] == pytest.approx([0.1, 0.6, 1.1, 2.1])
    assert delays[-1] == 10


def test_a_window_is_fixed_and_ends() -> None:
    """60 s after its first request the count begins again, however many came in between."""
    clock = HandClock()
    slow = SlowDown(1, clock)
    slow.count("key")
    clock.turn(timedelta(seconds=59))
    assert slow.count("key").delay > timedelta(0)
    clock.turn(timedelta(seconds=1))
    assert slow.count("key").delay == timedelta(0)


def test_ended_windows_are_forgotten() -> None:
    """Ten thousand addresses that came once do not stay in memory."""
    clock = HandClock()
    slow = SlowDown(1, clock)
    for number in range(10_000):
        slow.count(str(number))
    clock.turn(timedelta(minutes=1))
    slow.count("another")
    assert len(slow._counts) == 1
