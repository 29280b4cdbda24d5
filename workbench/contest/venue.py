"""Contests of this machine as their organiser has them: which there are, and what runs for them."""

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

from cardsharp.cloud.private import make_private
from cardsharp.contest.entries import Settings
from cardsharp.contest.records import Records
from cardsharp.contest.sqlite import FILE, found_in, kept_in
from cardsharp.errors import ConfigError
from workbench.contest.hall import ANSWER, Holder, holder_of
from workbench.contest.home import USUAL
from workbench.show.options import ArenaPlace

CONSOLE = "console.log"  # what a command says that was started from the page
LOOK = 0.05  # seconds between two looks whether a command has begun, or has ended
LIMIT = 120.0  # seconds in which a command must begin, or end
PATIENCE = 10.0  # seconds after which a command is killed that was asked to end


@dataclass(frozen=True, slots=True)
class Venue:
    """The contests in the folders under `root`; their arenas listen at `place`, one at a time."""

    root: Path
    place: ArenaPlace = USUAL

    def names(self) -> list[str]:
        """The names of the folders that have a contest."""
        return sorted(path.parent.name for path in self.root.glob(f"*/{FILE}"))

    def folder(self, name: str) -> Path:
        """Where a contest is; raises `ConfigError` where there is none of that name."""
        if name not in self.names():
            raise ConfigError(f"There is no contest {name} in {self.root.absolute()}.")
        return self.root / name

    def records(self, name: str) -> Records:
        """The records of a contest."""
        return kept_in(self.folder(name))

    def found(self, settings: Settings) -> None:
        """Create a contest in a folder of its own."""
        if not settings.name.replace("-", "").replace("_", "").isalnum():
            raise ConfigError(f"{settings.name} is no name; use letters, digits, - and _.")
        found_in(self.root / settings.name, settings).close()

    def holder(self, name: str) -> Holder | None:
        """Which command runs for a contest."""
        return holder_of(self.folder(name))

    def start(self, name: str, command: str, *options: str) -> None:
        """Have `contest run` or `practice` run for a contest, in place of what does.

        Practice hands over to the contest, which may take as long as a turn. The command goes on
        when the page ends, and whatever kills it, a start anew goes on. Raises `ConfigError` if it
        did not begin; says why.
        """
        holder = self.holder(name)
        if (command, holder and holder.command) == ("run", "practice"):
            with self.records(name) as records:
                patience = records.settings.timeout + ANSWER
            with suppress(ConfigError):  # a practice that hangs is ended as all else
                return self._started(name, command, options, LIMIT + patience)
        self.stop(name)
        return self._started(name, command, options, LIMIT)

    def _started(self, name: str, command: str, options: Sequence[str], limit: float) -> None:
        """Start a command for a contest; raises as `start`."""
        folder = self.folder(name)
        console = folder / CONSOLE
        make_private(console)
        with console.open("ab") as said:  # a practice that hands over writes to it as well
            said.truncate(0)
            line = ["contest", command, str(folder.absolute()), *options, *self._placed(name)]
            process = subprocess.Popen(  # noqa: S603 - our own command
                [sys.executable, "-m", "workbench.cli", *line],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
        # Nobody else waits for its end, without which its number would stay taken.
        threading.Thread(target=process.wait, daemon=True).start()
        if not _within(lambda: self._is_up(name, process.pid) or process.poll() is not None, limit):
            raise ConfigError(f"contest {command} has not begun in {limit:.0f} s; see {console}.")
        if process.poll():
            raise ConfigError(console.read_text(encoding="utf-8").strip() or "It has ended.")

    def stop(self, name: str) -> None:
        """End what runs for a contest as Ctrl-C would, or kill it, which it stands."""
        for sign, limit in ((signal.SIGINT, PATIENCE), (signal.SIGKILL, LIMIT)):
            holder = self.holder(name)
            if holder is None:
                return
            with suppress(ProcessLookupError):
                os.kill(holder.process, sign)
            if _within(lambda: self.holder(name) is None, limit):
                return
        raise ConfigError(f"What runs for {name} cannot be ended.")

    def _is_up(self, name: str, process: int) -> bool:
        holder = self.holder(name)
        if holder is None or holder.process != process:
            return False
        return bool(holder.url or not self._has_arena(name))

    def _has_arena(self, name: str) -> bool:
        with self.records(name) as records:
            return records.settings.has_arena

    def _placed(self, name: str) -> list[str]:
        """How a command is told where its arena listens; nothing where it has none."""
        if not self._has_arena(name):
            return []
        tls = [] if self.place.tls is None else ["--tls", *map(str, self.place.tls)]
        flags = {"--insecure": self.place.insecure, "--public": self.place.public}
        pace = f"{self.place.pace.total_seconds()}s"
        place = ["--host", self.place.host, "--port", str(self.place.port), "--pace", pace]
        return [*place, *tls, *(flag for flag, on in flags.items() if on)]


def _within(happened: Callable[[], bool], limit: float) -> bool:
    end = time.monotonic() + limit
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(LOOK)
    return True
