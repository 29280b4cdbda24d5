"""The line before the processor: who comes when, and when it says that no more can be kept up."""

import threading
from datetime import timedelta

import pytest
from support.cloud_clock import FakeClock

from cardsharp.cloud.line import Line

TENTH = timedelta(seconds=0.1)


class Crowd:
    """People who stand in a line one after the other and leave when they are told to."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.served: list[int] = []
        self._go = [threading.Event() for _ in range(100)]
        self._in = [threading.Event() for _ in range(100)]
        self._threads: list[threading.Thread] = []

    def come(self, number: int) -> None:
        """Bring that many, each once the one before stands in line or has a place."""
        for _ in range(number):
            who, before = len(self._threads), self.line.wait
            thread = threading.Thread(target=self._stand, args=(who,), daemon=True)
            self._threads.append(thread)
            thread.start()
            while self.line.wait == before and not self._in[who].wait(0.001):
                pass

    def _stand(self, who: int) -> None:
        with self.line.place():
            self.served.append(who)
            self._in[who].set()
            self._go[who].wait(30)

    def leave(self, who: int) -> None:
        """Let one that has a place leave it."""
        assert self._in[who].wait(30)
        self._go[who].set()
        self._threads[who].join(30)


def test_a_line_serves_so_many_at_a_time_and_in_the_order_in_which_they_came() -> None:
    crowd = Crowd(Line(FakeClock(), places=2))
    crowd.come(6)
    assert sorted(crowd.served) == [0, 1]
    for who in range(6):
        crowd.leave(who)
    assert crowd.served == [0, 1, 2, 3, 4, 5]


def test_a_place_is_free_again_after_a_failure() -> None:
    line = Line(FakeClock(), places=1)
    for _ in range(3):
        with pytest.raises(RuntimeError), line.place():
            raise RuntimeError
    assert line.wait == timedelta(0)


def test_a_line_that_has_become_slow_keeps_no_more_up() -> None:
    clock = FakeClock()
    line = Line(clock, places=1, bearable=timedelta(seconds=1))
    crowd = Crowd(line)
    crowd.come(60)
    assert line.keeps_up  # 59 wait, at 10 ms each
    for who in range(20):
        clock.advance(TENTH)
        crowd.leave(who)
    assert not line.keeps_up  # 39 wait, at nearly 100 ms each
    assert timedelta(seconds=2) < line.wait < timedelta(seconds=4)
    for who in range(20, 60):
        crowd.leave(who)
    assert line.keeps_up
    assert line.wait == timedelta(0)
