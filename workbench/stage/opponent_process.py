"""The opponent as its parent sees it: started, watched, ended."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cardsharp.errors import CardsharpError, ConfigError
from workbench.child import Child
from workbench.stage.opponent import Order
from workbench.strategy_file import called

US = ("111111111111111111111111", "teamonepass")
OPPONENT = ("222222222222222222222222", "teamtwopass")
"""Two players of the local arena, whose passwords are public."""


class OpponentProcess:
    """An opponent at play; `check` tells if it has ended although nobody asked it to."""

    def __init__(self, order: Order, log: Path) -> None:
        self._name = called(order.strategy)
        self._log = log
        with log.open("wb") as errors:
            self._child = Child("workbench.stage.opponent", order.line(), errors)

    def await_ready(self) -> None:
        """Wait until it is about to ask the arena; raises `ConfigError` if it cannot play."""
        if not self._child.gets_ready():
            self._child.process.wait()
            raise ConfigError(self._last_words())

    def check(self) -> None:
        """Raise `CardsharpError` with its last words if it has ended."""
        if self._child.has_ended():
            raise CardsharpError(self._last_words())

    def end(self) -> None:
        """Kill it and wait for its end; quiet if it has ended."""
        self._child.kill()

    def _last_words(self) -> str:
        lines = self._log.read_text(errors="replace").strip().splitlines()
        words = (
            lines[-1].removeprefix("cardsharp: ")
            if lines
            else f"it ended with {self._child.process.returncode}"
        )
        return f"The opponent '{self._name}' cannot play: {words}"


@contextmanager
def opponent_at_play(order: Order, log: Path) -> Iterator[OpponentProcess]:
    """An opponent between its start and its end; not yet ready."""
    process = OpponentProcess(order, log)
    try:
        yield process
    finally:
        process.end()


@contextmanager
def steady_at(url: str, folder: Path) -> Iterator[None]:
    """Have the local arena's second team play `steady` there, ready; its log is in `folder`."""
    with opponent_at_play(Order(url, *OPPONENT, "steady"), folder / "opponent.log") as opponent:
        opponent.await_ready()
        yield
