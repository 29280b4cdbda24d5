"""The pages of a deployed match log, watched while a match is played: how late each step comes."""

import http.client
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from statistics import median
from typing import Protocol

from cardsharp.cloud.dynamodb import DynamoLog
from cardsharp.cloud.ports import Clock
from cardsharp.errors import CardsharpError
from cardsharp.viewer.assembly import PAUSE

LOOK = timedelta(milliseconds=20)
"""How often the log itself is looked at."""


class PageRequest(Protocol):
    """One request to the pages: its status, headers by their lower-case names, and text."""

    def __call__(
        self, method: str, target: str, body: str | None = None, cookie: str = ""
    ) -> tuple[int, Mapping[str, str], str]:
        """Send it."""
        ...


@dataclass(frozen=True, slots=True)
class Watched:
    """For each step how long after its move was in the log it was on the page."""

    delays: list[timedelta]
    answers: int

    def __str__(self) -> str:
        seconds = [one.total_seconds() for one in self.delays]
        return (
            f"{len(seconds)} steps in {self.answers} answers, on the page {median(seconds):.2f} s "
            f"after they were in the log (median; {max(seconds):.2f} s at most)"
        )


@dataclass
class _Looking:
    """A second thread, which notes when each move comes into the log."""

    log: DynamoLog
    match_id: str
    clock: Clock
    came: list[float] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Look until it is over."""
        while not self.clock.wait(self.over, LOOK):
            played = self.log.last_move(self.match_id) + 1
            self.came += [self.clock.monotonic()] * (played - len(self.came))


def entered(ask: PageRequest, password: str) -> str:
    """The cookie that the password brings; a stranger and a wrong password were refused before.

    Raises:
        CardsharpError: the pages answered otherwise.
    """
    for method, body in (("GET", None), ("POST", "password=wrong")):
        status, _, told = ask(method, "/matches", body)
        if status != http.client.FORBIDDEN:
            raise CardsharpError(f"A stranger was answered {status}: {told[:200]}")
    status, headers, told = ask("POST", "/matches", f"password={password}")
    if status != http.client.SEE_OTHER:
        raise CardsharpError(f"The password was answered {status}: {told[:200]}")
    return headers["set-cookie"].partition(";")[0]


def watch(ask: PageRequest, cookie: str, log: DynamoLog, match_id: str, clock: Clock) -> Watched:
    """Look at a match as its page does, until it is over.

    Raises:
        CardsharpError: the pages refused.
    """
    looking = _Looking(log, match_id, clock)
    beside = threading.Thread(target=looking.run)
    beside.start()
    try:
        shown, answers = _shown(ask, cookie, match_id, clock)
    finally:
        looking.over.set()
        beside.join()
    late = [on_page - in_log for on_page, in_log in zip(shown, looking.came, strict=False)]
    return Watched([timedelta(seconds=max(0.0, one)) for one in late], answers)


def _shown(ask: PageRequest, cookie: str, match_id: str, clock: Clock) -> tuple[list[float], int]:
    """When each step was shown, and how many answers there were."""
    shown: list[float] = []
    answers = 0
    while True:
        target = f"/matches/{match_id}/steps?from={len(shown)}&wait=1"
        status, _, text = ask("GET", target, cookie=cookie)
        answers += 1
        if status == http.client.NOT_FOUND:  # nobody has taken it up yet
            clock.sleep(LOOK)
            continue
        if status != http.client.OK:
            raise CardsharpError(f"The page's script was answered {status}: {text[:200]}")
        told = json.loads(text)
        shown += [clock.monotonic()] * len(told["steps"])
        if told["over"]:
            return shown, answers
        if not told["steps"]:
            clock.sleep(PAUSE)
