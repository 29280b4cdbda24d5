"""A whole contest, rehearsed: practice, a cup at the real protocol, and all that goes wrong in one.

`make contest` has twenty teams enter: built-in players that the director plays, our own bot and the
starters of `starters/arena` as programs of their own, clients unlike ours in all that HTTP leaves
open, a slow team, one that hurries, one with a wrong password, one that never comes and one that
freezes. They practise, then play a double elimination, while the contest's own process and the
teams' programs are killed and frozen, the organiser pauses it, and a spectator looks at its pages.

Exits with 0 only if the result is whole: every pairing decided, every team with its two lives, no
match lost or counted twice, turns ended by force only of who was slow, dead, killed or frozen, and
every page answered. With the same seed the same teams meet the same troubles, at other moments.
"""

import secrets
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import cyclopts
from rich.console import Console

from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.deadmansdraw.arena.storage import SqliteStorage
from cardsharp.errors import CardsharpError
from workbench.bench.rehearsal.judging import (
    PRACTICE,
    Played,
    faults_of,
    faults_of_pauses,
    forced_turns,
    longest_standstill,
)
from workbench.bench.rehearsal.scene import Scene, Setting, scene

GLANCE = 0.1
LOOK = 5.0
"""Seconds between two looks at the pages, and between two lines of progress."""

STALL = 120.0
"""Seconds without an ended match after which the contest is given up."""

PAGES = ("/contest", "/contest/running", "/matches/statistics?tag=cup", "/api/matches?condensed=1")

console = Console(highlight=False, soft_wrap=True)
app = cyclopts.App(help=__doc__, help_format="plaintext")


@dataclass
class Course:
    """How a rehearsal went, as far as its files do not tell it; times in seconds."""

    began: float = field(default_factory=time.monotonic)
    practised: float = 0
    seconds: float = 0
    back: list[float] = field(default_factory=list)
    """From each kill of the contest to its first answer."""

    pages: list[float] = field(default_factory=list)
    missed: int = 0
    """Pages that did not come while the contest was killed."""

    faults: list[str] = field(default_factory=list)


class Rehearsal:
    """Has the contest of a scene played, and looks on."""

    def __init__(self, played_on: Scene) -> None:
        self.scene = played_on
        self.course = Course()
        self._nemesis = played_on.nemesis()
        self._started, self._down_since = 0, 0.0
        self._looked = self._moved = time.monotonic()
        self._ended = -1

    def play(self) -> None:
        """Practice, then the cup."""
        if self.scene.setting.practice:
            self.scene.begin_practice(self.scene.setting.practice)
            self._until_ended("practice")
            self.course.practised = time.monotonic() - self.course.began
        self.scene.freeze_for_good()
        self.scene.begin_cup()
        self._until_ended("cup")
        self._nemesis.rest()
        self.course.seconds = time.monotonic() - self.course.began

    def _until_ended(self, doing: str) -> None:
        hall = self.scene.hall
        self._started, self._down_since = hall.starts, time.monotonic()
        while (code := hall.ended) is None:
            time.sleep(GLANCE)
            self._nemesis.act()
            self.scene.check()
            if hall.frozen:
                continue
            self._see_it_back()
            if time.monotonic() - self._looked > LOOK:
                self._look(doing)
        if code:
            self.course.faults.append(f"The {doing} ended with {code}; see hall.log.")

    def _see_it_back(self) -> None:
        """Measure how long it takes until the contest answers after a kill."""
        hall = self.scene.hall
        if hall.starts != self._started:
            self._started, self._down_since = hall.starts, time.monotonic()
        if self._down_since and self.scene.ask("/api/hello") is not None:
            self.course.back.append(time.monotonic() - self._down_since)
            self._down_since = 0

    def _look(self, doing: str) -> None:
        """Ask for the pages, tell how far it is, and whether it stands still."""
        self._looked, course = time.monotonic(), self.course
        for page in PAGES:
            took = self.scene.ask(page)
            if took is not None:
                course.pages.append(took)
            # A contest that is over ends its pages a moment before itself.
            elif self._down_since or self.scene.hall.ends_within(LOOK):
                course.missed += 1
            else:
                course.faults.append(f"{page} did not come.")
        records = self.scene.records
        results = records.results()
        ended = sum(len(result.facts) for result in results) + len(records.meetings())
        decided = sum(result.decided for result in results)
        console.print(
            f"{_clock(self._looked - course.began)} {doing}: {decided} pairings decided, "
            f"{ended} matches ended, {self.scene.troubled.total()} troubles",
            style="dim",
        )
        if ended != self._ended:
            self._ended, self._moved = ended, self._looked
        if self._looked - self._moved > STALL:
            raise CardsharpError(f"No match has ended for {STALL:.0f} s.")


def played(at: Scene) -> Played:
    """What the files of a contest tell, after its end."""
    storage = SqliteStorage(at.folder / "arena.db")
    try:
        readable = (match for match in storage.matches() if isinstance(match, Match))
        matches = [(match, storage.history(match.id)) for match in readable]
    finally:
        storage.close()
    records = at.records
    teams = [team.id for team in records.teams()]
    return Played(records.settings, teams, records.results(), records.meetings(), matches)


def tell(at: Scene, course: Course, found: Played) -> None:
    """Print what there is to be said."""
    setting = at.setting
    outside = sum(team.program is not None for team in at.teams)
    own = sum(team.kind.strategy is not None for team in at.teams)
    say = console.print
    say(
        f"teams: {len(at.teams)}, {own} played by the director, {outside} programs from outside; "
        f"{setting.matches} matches a pairing, {setting.timeout:g} s a turn, seed {setting.seed}"
    )
    practised = [match for match, _ in found.tagged(found.settings.name + PRACTICE)]
    each = Counter(team for match in practised for team in match.pairing.players).values()
    often = f", {min(each)} to {max(each)} of each team that came" if each else ""
    say(f"practice: {len(practised)} matches{often}, in {_clock(course.practised)}")
    cup = found.tagged(found.settings.name)
    moves = sum(len(history) for _, history in cup)
    champion = next((t.name for t in at.teams if [t.id] == at.records.table()[0]), "nobody")
    say(
        f"cup: {len(found.results)} pairings, {len(cup)} matches, {moves} moves in "
        f"{_clock(course.seconds - course.practised)}, won by {champion}"
    )
    _tell_late(at, course, found)
    say(f"troubles: {_listed(at.troubled)}")
    say(f"the contest's first answer after its start: {_median(course.back)}")
    say(f"longest time without any move: {_standstill(at, found)}")
    say(f"pages: {_median(course.pages)}; {course.missed} did not come while it was killed")


def _tell_late(at: Scene, course: Course, found: Played) -> None:
    """Print why turns were ended by force; those without a reason are faults."""
    excuses, why = at.excuses(), Counter[str]()
    names = {team.id: team.name for team in at.teams}
    for forced in forced_turns(found):
        reason = excuses.of(forced)
        why[reason or "without a reason"] += 1
        if reason is None:
            course.faults.append(
                f"A turn of {names[forced.team]} was ended by force at {forced.end:%X} in match "
                f"{forced.match}, and nothing had happened to it."
            )
    console.print(f"turns ended by force: {why.total()}: {_listed(why)}")


def _standstill(at: Scene, found: Played) -> str:
    longest = longest_standstill(found)
    if longest is None:
        return "no move was made"
    begin, end = longest
    meanwhile = [one.what for one in at.troubles if one.end >= begin and one.begin <= end]
    return f"{(end - begin).total_seconds():.1f} s, in which: {_listed(Counter(meanwhile))}"


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common()) or "none"


def _median(seconds: Sequence[float]) -> str:
    if not seconds:
        return "never"
    middle, most = statistics.median(seconds), max(seconds)
    late = sorted(seconds)[int(0.95 * (len(seconds) - 1))]
    times = f"{len(seconds)} times, {1000 * middle:.0f} ms at the median, "
    return times + f"{1000 * late:.0f} ms at 95 %, {1000 * most:.0f} ms at most"


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


@app.default
def rehearse(  # noqa: PLR0913 - a command's options
    *,
    teams: int = 20,
    matches: int = 3,
    timeout: float = 5,
    practice: float = 60,
    every: float = 8,
    seed: str | None = None,
) -> int:
    """Rehearse a contest with everything that goes wrong in one.

    Args:
        teams: how many, from 2 to 64.
        matches: of a pairing, an odd number.
        timeout: seconds that a turn may take; our own bot, which asks for matches every 3 s, is
            late with less than 5.
        practice: seconds of practice before the cup; 0 for none.
        every: mean seconds between a recovery and the next kill or freeze.
        seed: of seeding and troubles; printed where none is given.
    """
    seed = seed or str(secrets.randbelow(10**6))
    setting = Setting(teams, matches, timeout, practice, every, seed)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder = Path(tempfile.mkdtemp(prefix="cardsharp-contest-"))
    faults = _rehearsed(setting, folder)
    for fault in faults:
        console.print(fault)
    if faults:
        console.print(f"The result is not whole; the files are in {folder}.")
        return 1
    shutil.rmtree(folder, ignore_errors=True)
    console.print("The result is whole.")
    return 0


def _rehearsed(setting: Setting, folder: Path) -> list[str]:
    """What went wrong in a rehearsal, of which the rest is told."""
    with scene(setting, folder) as at:
        rehearsal = Rehearsal(at)
        course = rehearsal.course
        with suppress(KeyboardInterrupt):
            try:
                rehearsal.play()
            except CardsharpError as error:
                course.faults.append(str(error))
        at.hall.kill()
        for team in at.teams:
            if team.program is not None:
                team.program.kill()
        found = played(at)
        course.faults += [*faults_of(found), *faults_of_pauses(found, at.troubles)]
        tell(at, course, found)
    return course.faults


if __name__ == "__main__":
    sys.exit(app(result_action="return_value"))
