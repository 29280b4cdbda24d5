"""Who enters a rehearsal: teams that the director plays, and good and bad programs from outside."""

import os
import runpy
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, cycle, islice
from pathlib import Path
from random import Random

from cardsharp.errors import CardsharpError

CALLED = ("{url}", "{user}", "{tags}")
"""How the starters are called, before the words are put in."""

ROOT = Path(__file__).parents[3]
KITS = ROOT / "starters/arena"
STRANGERS = ROOT / "tests/support/strangers.py"
INHERITED = ("PATH", "PYTHONPATH", "HOME", "JAVA_HOME")
"""What a program from outside gets of our environment."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of entrant: who is played by the director, who comes as a program or not at all.

    `late` says why its turns may be ended by force, where that is how it is; who `freezes` is there
    at first and then stands still.
    """

    name: str
    strategy: str | None = None
    command: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    late: str | None = None
    freezes: bool = False

    @property
    def present(self) -> bool:
        """Whether this machine has what it needs."""
        return all(shutil.which(program) for program in self.needs)


def _house(strategy: str) -> Kind:
    return Kind(f"House {strategy}", strategy=strategy)


def _kit(name: str, *command: str, needs: tuple[str, ...]) -> Kind:
    return Kind(name, command=(*command, *CALLED), needs=needs)


def _bot(strategy: str) -> Kind:
    """Our own bot, as anybody would start it."""
    command = (sys.executable, "-m", "workbench.cli", "bot", "--url", "{url}", "--user", "{user}")
    named = ("--tag", "{tag}", "--tag", "{practice}", "--strategy", strategy)
    return Kind(f"Bot {strategy}", command=(*command, *named))


def _stranger(habit: str, late: str | None = None) -> Kind:
    """A client unlike ours, with one habit that a team's own program may have."""
    return Kind(
        f"Stranger {habit}", command=(sys.executable, str(STRANGERS), habit, *CALLED), late=late
    )


PYTHON = (sys.executable, str(KITS / "python/bot.py"))
SLOW = (sys.executable, "-m", "workbench.bench.rehearsal.entrants", "{limit}")

KINDS = (
    _kit("Python", *PYTHON, needs=()),
    _house("champion"),
    Kind("Never comes", late="never came"),
    _kit("JavaScript", "node", str(KITS / "javascript/bot.mjs"), needs=("node",)),
    Kind("Slow", command=(*SLOW, *CALLED), late="slow"),
    _house("third"),
    _bot("steady"),
    Kind("Frozen", command=(*PYTHON, *CALLED), late="frozen for good", freezes=True),
    _stranger("digest"),
    _stranger("hurry", late="asks without a pause, and is slowed"),
    _kit("curl", "bash", str(KITS / "curl/bot.sh"), needs=("bash", "curl", "jq")),
    _house("captain"),
    _stranger("basic-asked"),
    _stranger("wrong", late="has a wrong password"),
    _kit("Java", "java", "-XX:TieredStopAtLevel=1", str(KITS / "java/Bot.java"), needs=("java",)),
    _bot("champion"),
    _stranger("http10"),
    _stranger("capitals"),
    _stranger("new-connection"),
    _house("draw-3"),
    _house("steady"),
    _house("random"),
)
"""In the order in which they enter, so that a small rehearsal has some of all."""

AGAIN = KINDS[0], KINDS[3], KINDS[1], KINDS[5]
"""Who enters again where there are more teams than kinds."""


def entering(teams: int) -> list[tuple[str, Kind]]:
    """So many entrants with their names; kinds whose programs this machine lacks are left out."""
    kinds = [kind for kind in KINDS if kind.present]
    more = cycle(kind for kind in AGAIN if kind.present)
    found = list(islice(chain(kinds, more), teams))
    return [
        (kind.name if kind not in found[:place] else f"{kind.name} {place}", kind)
        for place, kind in enumerate(found)
    ]


@dataclass
class Program:
    """A team's program from outside, or the contest itself, which can be killed and frozen."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    log: Path
    starts: int = field(default=0, init=False)
    frozen: bool = field(default=False, init=False)
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def start(self) -> None:
        """Let it play; it has its own group of processes, as a script has children."""
        self.starts += 1
        self.frozen = False
        inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own starters and bots
                self.command,
                env={**inherited, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def ended(self) -> int | None:
        """The exit code with which it ended by itself, None while it runs."""
        return None if self._process is None else self._process.poll()

    def ends_within(self, seconds: float) -> bool:
        """Whether it ends by itself so soon."""
        with suppress(subprocess.TimeoutExpired):
            if self._process is not None:
                self._process.wait(seconds)
        return self.ended is not None

    def check(self) -> None:
        """Raise `CardsharpError` if it has ended although nobody killed it."""
        if self.ended is not None:
            raise CardsharpError(f"{self.name} ended by itself with {self.ended}; see {self.log}.")

    def kill(self) -> None:
        """End it and its children, as a power cut does."""
        if self._process is not None:
            self._signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        """Stop it in the middle of whatever it does."""
        self._signal(signal.SIGSTOP)
        self.frozen = True

    def thaw(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)
        self.frozen = False

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, number)


def _thinking(limit: float) -> Iterator[float]:
    """For how many seconds a slow team thinks of each action: now and then for too long."""
    chance = Random("slow")
    while True:
        yield limit * (1.3 if chance.random() < 0.1 else 0.1 * chance.random())  # noqa: PLR2004


def main() -> None:
    """Play as the starter in Python does, slowly: LIMIT URL ID TAG."""
    _, limit, url, player, tags = sys.argv
    bot = runpy.run_path(PYTHON[1])
    decide, thinking = bot["decide"], _thinking(float(limit))

    def slowly(match: object) -> object:
        time.sleep(next(thinking))
        return decide(match)

    import requests  # noqa: PLC0415 - of the slow team alone

    session = requests.Session()
    session.auth = (player, os.environ["ARENA_PASSWORD"])
    bot["play"].__globals__["decide"] = slowly
    bot["play"](session, f"{url}/api/matches", tags)


if __name__ == "__main__":
    main()
