"""A person's seat that is reached from elsewhere: what is seen there, asked, advised, answered.

The match's thread tells and asks; the threads of requests look, answer and wait. All share the
table's one condition.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from secrets import token_urlsafe
from threading import Condition
from typing import Any, NamedTuple

from markupsafe import Markup
from rich.text import Text

from cardsharp.replay import Thought
from cardsharp.strategy import Decision
from cardsharp.viewer.board import Board
from workbench.show.person import Advisor, Left, PersonQuestion, Undone
from workbench.show.screen import AnyScreen, Choice, ScreenMove
from workbench.table.sitting import SeatedBot

AWAY = timedelta(seconds=45)  # who has asked for nothing for so long does not look at the page
_MOMENT = timedelta(seconds=1)  # for what follows an answer, on a page without script

_HOW = "Chosen in the browser"
_REMEMBERED = 400  # lines of the past that a page shows

REFUSALS = {
    "late": "That move was no longer asked for: nothing was played. So the table stands now.",
    "unknown": "That is none of your moves; nothing was played.",
}
"""Why nothing was done, by a word for it."""


class ChairFrame(NamedTuple):
    """What changed at a seat: parts of the drawn table, and lines; `version` is when."""

    version: int
    parts: dict[str, Markup]
    said: list[str]


class Recap(NamedTuple):
    """How the last chapter ended: what was told of it, and what was to be seen."""

    lines: list[str]
    shown: Markup


@dataclass(eq=False)
class Chair:
    """A person's seat, known by its secret, as a match needs it; a `stand_in` may play instead."""

    changed: Condition
    advisor: Advisor[Any]
    make: Callable[..., Decision[Any]]
    clock: Callable[[], float]
    name: str = ""
    hinted: bool = False
    deserted: Callable[[], bool] = lambda: False
    secret: str = field(default_factory=lambda: token_urlsafe(16))
    here: bool = False
    gone: bool = False
    stand_in: SeatedBot | None = None
    version: int = 0
    seat: int = 0
    to_act: int | None = None
    question: PersonQuestion[Any, Any] | None = None
    number: int = 0  # of the question; an answer to another is late
    advice: Thought | None = None
    frames: list[ChairFrame] = field(default_factory=list)
    drawn: dict[str, Markup] = field(default_factory=dict)  # the whole table as it was last seen
    past: list[str] = field(default_factory=list)
    since: list[str] = field(default_factory=list)  # what has been told since the last answer
    begun: int = 0  # how often `since` began anew
    recap: Recap | None = None
    standing: str = ""
    looked: float = 0.0
    undoes: bool = False  # whether a choice may be taken back: where all others are bots
    _answer: Choice[Any] | type[Undone] | None = None
    _told: list[str] = field(default_factory=list)

    def sit(self, screen: AnyScreen, board: Board) -> None:
        """Begin a match."""
        with self.changed:
            self.screen, self.board, self.seat = screen, board, screen.you
            self.frames, self.drawn = [], {}
            self.past, self.since, self._told = [], [], []
            self.begun += 1
            self.recap = self.question = self.advice = self.to_act = None
            self.touch()

    # --- what the match asks and tells ---------------------------------------------------------

    def decide(self, position: Any) -> Decision[Any]:  # noqa: ANN401 - any game's
        """What the person, or who plays instead, answers; raises `Left` or `Undone`."""
        question = self.ask(position)
        only = question.only()
        if only is not None:
            return only
        with self.changed:
            self.changed.wait_for(lambda: self._answer or self.stand_in or self.deserted())
            self.question = None
            self.touch()
        if isinstance(self._answer, Choice):
            return question.decision(self._answer.action, _HOW)
        if self._answer is not None:
            raise Undone
        if self.stand_in is None:
            raise Left
        decision: Decision[Any] = self.stand_in.decide(position).decision
        return decision

    def ask(self, position: Any) -> PersonQuestion[Any, Any]:  # noqa: ANN401 - any game's
        """Have the page ask what is to be decided, unless there is but one answer."""
        question = PersonQuestion(position, self.screen.choices(position), self.advisor, self.make)
        if question.only() is None:
            advice = question.advice() if self.hinted else None
            with self.changed:
                self.question, self._answer, self.advice = question, None, advice
                self.number += 1
                self.touch()
        return question

    def tell(self, told: ScreenMove) -> None:
        """Take in what has happened."""
        with self.changed:
            lines = [one.plain if isinstance(one, Text) else str(one) for one in told.lines]
            self._told += lines
            self.past = [*self.past, *lines][-_REMEMBERED:]
            self.since += lines
            if told.shown is not None:
                self._add(told.shown)
            if told.closes:
                self.recap = Recap(lines, self.drawn.get(self.board.recap, Markup()))

    def see(self, seen: Any, to_act: int | None) -> None:  # noqa: ANN401 - any game's position
        """Draw how the table stands."""
        with self.changed:
            self.to_act, self.standing = to_act, self.screen.standing(seen)
            self._add(seen)

    # --- what requests do ----------------------------------------------------------------------

    def answer(self, number: int, key: str) -> str:
        """Take the answer to the question of that number; a word of `REFUSALS` where not."""
        with self.changed:
            question = self._asked(number)
            if question is None:
                return "late"
            found = next((one for one in question.choices if one.key == key), None)
            return "unknown" if found is None else self._answered(found)

    def undo(self, number: int) -> str:
        """Take the last choice back, at the question of that number; a word where not."""
        with self.changed:
            if not self.undoes or self._asked(number) is None:
                return "late"
            return self._answered(Undone)

    def advise(self, number: int) -> str:
        """Have advice on the question of that number; a word where there is none."""
        with self.changed:
            question = self._asked(number)
            if question is None:
                return "late"
            self.advice = question.advice()
            self.touch()
            return ""

    def _asked(self, number: int) -> PersonQuestion[Any, Any] | None:
        return self.question if number == self.number else None

    def _answered(self, answer: Choice[Any] | type[Undone]) -> str:
        self._answer, self.question, self.since = answer, None, []
        self.begun += 1
        self.changed.notify_all()
        return ""

    def settle(self) -> None:
        """Return when there is something to answer again, or after a moment."""
        with self.changed:
            self.changed.wait_for(lambda: self.question is not None, _MOMENT.total_seconds())

    def wait(self, version: int, limit: timedelta) -> None:
        """Return when there is something newer than that version, or after that time."""
        with self.changed:
            self.changed.wait_for(lambda: self.version > version, limit.total_seconds())

    def news(self, version: int) -> Sequence[ChairFrame]:
        """What came after that version."""
        return [frame for frame in self.frames if frame.version > version]

    @property
    def away(self) -> bool:
        """Whether nobody plays here: the person has left, or does not look any more."""
        silent = self.clock() - self.looked > AWAY.total_seconds()
        return self.stand_in is None and (self.gone or (self.here and silent))

    def look(self) -> None:
        """The person has asked for the page."""
        self.looked = self.clock()

    def touch(self) -> None:
        """There is something new; the condition is held."""
        self.version += 1
        self.changed.notify_all()

    def _add(self, seen: object) -> None:
        """A frame of what is drawn otherwise now, with what was told since the last one."""
        if self.board.seen is None:
            return
        drawn = self.board.seen(self.screen.names, self.screen.you, seen)
        there = {name: part for name, part in drawn.items() if part is not None}
        parts = {name: part for name, part in there.items() if part != self.drawn.get(name)}
        self.drawn |= parts
        self.touch()
        self.frames.append(ChairFrame(self.version, parts, self._told))
        self._told = []
