"""Commands run as programs, with all their child processes, identified by a variable."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from cardsharp_tools.cli.exit_codes import handle_signals

WATCHDOG = 280.0
"""Seconds after which a test fails that would wait for ever, whatever else the machine does."""

# Strategy files and programs get only variables that `clean_environment` allows.
_MARK = "PYTHON_TEST_MARK"


@dataclass
class RunningCommand:
    """Running command; its output comes through `pipe`."""

    process: "subprocess.Popen[bytes]"
    marker: str
    pipe: int
    output: str = ""

    def wait_for_exit_code(self) -> int:
        """Wait for the end, and return the exit code."""
        return self.process.wait(WATCHDOG)

    def wait_for_output(self, text: str) -> None:
        """Wait until the output contains these words; fail if the command ends first."""
        while text not in self.output:
            assert select.select([self.pipe], [], [], WATCHDOG)[0], self.output
            chunk = os.read(self.pipe, 1 << 16)
            assert chunk, self.output
            self.output += chunk.decode(errors="replace")

    def read_output(self) -> str:
        """Return all output so far."""
        while select.select([self.pipe], [], [], 0)[0] and (chunk := os.read(self.pipe, 1 << 16)):
            self.output += chunk.decode(errors="replace")
        return self.output

    def container_init_process(self) -> int:
        """Return the process that has number 1 in its container."""
        [first_process] = [process for process in self._processes() if _is_container_init(process)]
        return first_process

    def remaining_processes(self) -> list[str]:
        """Return the command lines of processes that do not end; wait for those that do."""
        while processes := self._processes():
            if not all(_wait_for_process_end(process) for process in processes):
                return [_proc_file(process, "cmdline").replace("\0", " ") for process in processes]
        return []

    def kill(self) -> None:
        """Kill the command and all its child processes, including new ones."""
        while processes := self._processes():
            for process in processes:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
                _wait_for_process_end(process)
            self.process.wait()

    def _processes(self) -> list[int]:
        numbers = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal())
        return [
            number
            for number in numbers
            if f"{_MARK}={self.marker}" in _proc_file(number, "environ")
        ]


def _proc_file(process: int, name: str) -> str:
    with suppress(OSError):  # it has ended
        return Path(f"/proc/{process}/{name}").read_text(errors="replace")
    return ""


def first_decision_signal(folder: Path) -> tuple[Path, str]:
    """Return a pipe, and strategy code that opens and closes it at the first decision."""
    pipe = folder / "plays"
    os.mkfifo(pipe)
    signal_code = f"setattr(Mine, 'told', open({str(pipe)!r}, 'w')), Mine.told.close()"
    return pipe, f"getattr(Mine, 'told', 0) or ({signal_code})"


def _is_container_init(process: int) -> bool:
    """Return True if a process is number 1 in its container, and another number here."""
    numbers = _proc_file(process, "status").partition("NSpid:")[2].partition("\n")[0].split()
    return len(numbers) > 1 and numbers[-1] == "1"


def _wait_for_process_end(process: int) -> bool:
    """Wait for the end of a process; return False if it does not end."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], WATCHDOG / 8)[0])
    finally:
        os.close(descriptor)


@contextmanager
def run_command(
    folder: Path, *arguments: str, prefix: Sequence[str] = ()
) -> Iterator[RunningCommand]:
    """Run a command with its data in the folder; kill it and all its child processes at the end.

    `prefix` is put before the command, such as a program that starts it in a container.
    """
    marker, (pipe, output) = uuid4().hex, os.pipe()
    # Else a command would ignore what whoever started the tests has them ignore, as nohup does.
    with handle_signals(lambda *_: None, signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen(  # noqa: S603 - our own command
            [*prefix, sys.executable, "-m", "cardsharp_tools.cli", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, "XDG_DATA_HOME": str(folder / "home"), _MARK: marker},
            start_new_session=True,
        )
    os.close(output)
    run = RunningCommand(process, marker, pipe)
    try:
        yield run
    finally:
        run.kill()
        os.close(pipe)
