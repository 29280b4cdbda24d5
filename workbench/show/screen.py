"""What a game shows a person of a match, and which of its choices a typed line means."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

from rich.console import RenderableType

from cardsharp.errors import ConfigError
from cardsharp.simulation import A, P, S

if TYPE_CHECKING:
    from workbench.show.person import Person

_MOST_MEANT = 6

SCREEN = 24  # lines of the smallest terminal on which everything is to be seen at once


_LISTED = re.compile(r"^  ([A-Z][\w ,]*?)  +(.+(?:\n {10,}.+)*)$", re.MULTILINE)
"""What rules list: names, and what is to be known of each."""


class Choice(NamedTuple, Generic[A]):
    """An action as it may be typed: by its key, by its name, or by words of it and of `also`."""

    key: str
    name: str
    action: A
    also: str = ""
    short: str = ""
    """What it is called among others of its `ChoiceGroup`; as always, where that is empty."""

    aside: str = ""
    """What a page tells beside it where that is wished: how likely it is by one's own cards."""

    @property
    def words(self) -> list[str]:
        """All words that may be typed."""
        return words_of(f"{self.name} {self.also}")

    def __str__(self) -> str:
        return f"{self.key} {self.name}"


class ChoiceGroup(NamedTuple, Generic[A]):
    """Choices of a kind; keys in `barred` cannot be chosen now, `remote` ones make no sense."""

    title: str
    choices: Sequence[Choice[A]]
    barred: Collection[str] = ()
    remote: bool = False


class ScreenMove(NamedTuple):
    """What to tell of a move; it `closes` a chapter; `shown` is seen before all goes on."""

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

    rules = ""  # on at most `SCREEN` lines, with the prompt

    chapter = "round"  # what a match is told in

    leaving = ""  # what it means to leave, after a comma

    def __init__(self, names: Sequence[str], you: int) -> None:
        self.names, self.you = names, you

    @classmethod
    def join(cls, _wanted: Invitation, _seat: "Callable[[Screen[Any, P, A]], Person[P, A]]") -> str:
        """Play a match at a service; who has won. `seat` makes the person who sees a screen."""
        raise ConfigError("No service of this game can be joined from a terminal; leave --url out.")

    def resume(self, header: Mapping[str, object]) -> None:
        """Take in what the header of a stored match says of what was before the screen's match."""

    def given_up(self, _state: S) -> S | None:
        """How a match ends that the person leaves; None for a game that knows no such end."""
        return None

    def standing(self, _position: P) -> str:
        """How the match stands, in a line."""
        return ""

    def table(self, position: P) -> Iterable[RenderableType]:
        """What lies open, and the person's own cards."""
        raise NotImplementedError

    def choices(self, position: P) -> Sequence[Choice[A]]:
        """Every legal action."""
        raise NotImplementedError

    def groups(self, position: P) -> Sequence[ChoiceGroup[A]]:
        """The choices by kind, with those of the same kind that are barred now."""
        return [ChoiceGroup("", self.choices(position))]

    def told(self, before: S, action: A, after: S) -> ScreenMove:
        """What an action did, as the person may see it."""
        raise NotImplementedError

    def listed(self, position: P, width: int, *, every: bool) -> Iterable[str]:
        """The choices, those that make sense or `every` one of them, in columns."""
        del every
        return in_columns([str(choice) for choice in self.choices(position)], width)

    @classmethod
    def lessons(cls) -> dict[str, str]:
        """What the rules say of each thing that they list, such as a suit, by its name."""
        listed = _LISTED.findall(cls.rules)
        known = [(name, text) for names, text in listed for name in names.split(",")]
        return {name.strip(): " ".join(text.split()) for name, text in known}

    @classmethod
    def introduction(cls) -> list[str]:
        """The rules up to what they list."""
        first = _LISTED.search(cls.rules)
        lines = cls.rules[: first.start() if first else None].rstrip().splitlines()
        return [*lines, "  Each is explained when it first comes up."] if first else lines

    def misread(self, _line: str, _position: P) -> str:
        """What to say of a line that means none of the choices."""
        return "That is none of your moves; type a number of the list, or ? to see all."


AnyScreen = Screen[Any, Any, Any]


def matching(text: str, choices: Sequence[Choice[A]]) -> list[Choice[A]]:
    """The choices that a line can mean: by key, by name, by words or beginnings; the closest."""
    if text.isascii() and text.isdecimal():
        return [one for one in choices if one.key == text]
    words = words_of(text)
    exact = [one for one in choices if words and words in map(words_of, (one.name, one.also))]
    if exact or not words:
        return exact
    whole = [one for one in choices if set(words) <= set(one.words)]
    if len(words) > 1 and whole:  # "pair aces" is a pair of aces, and not two pair with others
        least = min(len(one.words) for one in whole)
        return [one for one in whole if len(one.words) == least]
    return whole or [
        choice
        for choice in choices
        if all(any(one.startswith(word) for one in choice.words) for word in words)
    ]


def words_of(text: str) -> list[str]:
    """The words of a name, in lower case."""
    return re.findall(r"[a-z0-9-]+|[♣♦♥♠]", text.lower())


def in_columns(items: Sequence[str], width: int, first: str = "") -> list[str]:
    """Items side by side in `width` characters, read downwards; `first` stands before them."""
    room = width - len(first)
    wide = 2 + max(map(len, items), default=0)
    rows = -(-len(items) // max(1, (room + 2) // wide))
    lines = ("".join(f"{item:{wide}}" for item in items[row::rows]).rstrip() for row in range(rows))
    return [(first if not row else " " * len(first)) + line for row, line in enumerate(lines)]


def several(found: Sequence[Choice[Any]]) -> str:
    """What to say of a line that means several choices: the first of them, and the question."""
    few = "; ".join(map(str, found[:_MOST_MEANT]))
    more = ", ..." if len(found) > _MOST_MEANT else ""
    return f"That can be {few}{more}. Which one?"
