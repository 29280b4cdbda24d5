"""A person at the table: what is seen, what may be typed, and the words that every game knows."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol

from rich.console import Console, RenderableType
from rich.text import Text

from cardsharp.errors import ConfigError
from cardsharp.replay import Thought, Weighed
from cardsharp.simulation import A, P, S
from cardsharp.strategy import Decision, Strategy
from workbench.show.decisions import options_table

Ask = Callable[[str], str]
"""Shows a prompt and returns a line; raises `EOFError` where there are no more."""

SCREEN = 24
"""Lines of the smallest terminal on which everything is to be seen at once."""

_PROMPT = "Your move (number or name, help)? "
_LEAVE = ("quit", "exit", "q")
_MOST_MEANT = 6
_MOST_WEIGHED = 6
_EARLIER = SCREEN - 3
"""Lines of the past that are shown at once."""

_WORDS = """\
Your move is its number, or words of its name; their beginnings will do.
  table    the table again; ? the same with every move that you may make
  hint     what {advisor} would do in your place, and why
  history  what has happened so far
  recap    only what happened before this {chapter}
  rules    the rules, on one screen
  quit     leave the table{leaving}
Nothing is taken back."""


class Left(Exception):
    """The person has left the table."""


class Choice(NamedTuple, Generic[A]):
    """An action as it may be typed: by its key, by its name, or by words of it and of `also`."""

    key: str
    name: str
    action: A
    also: str = ""
    short: str = ""
    """What it is called among others of its `Group`; as always, where that is empty."""

    @property
    def words(self) -> list[str]:
        """All words that may be typed."""
        return words_of(f"{self.name} {self.also}")

    def __str__(self) -> str:
        return f"{self.key} {self.name}"


class Group(NamedTuple, Generic[A]):
    """Choices of a kind; the keys in `barred` are shown and cannot be chosen now.

    `remote` are those that make no sense, though the rules allow them.
    """

    title: str
    choices: Sequence[Choice[A]]
    barred: Collection[str] = ()
    remote: bool = False


class Told(NamedTuple):
    """What there is to tell of a move; `closes` says that a chapter, such as a round, is over.

    `shown` is a position to be seen before the table goes on, such as a round's with all hands.
    """

    lines: Sequence[RenderableType] = ()
    closes: bool = False
    shown: Any = None


class Invitation(NamedTuple):
    """Which match to join, where, and as whom."""

    url: str
    game: str
    nickname: str


class Screen(Generic[S, P, A]):
    """What a person at seat `you` sees of a match; `names` are by seat. A game has its own."""

    rules = ""
    """On at most `SCREEN` lines, with the prompt."""

    chapter = "round"
    """What a match is told in."""

    leaving = ""
    """What it means to leave, after a comma."""

    def __init__(self, names: Sequence[str], you: int) -> None:
        self.names, self.you = names, you

    @classmethod
    def join(cls, wanted: Invitation, seat: "Callable[[Screen[Any, P, A]], Person[P, A]]") -> str:
        """Play a match at a service; who has won. `seat` makes the person who sees a screen."""
        del wanted, seat
        raise ConfigError("No service of this game can be joined from a terminal; leave --url out.")

    def given_up(self, state: S) -> S | None:
        """How a match ends that the person leaves; None for a game that knows no such end."""
        del state
        return None

    def standing(self, position: P) -> str:
        """How the match stands, in a line."""
        del position
        return ""

    def table(self, position: P) -> Iterable[RenderableType]:
        """What lies open, and the person's own cards."""
        raise NotImplementedError

    def choices(self, position: P) -> Sequence[Choice[A]]:
        """Every legal action."""
        raise NotImplementedError

    def groups(self, position: P) -> Sequence[Group[A]]:
        """The choices by kind, with those of the same kind that are barred now."""
        return [Group("", self.choices(position))]

    def told(self, before: S, action: A, after: S) -> Told:
        """What an action did, as the person may see it."""
        raise NotImplementedError

    def listed(self, position: P, width: int, *, every: bool) -> Iterable[str]:
        """The choices, those that make sense or `every` one of them, in columns."""
        del every
        return in_columns([str(choice) for choice in self.choices(position)], width)

    def misread(self, line: str, position: P) -> str:
        """What to say of a line that means none of the choices."""
        del line, position
        return "That is none of your moves; type a number of the list, or ? to see all."


class Advisor(NamedTuple, Generic[P]):
    """Who is asked for hints."""

    name: str
    strategy: Strategy[P, Decision[Any]]


@dataclass
class Question(Generic[P, A]):
    """What a person is asked, and the advice on it once that was wished for.

    `make` makes the game's own decision.
    """

    position: P
    choices: Sequence[Choice[A]]
    advisor: Advisor[P]
    make: Callable[..., Decision[A]] = Decision
    _advice: Decision[A] | None = field(default=None, init=False)

    def only(self) -> Decision[A] | None:
        """The decision where there is nothing to decide."""
        return (
            self.make(self.choices[0].action, "The only move.") if len(self.choices) == 1 else None
        )

    def advice(self) -> Thought:
        """What the advisor would do, and what it weighed, the best first."""
        if self._advice is None:
            self._advice = self.advisor.strategy.decide(self.position)
        best = sorted(self._advice.options, key=lambda one: -(one.value or 0.0))
        weighed = (
            Weighed(action=self._name(one.action), value=one.value, note=one.note, unit=one.unit)
            for one in best
        )
        return Thought(
            action=self._name(self._advice.action),
            reason=self._advice.reason,
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


class Seated(Protocol[P, A]):
    """A person at a table, wherever that person is."""

    screen: Screen[Any, P, A]

    def decide(self, position: P) -> Decision[A]:
        """What the person does; raises `Left` where that is to leave."""
        ...

    def tell(self, told: Told) -> None:
        """What has happened."""
        ...

    def see(self, seen: P, to_act: int | None) -> None:
        """How the table stands now, and whose turn it is."""
        ...


@dataclass
class Person(Generic[P, A]):
    """Decides by what is typed; `hinted` has a hint told at each turn.

    `make` makes the game's own decision.
    """

    screen: Screen[Any, P, A]
    ask: Ask
    console: Console
    advisor: Advisor[P]
    hinted: bool = False
    make: Callable[..., Decision[A]] = Decision
    _past: list[RenderableType] = field(default_factory=list, init=False)
    _before: list[RenderableType] = field(default_factory=list, init=False)
    _since: list[RenderableType] = field(default_factory=list, init=False)

    def tell(self, told: Told) -> None:
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
        """The action that is typed; one that is the only one is made without a question.

        The reason tells what the hint was, if there was one.

        Raises:
            Left: the input ended, or the person asked to leave.
        """
        question = Question(position, self.screen.choices(position), self.advisor, self.make)
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
        """What is typed; raises `Left` where that is to leave."""
        try:
            line = self.ask(prompt).strip()
        except EOFError:
            raise Left from None
        if line.lower() in _LEAVE:
            raise Left
        return line

    def _typed(self, question: Question[P, A]) -> A:
        position = question.position
        while True:
            line = self._line(_PROMPT)
            reply = self._replies().get(line.lower())
            if reply is not None:
                self._print(reply(question))
                continue
            found = matching(line, question.choices)
            if len(found) == 1:
                return found[0].action
            self._print([_several(found) if found else self.screen.misread(line, position)])

    def _replies(self) -> Mapping[str, Callable[[Question[P, A]], Iterable[RenderableType]]]:
        """What each word is answered with."""
        screen = self.screen
        return {
            "?": lambda question: self._seen(question.position, every=True),
            "help": lambda _: self._help(),
            "table": lambda question: self._seen(question.position),
            "hint": self._hint,
            "history": lambda _: self._history(),
            "recap": lambda _: self._before or [f"This is the first {screen.chapter}."],
            "rules": lambda _: screen.rules.splitlines(),
            "undo": lambda _: ["Nothing is taken back: a move that is made counts."],
        }

    def _seen(self, position: P, *, every: bool = False) -> Iterator[RenderableType]:
        """The table, and the choices under it."""
        yield ""
        yield from self.screen.table(position)
        yield from self.screen.listed(position, self.console.width, every=every)

    def _help(self) -> list[str]:
        return _WORDS.format(
            advisor=self.advisor.name, chapter=self.screen.chapter, leaving=self.screen.leaving
        ).splitlines()

    def _history(self) -> Iterator[RenderableType]:
        earlier = len(self._past) - _EARLIER
        if earlier > 0:
            yield f"... {earlier} lines before"
        yield from self._past[-_EARLIER:] or ["Nothing has happened yet."]

    def _hint(self, question: Question[P, A]) -> Iterator[RenderableType]:
        """What the advisor would do, and the best of what it weighed."""
        advice = question.advice()
        yield f"{self.advisor.name} would: {advice.action}. {advice.reason}"
        if advice.options:
            yield options_table(
                advice.model_copy(update={"options": advice.options[:_MOST_WEIGHED]})
            )

    def _print(self, lines: Iterable[RenderableType]) -> None:
        for line in lines:
            self.console.print(Text(line) if isinstance(line, str) else line)


Seating = Callable[[Screen[Any, P, A]], Person[P, A]]
"""Makes the person who sees a screen."""


def matching(text: str, choices: Sequence[Choice[A]]) -> list[Choice[A]]:
    """The choices that a line can mean: by key, by name, by words of it or their beginnings.

    Of several words those names are meant that say least beside them.
    """
    if text.isascii() and text.isdecimal():
        return [one for one in choices if one.key == text]
    words = words_of(text)
    exact = [one for one in choices if words_of(one.name) == words]
    if exact or not words:
        return exact
    whole = [one for one in choices if set(words) <= set(one.words)]
    if len(words) > 1 and whole:  # "pair aces" is a pair of aces, and not two pair with others
        least = min(len(one.words) for one in whole)
        return [one for one in whole if len(one.words) == least]
    return whole or [one for one in choices if all(_begins(one.words, word) for word in words)]


def words_of(text: str) -> list[str]:
    """The words of a name, in lower case."""
    return re.findall(r"[a-z0-9-]+|[♣♦♥♠]", text.lower())


def in_columns(items: Sequence[str], width: int, first: str = "") -> list[str]:
    """Items side by side, read downwards, as many as `width` characters hold.

    `first` stands before the first line, and the others are moved in as far.
    """
    room = width - len(first)
    wide = 2 + max(map(len, items), default=0)
    rows = -(-len(items) // max(1, (room + 2) // wide))
    lines = ("".join(f"{item:{wide}}" for item in items[row::rows]).rstrip() for row in range(rows))
    return [(first if not row else " " * len(first)) + line for row, line in enumerate(lines)]


def _begins(words: Sequence[str], word: str) -> bool:
    return any(one.startswith(word) for one in words)


def _several(found: Sequence[Choice[Any]]) -> str:
    few = "; ".join(map(str, found[:_MOST_MEANT]))
    more = ", ..." if len(found) > _MOST_MEANT else ""
    return f"That can be {few}{more}. Which one?"
