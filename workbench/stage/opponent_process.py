"""The opponent as its parent sees it: started, watched, ended."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cardsharp.errors import CardsharpError, ConfigError
from workbench.stage.opponent import READY, Order


class OpponentProcess:
    """An opponent at play; `check` tells if it has ended although nobody asked it to."""

    def __init__(self, order: Order, log: Path) -> None:
        self._name = order.strategy
        self._log = log
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "workbench.stage.opponent"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                # A Ctrl-C at the terminal stops us, and we stop the opponent.
                start_new_session=True,
            )
        self._send(order)

    @property
    def pid(self) -> int:
        """The process's id, for measuring it."""
        return self._process.pid

    def await_ready(self) -> None:
        """Wait until it is about to ask the arena; raises `ConfigError` if it cannot play."""
        if self._process.stdout is None or self._process.stdout.readline().strip() != READY:
            self._process.wait()
            raise ConfigError(self._last_words())

    def check(self) -> None:
        """Raise `CardsharpError` with its last words if it has ended."""
        if self._process.poll() is not None:
            raise CardsharpError(self._last_words())

    def end(self) -> None:
        """Kill it and wait for its end; quiet if it has ended."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _send(self, order: Order) -> None:
        # If it is dead already, waiting for it to be ready says why.
        with suppress(BrokenPipeError):
            if self._process.stdin is not None:
                self._process.stdin.write(order.line())
                self._process.stdin.flush()

    def _last_words(self) -> str:
        lines = self._log.read_text(errors="replace").strip().splitlines()
        words = lines[-1] if lines else f"it ended with {self._process.returncode}"
        return f"The opponent '{self._name}' cannot play: {words}"


@contextmanager
def opponent_at_play(order: Order, log: Path) -> Iterator[OpponentProcess]:
    """An opponent between its start and its end; not yet ready."""
    process = OpponentProcess(order, log)
    try:
        yield process
    finally:
        process.end()
