"""A process of ours that ends with us, however we die: its stdin is the line it hangs on.

It reads one line of orders, says READY when it is ready, and ends when its stdin does.
"""

import os
import subprocess
import sys
import threading
from contextlib import suppress
from typing import BinaryIO

from workbench.process import pipe_of

READY = "ready"


class Child:
    """The process as its parent sees it: a module of ours, told its orders."""

    def __init__(self, module: str, orders: str, errors: BinaryIO) -> None:
        self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
            # A Ctrl-C at the terminal stops us, and we stop the process.
            start_new_session=True,
        )
        # If it is dead already, waiting for it to be ready says so.
        with suppress(BrokenPipeError):
            pipe_of(self.process.stdin).write(orders + "\n")
            pipe_of(self.process.stdin).flush()

    def gets_ready(self) -> bool:
        """Wait until it is ready; False where it ends instead."""
        return pipe_of(self.process.stdout).readline().strip() == READY

    def kill(self) -> None:
        """End it as a power cut does, and wait for its end; quiet if it has ended."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            pipe_of(pipe).close()


def read_orders() -> str:
    """The orders of this process, which from now on ends with its parent."""
    stdin = sys.stdin.buffer  # what the parent writes is UTF-8, whatever the terminal has
    orders = stdin.readline().decode()
    threading.Thread(target=lambda: (stdin.read(), os._exit(0)), daemon=True).start()
    return orders


def say_ready() -> None:
    """Tell the parent."""
    print(READY, flush=True)  # noqa: T201 - what the parent waits for
