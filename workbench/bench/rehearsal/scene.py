"""What a rehearsal is played on: the contest's folder, its hall, the teams, and their troubles."""

import csv
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from cardsharp.contest.records import Records
from cardsharp.contest.sqlite import kept_in
from cardsharp.errors import CardsharpError
from workbench.bench.rehearsal.entrants import Kind, Program, entering
from workbench.bench.rehearsal.judging import PAUSED, PRACTICE, Excuses, Trouble
from workbench.bench.rehearsal.nemesis import Deed, Nemesis, Undo
from workbench.listening import listen

STARTED = "had just started"
COMMAND = (sys.executable, "-m", "workbench.cli", "contest")


@dataclass(frozen=True, slots=True)
class Setting:
    """How a rehearsal is held; times in seconds."""

    teams: int
    matches: int
    timeout: float
    practice: float
    every: float
    seed: str


@dataclass(frozen=True, slots=True)
class Team:
    """A team that was entered, and if it comes from outside its program."""

    id: str
    name: str
    kind: Kind
    program: Program | None


@dataclass
class Scene:
    """A founded contest with all its teams."""

    setting: Setting
    folder: Path
    url: str
    teams: Sequence[Team]
    hall: Program
    records: Records
    troubles: list[Trouble] = field(default_factory=list)
    _command: Callable[[], tuple[str, ...]] = field(default=lambda: (), init=False)

    def begin_practice(self, seconds: float) -> None:
        """Let the teams practise for so long; who starts it again says what is left of it."""
        end = time.monotonic() + seconds

        def rest() -> tuple[str, ...]:
            left = max(end - time.monotonic(), 1)
            return "practice", str(self.folder), "--hours", f"{left / 3600:.6f}"

        self._command = rest
        self.start()

    def begin_cup(self) -> None:
        """Have the cup played to its end."""
        seeded = ("--seed-by-practice",) if self.setting.practice else ()
        self._command = lambda: ("run", str(self.folder), *seeded)
        self.start()

    def start(self) -> None:
        """Start what is to be done now, or start it again."""
        where = "--port", self.url.rpartition(":")[2], "--public"
        self.hall.kill()
        self.hall.command = (*COMMAND, *self._command(), *where)
        self.hall.start()

    def check(self) -> None:
        """Raise `CardsharpError` if a team's program has ended although nobody killed it."""
        for team in self.teams:
            if team.program is not None:
                team.program.check()

    def ask(self, path: str) -> float | None:
        """Seconds until the arena answered a spectator; None where it did not, or with an error."""
        began = time.monotonic()
        try:
            with urllib.request.urlopen(self.url + path, timeout=5) as answer:  # noqa: S310 - ours
                answer.read()
        except (OSError, urllib.error.URLError):
            return None
        return time.monotonic() - began

    def nemesis(self) -> Nemesis:
        """Who kills and freezes: the hall, and programs that are neither slow nor frozen anyway."""
        chance = Random(self.setting.seed)
        healthy = [team for team in self.teams if team.program and team.kind.late is None]

        def killed() -> tuple[Undo, float]:
            self.befall("the contest was killed", None, time_of_it := now(), time_of_it)
            self.start()
            return lambda: None, 0

        def stopped() -> tuple[Undo, float]:
            self.hall.freeze()
            self.befall("the contest was frozen", None, begin := now(), begin)
            return self.hall.thaw, chance.uniform(0.2, self.setting.timeout * 2)

        def held_up() -> tuple[Undo, float]:
            self.records.pause(on=True)
            begin = now()

            def resume() -> None:
                self.befall(PAUSED, None, begin, now())
                self.records.pause(on=False)

            return resume, chance.uniform(0.2, self.setting.timeout)

        def troubled(freezing: bool) -> tuple[Undo, float]:
            team = chance.choice(healthy)
            program, begin = team.program, now()
            assert program is not None  # noqa: S101 - those who are healthy have one
            (program.freeze if freezing else program.kill)()

            def undo() -> None:
                (program.thaw if freezing else program.start)()
                self.befall("frozen" if freezing else "killed", team.id, begin, now())

            return undo, chance.uniform(0.2, self.setting.timeout * 2)

        deeds: list[Deed] = [killed, stopped, held_up]
        if healthy:
            deeds += [lambda: troubled(freezing=False), lambda: troubled(freezing=True)]
        return Nemesis(killed, deeds, self.setting.every, chance)

    def befall(self, what: str, team: str | None, begin: datetime, end: datetime) -> None:
        """Note a trouble."""
        self.troubles.append(Trouble(what, team, begin, end))

    @property
    def troubled(self) -> Counter[str]:
        """How often each trouble was brought about."""
        return Counter(trouble.what for trouble in self.troubles if trouble.what != STARTED)

    def freeze_for_good(self) -> None:
        """Stop the programs that are to stand still in the middle of everything."""
        for team in self.teams:
            if team.program is not None and team.kind.freezes:
                team.program.freeze()

    def excuses(self) -> Excuses:
        """Why turns may be late here."""
        always = {team.id: team.kind.late for team in self.teams if team.kind.late is not None}
        return Excuses(always, self.troubles)


def now() -> datetime:
    """The moment, as the arena stamps its moves."""
    return datetime.now(UTC)


@contextmanager
def scene(setting: Setting, folder: Path) -> Iterator[Scene]:
    """A contest in `folder` with its teams at play; nothing of it runs after the `with`."""
    contest = folder / "cup"
    options = ("--matches", str(setting.matches), "--timeout", str(setting.timeout))
    _contest("new", str(contest), *options)
    url = f"http://127.0.0.1:{_free_port()}"
    with ExitStack() as stack:
        teams = list(_entered(setting, folder, contest, url))
        for team in teams:
            if team.program is not None:
                stack.callback(team.program.kill)
                team.program.start()
        records = kept_in(contest)
        stack.callback(records.close)
        hall = Program("The contest", COMMAND, os.environ, folder / "hall.log")
        stack.callback(hall.kill)
        found = Scene(setting, contest, url, teams, hall, records)
        for team in teams:
            found.befall(STARTED, team.id, now(), now() + timedelta(seconds=5))
        yield found


def _entered(setting: Setting, folder: Path, contest: Path, url: str) -> Iterator[Team]:
    """The teams of the setting, entered by a file as an organiser would; in random order."""
    entrants = dict(entering(setting.teams))
    names = list(entrants)
    Random(setting.seed).shuffle(names)
    file = folder / "teams.csv"
    with file.open("w", newline="") as text:
        rows = csv.writer(text)
        rows.writerow(("name", "strategy"))
        rows.writerows((name, entrants[name].strategy or "") for name in names)
    told = _contest("teams", "import", str(contest), str(file))
    for name, line in zip(names, told.splitlines(), strict=True):
        # "team NAME: id ID, password WORD", or "played here" in place of a password.
        user, _, secret = line.rpartition(": id ")[2].partition(", ")
        kind = entrants[name]
        program, password = None, secret.removeprefix("password ")
        if kind.command:
            words = {
                "url": url,
                "user": user,
                "tag": contest.name,
                "practice": contest.name + PRACTICE,
                "tags": f"{contest.name},{contest.name}{PRACTICE}",
                "limit": str(setting.timeout),
            }
            program = Program(
                name,
                tuple(word.format(**words) for word in kind.command),
                {
                    "ARENA_PASSWORD": password,
                    "CARDSHARP_PASSWORD": password,
                    "XDG_DATA_HOME": str(folder / user),
                },
                folder / f"{user}.log",
            )
        yield Team(user, name, kind, program)


def _contest(*arguments: str) -> str:
    """What a command of `cardsharp contest` printed; raises `CardsharpError` where it failed."""
    done = subprocess.run(  # noqa: S603 - our own command
        [*COMMAND, *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CardsharpError(f"cardsharp contest {arguments[0]} failed: {done.stderr.strip()}")
    return done.stdout


def _free_port() -> int:
    with listen("The rehearsal", "127.0.0.1", 0, 1) as listening:
        port: int = listening.getsockname()[1]
        return port
