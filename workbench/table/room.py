"""A table with its people: who has come, one match after the other, and what each was worth."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Condition, Event

from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.replay import Asked
from cardsharp.viewer.board import Board
from cardsharp.viewer.explained import Explained, explained
from cardsharp.viewer.shown import DrawnMatch, shown
from workbench.show.display import DisplayGuard
from workbench.table.chair import Chair
from workbench.table.setting import AnySitting, Setting, ending, keep

_LONGEST = 24  # characters of a name


class TableStage(StrEnum):
    """What the table is at."""

    WAITING = "waiting"
    PLAYING = "playing"
    OVER = "over"


class _Interrupted(Exception):
    """Something else is wanted than an analysis."""


@dataclass(eq=False)
class EndedMatch:
    """A match that is over, its id in our log, and its parts, whose `analyses` come one by one."""

    number: int
    sitting: AnySitting
    kept: str | None
    parts: list[DrawnMatch]
    analyses: list[Explained | None] = field(default_factory=list)

    @property
    def judged(self) -> bool:
        """Whether no more analyses come."""
        return len(self.analyses) == len(self.parts)


@dataclass(eq=False)
class Room:
    """A table for `setting.people` and a `host`; `ended` hears of matches; or `ConfigError`."""

    setting: Setting
    host: str
    hints: bool = False
    whys: bool = False
    ended: Callable[[EndedMatch, list[str]], None] = lambda *_: None
    matches: str = ""  # where the pages of what is played are, if not at each seat
    clock: Callable[[], float] = time.monotonic
    changed: Condition = field(default_factory=Condition)
    stage: TableStage = TableStage.WAITING
    last: EndedMatch | None = None
    played: dict[str, DrawnMatch] = field(default_factory=dict)
    """The parts of all matches that are over, by their ids."""
    fault: CardsharpError | None = None
    stopped: Event = field(default_factory=Event)
    teach: bool = False
    useless: set[str] = field(default_factory=set)
    """Bots of which every decision of a match has failed."""
    faults: Counter[str] = field(default_factory=Counter)
    """How many decisions of users' bots have failed."""
    number: int = 0  # of the match that is played, or was last
    _wanted: int = 1
    _guard: DisplayGuard = field(default_factory=DisplayGuard)

    def __post_init__(self) -> None:
        self.board = board_of(self.setting)
        self.setting.sitting()  # what cannot be played is refused here
        make = self.setting.make
        self.chairs = [
            Chair(self.changed, self.setting.advisor(), make, self.clock, hinted=self.hints)
            for _ in range(self.setting.people)
        ]
        for chair in self.chairs:
            chair.deserted, chair.undoes = self.deserted, self.setting.people == 1
        self.chairs[0].name, self.chairs[0].here = self.host, True

    def run(self) -> None:
        """Play match after match until it is stopped; a strategy's fault is shown, and raised."""
        try:
            while True:
                with self.changed:
                    self.changed.wait_for(lambda: self.stopped.is_set() or self._ready())
                if self.stopped.is_set():
                    return
                self._play(self.number + 1)
        except CardsharpError as error:
            self.fault = error
            self.stop()
            raise

    def stop(self) -> None:
        """Answer whoever waits, and play nothing more."""
        self.stopped.set()
        self._touch()

    def deserted(self) -> bool:
        """Whether nobody of the people is left."""
        people = [chair for chair in self.chairs if chair.stand_in is None]
        return self.stopped.is_set() or all(chair.gone for chair in people)

    # --- what people do ------------------------------------------------------------------------

    def join(self, chair: Chair, name: str) -> None:
        """Take a seat, or take it again."""
        with self.changed:
            chair.name = chair.name if chair.here else self._name(name)
            chair.here, chair.gone, chair.stand_in = True, False, None
        self._touch()

    def leave(self, chair: Chair) -> None:
        """Go; the match ends when everybody has."""
        with self.changed:
            chair.gone = True
        self._touch()

    def replace(self, place: int, by: int) -> None:
        """Have a bot play for somebody who is away or, if the host says so, has not come."""
        with self.changed:
            there = place != by and 0 <= place < len(self.chairs)
            chair = self.chairs[place if there else by]
            may = chair.away if chair.here else by == 0
            if not there or chair.stand_in is not None or not may:
                return
            wanted = self.setting.opponent or self.setting.game.default_strategy
            chair.stand_in = self.setting.bot(wanted, self._wanted, f"stand-in {place}")
            if not chair.here:
                chair.name = chair.stand_in.name
        self._touch()

    def again(self, chair: Chair, number: int) -> None:
        """Play another match after that one; once, whoever asks for it."""
        with self.changed:
            chair.gone = False
            if self.stage is TableStage.OVER and number == self.number:
                self._wanted += 1
        self._touch()

    # --- the match's thread --------------------------------------------------------------------

    def _ready(self) -> bool:
        here = all(chair.here or chair.stand_in is not None for chair in self.chairs)
        return here and self._wanted > self.number

    def _play(self, number: int) -> None:
        sitting = self.setting.sitting(number, [chair.name for chair in self.chairs])
        seated = dict(zip(sitting.people, self.chairs, strict=True))
        with self.changed:
            self.number, self.stage = number, TableStage.PLAYING
            for seat, chair in seated.items():
                chair.sit(sitting.screen(seat), self.board)
        sitting.play(seated, whys=self.whys, teach=self.teach)
        self.useless |= sitting.useless
        self.faults.update(sitting.faults)
        if self.stopped.is_set():
            return
        parts = sitting.told()
        kept = keep(parts)
        found: list[DrawnMatch] = []
        self._guard.run(lambda: found.extend(shown(*part) for part in parts), f"Match {number}")
        self.played |= {part.record.match_id: part for part in found}
        self.last = ended = EndedMatch(number, sitting, kept, found)
        self.stage = TableStage.OVER
        self._touch()
        names = [self.chairs[0].screen.names[seat] for seat in sitting.winners]
        self._guard.run(lambda: self.ended(ended, names), f"The end of match {number}")
        self._judge(ended)

    def _judge(self, ended: EndedMatch) -> None:
        """Analyse the parts one by one, until something else is wanted."""

        def unless_wanted(decisions: list[Asked]) -> Iterator[Asked]:
            for one in decisions:
                if self.stopped.is_set() or self._wanted > ended.number:
                    raise _Interrupted
                yield one

        with suppress(_Interrupted):
            for part in ended.parts:
                analysis = None
                try:
                    analysis = explained(part, unless_wanted)
                except CardsharpError as error:  # the next match can be played all the same
                    name = part.record.match_id
                    self._guard.report(f"Match {name} cannot be analysed: {error}")
                ended.analyses.append(analysis)
                self._touch()

    def _touch(self) -> None:
        with self.changed:
            for chair in self.chairs:
                chair.touch()

    def _name(self, wanted: str) -> str:
        told = " ".join("".join(filter(str.isprintable, wanted)).split())
        return told[:_LONGEST].strip() or "Guest"


def board_of(setting: Setting) -> Board:
    """How the game's table is drawn for a seat; raises `ConfigError` where it cannot be."""
    part = setting.game.board
    board = None if part is None else part.load()
    if board is None or board.seen is None:
        title = setting.game.title
        raise ConfigError(f"The table of {title} cannot be drawn; leave --browser out.")
    return board


def result(ended: EndedMatch, chair: Chair) -> str:
    """How a match ended, in words for who sits there."""
    sitting = ended.sitting
    if sitting.left and not chair.gone:
        return "The match was left."
    names = [chair.screen.names[seat] for seat in sitting.winners]
    return ending(names, left=sitting.left)
