"""The line before the processor: who comes when, and how many it bears."""

import threading
from datetime import timedelta

import pytest
from support.cloud_clock import FakeClock

from cardsharp.cloud.line import Line


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

    def has_place(self, who: int) -> bool:
        """Whether one gets a place within half a minute."""
        return self._in[who].wait(30)

    def leave(self, who: int) -> None:
        """Let one that has a place leave it."""
        assert self.has_place(who)
        self._go[who].set()
        self._threads[who].join(30)


def test_a_line_serves_so_many_at_a_time_and_in_the_order_in_which_they_came() -> None:
    crowd = Crowd(Line(FakeClock(), places=2))
    crowd.come(6)
    assert crowd.served == [0, 1]
    for who in range(4):
        crowd.leave(who)
        assert crowd.has_place(who + 2)
    assert crowd.served == [0, 1, 2, 3, 4, 5]
    crowd.leave(4)
    crowd.leave(5)


def test_a_place_is_free_again_after_a_failure() -> None:
    line = Line(FakeClock(), places=1)
    for _ in range(3):
        with pytest.raises(RuntimeError), line.place():
            raise RuntimeError
    assert line.wait == timedelta(0)


def test_how_many_matches_a_line_bears_follows_from_its_pace() -> None:
    clock = FakeClock()
    line = Line(clock, places=1, bearable=timedelta(seconds=4))
    crowd = Crowd(line)
    assert line.bears(200)
    assert not line.bears(201)  # before anything was seen, 20 ms each
    crowd.come(90)
    for who in range(45):
        clock.advance(timedelta(seconds=1))
        crowd.leave(who)
    assert not line.bears(25)  # a second each of late
    assert line.bears(15)
    for who in range(45, 90):
        crowd.leave(who)
    assert line.bears(20)  # no time passed: better again
