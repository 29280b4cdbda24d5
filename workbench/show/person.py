"""A person at the table: what may be asked and typed, in the words that every game knows."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol

from rich.console import Console, RenderableType
from rich.text import Text

from cardsharp.replay import Thought, Weighed
from cardsharp.simulation import A, P
from cardsharp.strategy import Decision, Strategy, ranked
from workbench.show.drawing import options_table
from workbench.show.screen import SCREEN, Choice, Screen, ScreenMove, matching, several

Ask = Callable[[str], str]  # shows a prompt and returns a line; `EOFError` where there are no more

_PROMPT = "Your move (number or name, help)? "
LEAVE = ("quit", "exit", "q")  # words by which a person leaves

_MOST_WEIGHED = 6
_EARLIER = SCREEN - 3  # lines of the past that are shown at once

_WORDS = """\
Your move is its number, or words of its name; their beginnings will do.
  table    the table again; ? the same with every move that you may make
  hint     what {advisor} would do in your place, and why
  history  what has happened so far
  recap    only what happened before this {chapter}
  rules    the rules, on one screen
  quit     leave the table{leaving}
{undo}"""

_UNDO = "  undo     take your last choice back; what you did not know then is dealt anew"
_NO_UNDO = "Nothing is taken back: a move that is made counts."


class Left(Exception):
    """The person has left the table."""


class Undone(Exception):
    """The person takes the last choice back."""


class Advisor(NamedTuple, Generic[P]):
    """Who is asked for hints; `rule` is what a person can play by without a computer."""

    name: str
    strategy: Strategy[P, Decision[Any]]
    rule: Strategy[P, Decision[Any]] | None = None


@dataclass
class PersonQuestion(Generic[P, A]):
    """What a person is asked, and the advice on it; `make` makes the game's own decision."""

    position: P
    choices: Sequence[Choice[A]]
    advisor: Advisor[P]
    make: Callable[..., Decision[A]] = Decision
    _advice: Decision[A] | None = field(default=None, init=False)

    def only(self) -> Decision[A] | None:
        """The decision where there is nothing to decide."""
        several = len(self.choices) != 1
        return None if several else self.make(self.choices[0].action, "The only move.")

    def advice(self) -> Thought:
        """What the advisor would do, and what it weighed, the best first."""
        if self._advice is None:
            self._advice = self.advisor.strategy.decide(self.position)
        ruled = self.advisor.rule and self.advisor.rule.decide(self.position)
        rule = f"By the rule: {self._name(ruled.action)}. {ruled.reason}\n" if ruled else ""
        weighed = (
            Weighed(action=self._name(one.action), value=one.value, note=one.note, unit=one.unit)
            for one in ranked(self._advice.options)
        )
        return Thought(
            action=self._name(self._advice.action),
            reason=f"{rule}{self._advice.reason}",
            options=tuple(weighed),
            strategy=self.advisor.name,
        )

    def decision(self, action: A, how: str) -> Decision[A]:
        """The decision for an action; its reason says `how` it was made and what was advised."""
        if self._advice is None:
            return self.make(action, f"{how}.")
        advised = f"{self.advisor.name} would: {self._name(self._advice.action)}"
        return self.make(action, f"{how}; {advised}.", self._advice.options)

    def _name(self, action: A) -> str:
        return next((one.name for one in self.choices if one.action == action), str(action))


class AtTheTable(Protocol[P, A]):
    """A person at a table, wherever that person is."""

    screen: Screen[Any, P, A]

    def decide(self, position: P) -> Decision[A]:
        """What the person does; raises `Left` where that is to leave."""

    def tell(self, told: ScreenMove) -> None:
        """What has happened."""

    def see(self, seen: P, to_act: int | None) -> None:
        """How the table stands now, and whose turn it is."""


@dataclass
class Person(Generic[P, A]):
    """Decides by what is typed; `hinted` or not; `make` makes the game's own decision."""

    screen: Screen[Any, P, A]
    ask: Ask
    console: Console
    advisor: Advisor[P]
    hinted: bool = False
    make: Callable[..., Decision[A]] = Decision
    undoes: bool = False
    _past: list[RenderableType] = field(default_factory=list, init=False)
    _before: list[RenderableType] = field(default_factory=list, init=False)
    _since: list[RenderableType] = field(default_factory=list, init=False)

    def tell(self, told: ScreenMove) -> None:
        """Tell what has happened, and remember it."""
        self._print(told.lines)
        self._past += told.lines
        self._since += told.lines
        if told.closes:
            self._before, self._since = self._since, []

    def see(self, seen: P, to_act: int | None) -> None:
        """Nothing: a terminal shows the table when there is something to decide."""

    def waiting(self, text: str) -> AbstractContextManager[object]:
        """Say on a terminal, for as long as the block runs, what is waited for."""
        return self.console.status(Text(text))

    def decide(self, position: P) -> Decision[A]:
        """The action that is typed, or the only one, with the hint; raises `Left` or `Undone`."""
        question = PersonQuestion(position, self.screen.choices(position), self.advisor, self.make)
        only = question.only()
        if only is not None:
            return only
        self._print(self._seen(position))
        if self.hinted:
            advice = question.advice()
            self._print([f"Hint: {advice.action}. {advice.reason}"])
        return question.decision(self._typed(question), "Typed at the terminal")

    def says(self, word: str, prompt: str) -> bool:
        """Whether that word is typed; raises `Left`."""
        return self._line(prompt).lower() == word

    def _line(self, prompt: str) -> str:
        try:
            line = self.ask(prompt).strip()
        except EOFError:
            raise Left from None
        if line.lower() in LEAVE:
            raise Left
        return line

    def _typed(self, question: PersonQuestion[P, A]) -> A:
        position = question.position
        while True:
            line = self._line(_PROMPT)
            if self.undoes and line.lower() == "undo":
                raise Undone
            reply = self._replies().get(line.lower())
            if reply is not None:
                self._print(reply(question))
                continue
            found = matching(line, question.choices)
            if len(found) == 1:
                return found[0].action
            self._print([several(found) if found else self.screen.misread(line, position)])

    def _replies(self) -> Mapping[str, Callable[[PersonQuestion[P, A]], Iterable[RenderableType]]]:
        screen = self.screen
        return {
            "?": lambda question: self._seen(question.position, every=True),
            "help": lambda _: _WORDS.format(
                advisor=self.advisor.name,
                chapter=screen.chapter,
                leaving=screen.leaving,
                undo=_UNDO if self.undoes else _NO_UNDO,
            ).splitlines(),
            "table": lambda question: self._seen(question.position),
            "hint": self._hint,
            "history": lambda _: self._history(),
            "recap": lambda _: self._before or [f"This is the first {screen.chapter}."],
            "rules": lambda _: screen.rules.splitlines(),
            "undo": lambda _: [_NO_UNDO],
        }

    def _seen(self, position: P, *, every: bool = False) -> Iterator[RenderableType]:
        yield ""
        yield from self.screen.table(position)
        yield from self.screen.listed(position, self.console.width, every=every)

    def _history(self) -> Iterator[RenderableType]:
        earlier = len(self._past) - _EARLIER
        if earlier > 0:
            yield f"... {earlier} lines before"
        yield from self._past[-_EARLIER:] or ["Nothing has happened yet."]

    def _hint(self, question: PersonQuestion[P, A]) -> Iterator[RenderableType]:
        advice = question.advice()
        yield f"{self.advisor.name} would: {advice.action}. {advice.reason}"
        if few := advice.options[:_MOST_WEIGHED]:
            yield options_table(advice.model_copy(update={"options": few}))

    def _print(self, lines: Iterable[RenderableType]) -> None:
        for line in lines:
            self.console.print(Text(line) if isinstance(line, str) else line)


Seating = Callable[[Screen[Any, P, A]], Person[P, A]]  # makes the person who sees a screen
