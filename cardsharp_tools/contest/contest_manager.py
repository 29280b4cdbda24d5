"""The organiser's contests on this machine, and the commands that run them."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cardsharp.contest.contest_file import CONTEST_FILE_NAME, create_contest_in, open_contest_in
from cardsharp.contest.models import ContestSettings
from cardsharp.contest.results import ContestRecords
from cardsharp.core.private_files import ensure_private_file
from cardsharp.errors import ConfigError
from cardsharp_tools.cli.options import ArenaServerOptions
from cardsharp_tools.contest.contest_arena import DEFAULT_LISTEN_OPTIONS
from cardsharp_tools.contest.contest_lock import HANDOVER_SECONDS, LockHolder, lock_holder
from cardsharp_tools.executors.clean_environment import passed_variables

CONSOLE_LOG = "console.log"  # output of a command that was started from the page
COMMAND_POLL_SECONDS = 0.05  # seconds between two checks whether a command has begun or ended
COMMAND_START_TIMEOUT_SECONDS = (
    120.0  # seconds within which a command must begin, or end after a kill
)
STOP_TIMEOUT_SECONDS = 10.0  # seconds after Ctrl-C until a command is killed


@dataclass(frozen=True, slots=True)
class ContestManager:
    """Manager of the contests in the folders below `root`; one arena at a time runs."""

    root: Path
    listen_options: ArenaServerOptions = DEFAULT_LISTEN_OPTIONS

    def contest_names(self) -> list[str]:
        """Return the names of the folders that have a contest."""
        return sorted(path.parent.name for path in self.root.glob(f"*/{CONTEST_FILE_NAME}"))

    def folder(self, name: str) -> Path:
        """Return a contest's folder; raise `ConfigError` if no contest has that name."""
        if name not in self.contest_names():
            raise ConfigError(f"The folder {self.root.absolute()} contains no contest {name}.")
        return self.root / name

    def records(self, name: str) -> ContestRecords:
        """Open the records of a contest."""
        return open_contest_in(self.folder(name))

    def create_contest(self, settings: ContestSettings) -> None:
        """Create a contest in a folder of its own."""
        if not settings.name.replace("-", "").replace("_", "").isalnum():
            raise ConfigError(
                f"{settings.name!r} cannot be the name of a contest. Use letters, digits, - and _."
            )
        create_contest_in(self.root / settings.name, settings).close()

    def running_command(self, name: str) -> LockHolder | None:
        """Return the command that runs for a contest, or None."""
        return lock_holder(self.folder(name))

    def start(self, name: str, command: str, *options: str) -> None:
        """Start `contest run` or `contest practice`, replacing a command that runs.

        Practice hands over to the contest, which may take as long as a turn. The command continues
        when the page is closed. If it is killed, starting it again continues the contest. Raises
        `ConfigError`, with the reason, if it does not begin.
        """
        holder = self.running_command(name)
        if (command, holder and holder.command) == ("run", "practice"):
            with self.records(name) as records:
                patience = records.settings.timeout + HANDOVER_SECONDS
            with suppress(ConfigError):  # a practice that hangs is stopped below
                return self._start_command(
                    name, command, options, COMMAND_START_TIMEOUT_SECONDS + patience
                )
        self.stop(name)
        return self._start_command(name, command, options, COMMAND_START_TIMEOUT_SECONDS)

    def _start_command(
        self, name: str, command: str, options: Sequence[str], timeout_seconds: float
    ) -> None:
        """Start a command for a contest; raise the same errors as `start`."""
        folder = self.folder(name)
        console = folder / CONSOLE_LOG
        ensure_private_file(console)
        with console.open("ab") as output:  # a practice that hands over writes to it as well
            output.truncate(0)
            arguments = [
                "contest",
                command,
                str(folder.absolute()),
                *options,
                *self._build_listen_arguments(name),
                *(f"--pass-env={name}" for name in passed_variables()),
            ]
            process = subprocess.Popen(  # noqa: S603 - our own command
                [sys.executable, "-m", "cardsharp_tools.cli", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        # Somebody must wait for the process. Otherwise it stays a zombie after its end and would
        # still count as running.
        threading.Thread(target=process.wait, daemon=True).start()
        if not _wait_until(
            lambda: self._is_ready(name, process.pid) or process.poll() is not None, timeout_seconds
        ):
            raise ConfigError(
                f"`contest {command}` has not begun within {timeout_seconds:.0f} s. See {console}."
            )
        if process.poll():
            raise ConfigError(
                console.read_text(encoding="utf-8").strip()
                or f"`contest {command}` has ended without a message. See {folder / 'contest.log'}."
            )

    def stop(self, name: str) -> None:
        """Stop a contest's command as Ctrl-C would, or else kill it; neither loses a result."""
        for sign, limit in (
            (signal.SIGINT, STOP_TIMEOUT_SECONDS),
            (signal.SIGKILL, COMMAND_START_TIMEOUT_SECONDS),
        ):
            holder = self.running_command(name)
            if holder is None:
                return
            with suppress(ProcessLookupError):
                os.kill(holder.pid, sign)
            if _wait_until(lambda: self.running_command(name) is None, limit):
                return
        raise ConfigError(
            f"The command of {name} did not end, even after a kill. Check this machine's processes."
        )

    def _is_ready(self, name: str, pid: int) -> bool:
        """Return True if the process runs the contest and, with an arena, has a URL."""
        holder = self.running_command(name)
        if holder is None or holder.pid != pid:
            return False
        return bool(holder.url or not self._has_arena(name))

    def _has_arena(self, name: str) -> bool:
        with self.records(name) as records:
            return records.settings.has_arena

    def _build_listen_arguments(self, name: str) -> list[str]:
        """Return the arguments of the arena's listen address; empty without an arena."""
        if not self._has_arena(name):
            return []
        tls = (
            [] if self.listen_options.tls is None else ["--tls", *map(str, self.listen_options.tls)]
        )
        flags = {"--insecure": self.listen_options.insecure, "--public": self.listen_options.public}
        pace = f"{self.listen_options.min_move_interval.total_seconds()}s"
        address_arguments = [
            "--host",
            self.listen_options.host,
            "--port",
            str(self.listen_options.port),
            "--min-move-interval",
            pace,
        ]
        return [*address_arguments, *tls, *(flag for flag, on in flags.items() if on)]


def _wait_until(condition: Callable[[], bool], timeout_seconds: float) -> bool:
    """Return True when the condition holds, False if it does not hold in time."""
    end = time.monotonic() + timeout_seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(COMMAND_POLL_SECONDS)
    return True
