"""A process of ours that ends with us, however we die: its stdin is the line it hangs on.

It reads one line of orders, says READY when it is ready, and ends when its stdin does.
"""

import os
import subprocess
import sys
import threading
from contextlib import suppress
from typing import BinaryIO

from cardsharp_tools.executors.clean_environment import pass_variables, passed_variables
from cardsharp_tools.executors.line_process import require_pipe

READY = "ready"


class ChildProcess:
    """Parent's handle of a child process that runs a module and gets its parameters on stdin."""

    def __init__(self, module: str, orders: str, errors: BinaryIO) -> None:
        self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-m", module, *passed_variables()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
            # A Ctrl-C at the terminal stops us, and we stop the process.
            start_new_session=True,
        )
        # If it is dead already, waiting for it to be ready says so.
        with suppress(BrokenPipeError):
            require_pipe(self.process.stdin).write(orders + "\n")
            require_pipe(self.process.stdin).flush()

    def wait_until_ready(self) -> bool:
        """Wait until the process is ready; return False if it ends instead."""
        return require_pipe(self.process.stdout).readline().strip() == READY

    def kill(self) -> None:
        """Kill the process and wait for its end; do nothing if it has ended."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            require_pipe(pipe).close()


def read_parameters() -> str:
    """Return this process's parameters from stdin; from then on it ends with its parent.

    The arguments of its command name the variables that strategies of users may see.
    """
    pass_variables(sys.argv[1:])
    stdin = sys.stdin.buffer  # what the parent writes is UTF-8, whatever the terminal has
    orders = stdin.readline().decode()
    threading.Thread(target=_exit_at_eof, args=(stdin.fileno(),), daemon=True).start()
    return orders


def _exit_at_eof(descriptor: int) -> None:
    """End this process when a file ends.

    Read the descriptor past the file's buffer, because an interpreter that ends crashes over
    the lock of that buffer.
    """
    while os.read(descriptor, 1 << 16):
        pass
    os._exit(0)


def signal_ready() -> None:
    """Tell the parent process that this process is ready."""
    print(READY, flush=True)  # noqa: T201 - what the parent waits for
