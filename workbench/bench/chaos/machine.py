"""A machine of ours: poller, queue and workers in one process, which can be frozen and killed.

`python -m workbench.bench.chaos.machine` reads its orders, one line of JSON, from stdin, says
READY on stdout and attends matches until stdin ends. So it ends with its parent, however that dies.
Its settings are those of its environment.
"""

import json
import os
import random
import signal
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path

import requests
from requests.adapters import HTTPAdapter

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.hold import Hold
from cardsharp.cloud.messages import MatchMessage
from cardsharp.cloud.ports import Body
from cardsharp.deadmansdraw.assembly import Assembly
from cardsharp.deadmansdraw.game import GAME
from cardsharp.errors import CardsharpError, StoreError
from workbench.child import Child, read_orders, say_ready
from workbench.stage.side import HomeRhythm, assembled, attending
from workbench.stage.surroundings import telemetry_in

INHERITED = ("PATH", "PYTHONPATH", "HOME")
"""What a machine gets of our environment; nothing of anybody's settings."""

MEANT = "X-Meant"
"""The header by which an action tells for which move it was meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """How a machine is run; times in seconds.

    Its clock is `skew` ahead, and every `repeat` it gets some running match's message again.
    """

    log: str
    at_once: int
    breath: float
    skew: float = 0
    repeat: float = 5


class Machine:
    """The process as its parent sees it."""

    def __init__(self, orders: Orders, variables: Mapping[str, str]) -> None:
        self.orders = orders
        inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
        told = json.dumps(asdict(orders))
        with Path(orders.log).with_suffix(".err").open("ab") as errors:
            self._child = Child(__name__, told, errors, {**inherited, **variables})

    def await_ready(self) -> None:
        """Wait until it attends matches; raises `CardsharpError` if it does not."""
        if not self._child.gets_ready():
            raise CardsharpError(f"A machine did not start; see {self.orders.log} and its .err.")

    def check(self) -> None:
        """Raise `CardsharpError` if it has ended although nobody killed it."""
        if self._child.has_ended():
            raise CardsharpError(f"A machine has ended by itself; see {self.orders.log}.")

    def kill(self) -> None:
        """End it as a power cut does."""
        self._child.kill()

    def freeze(self) -> None:
        """Stop it in the middle of whatever it does."""
        self._child.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self._child.process.send_signal(signal.SIGCONT)

    @property
    def pid(self) -> int:
        """The id of its process."""
        return self._child.process.pid


def main() -> None:
    """Attend matches as the orders on stdin say."""
    orders = Orders(**json.loads(read_orders()))
    _set_clocks_ahead(timedelta(seconds=orders.skew))
    _tell_what_is_meant()
    rhythm = HomeRhythm(at_once=orders.at_once, breath=timedelta(seconds=orders.breath))
    with (
        telemetry_in(Path(orders.log)),
        assembled(dict(os.environ)) as assembly,
        attending(assembly, rhythm),
    ):
        say_ready()
        while True:
            threading.Event().wait(orders.repeat)
            _repeat_a_message(assembly)


def _repeat_a_message(assembly: Assembly) -> None:
    """Put the message of some running match on the queue again, as a standard queue may."""
    try:
        running = assembly.log.running()
        if running:
            match_id = random.choice(running).match_id
            assembly.queue.send(MatchMessage(match_id=match_id, game=GAME.name).body)
    except StoreError:
        return


def _set_clocks_ahead(by: timedelta) -> None:
    """Let every clock of this process be wrong."""
    right = SystemClock.now

    def now(self: SystemClock) -> datetime:
        return right(self) + by

    SystemClock.now = now  # type: ignore[method-assign]


def _tell_what_is_meant() -> None:
    """Let every action name the move for which it was meant, so that its arrival can be judged."""
    meant, intend = threading.local(), Hold.intend

    def remember(hold: Hold, sequence: int, intent: Body) -> bool:
        meant.sequence = sequence
        return intend(hold, sequence, intent)

    def add_headers(
        _adapter: HTTPAdapter, request: requests.PreparedRequest, **_settings: object
    ) -> None:
        if request.method == "POST":
            request.headers[MEANT] = str(getattr(meant, "sequence", None))

    Hold.intend = remember  # type: ignore[method-assign, assignment]
    HTTPAdapter.add_headers = add_headers  # type: ignore[method-assign, assignment]


if __name__ == "__main__":
    main()
