"""A game's view of a match for a person, and the choices that a typed line can mean."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

from rich.console import RenderableType

from cardsharp.core.sentences import YOU
from cardsharp.errors import ConfigError
from cardsharp.play.simulation import A, P, S

if TYPE_CHECKING:
    from cardsharp_tools.terminal.human_player import TerminalPlayer

_MAX_SUGGESTIONS = 6

SCREEN_LINES = 24  # lines of the smallest terminal on which everything is to be seen at once


YOU_AS_NAME = "You"  # the person at the screen among the names of the players

_LISTED = re.compile(r"^  ([A-Z][\w ,]*?)  +(.+(?:\n {10,}.+)*)$", re.MULTILINE)
"""Pattern of a list in the rules: each name, and its explanation."""


class Choice(NamedTuple, Generic[A]):
    """Legal action with the texts by which it can be typed: its key, its name, or words."""

    key: str
    name: str
    action: A
    aliases: str = ""
    short: str = ""
    """Name among the other choices of its `ChoiceGroup`; if it is empty, the usual name."""

    side_note: str = ""
    """Note beside the choice on request: its probability by the player's own cards."""

    @property
    def accepted_words(self) -> list[str]:
        """All words that a person may type for this choice."""
        return lower_case_words(f"{self.name} {self.aliases}")

    def __str__(self) -> str:
        return f"{self.key} {self.name}"


class ChoiceGroup(NamedTuple, Generic[A]):
    """Choices of a kind; keys in `disabled` cannot be chosen now.

    Choices of an implausible group are legal, but make little sense.
    """

    title: str
    choices: Sequence[Choice[A]]
    disabled: Collection[str] = ()
    implausible: bool = False


class RenderedMove(NamedTuple):
    """Display of a move that was made, as a screen shows it.

    `ends_chapter` is True if the move ends a chapter; `final_view` is shown before the
    match goes on.
    """

    lines: Sequence[RenderableType] = ()
    ends_chapter: bool = False
    final_view: Any = None


class Invitation(NamedTuple):
    """Invitation to a match: its id, its service, and the player's name there."""

    url: str
    game: str
    nickname: str


class Screen(Generic[S, P, A]):
    """View of a match for the person at seat `you`; `names` are by seat. Each game has its own."""

    rules = ""  # on at most `SCREEN` lines, with the prompt

    chapter = "round"  # what a match is told in

    quit_warning = ""  # what it means to leave, after a comma

    value_meaning = "The values are those of the strategy."
    """Sentence that tells a person what the values of the options of a hint mean."""

    def __init__(self, names: Sequence[str], seat: int) -> None:
        self.names, self.you = names, seat

    def name_in_sentence(self, seat: int) -> str:
        """Return a player's name as a part of a sentence: "you" for the person at the screen."""
        return YOU if seat == self.you else self.names[seat]

    @classmethod
    def play_remote_match(
        cls,
        _invitation: Invitation,
        _build_player: "Callable[[Screen[Any, P, A]], TerminalPlayer[P, A]]",
    ) -> str:
        """Join a match at a service, play it, and return the winner."""
        raise ConfigError(
            "This game has no service that can be joined from a terminal. Remove --url."
        )

    def restore_score_from_header(self, header: Mapping[str, object]) -> None:
        """Restore the earlier state of a stored match from its header."""

    def state_if_resigned(self, _state: S) -> S | None:
        """Return the final state if the person leaves now; None if the game has no such end."""
        return None

    def status_line(self, _position: P) -> str:
        """Return the state of the match in a line."""
        return ""

    def position_view(self, position: P) -> Iterable[RenderableType]:
        """Return the open cards or bets, and the person's own cards."""
        raise NotImplementedError

    def choices(self, position: P) -> Sequence[Choice[A]]:
        """Return every legal action."""
        raise NotImplementedError

    def choice_groups(self, position: P) -> Sequence[ChoiceGroup[A]]:
        """Return the choices by kind, with those that are disabled now."""
        return [ChoiceGroup("", self.choices(position))]

    def decision_label(self, position: P, action: A) -> str:
        """Return a decision in a few words, as the beginning of its reason."""
        return next(
            (choice.name for choice in self.choices(position) if choice.action == action),
            str(action),
        )

    def reasons_title(self, _position: P) -> str:
        """Return the line above the reasons of a chapter's decisions."""
        return "Why the others played so:"

    def render_screen_move(self, previous_state: S, action: A, next_state: S) -> RenderedMove:
        """Return the display of an action, as far as the person may see it."""
        raise NotImplementedError

    def choice_lines(self, position: P, width: int, *, include_all: bool) -> Iterable[str]:
        """Return the sensible choices, or all with `include_all`, in columns."""
        del include_all
        return format_columns([str(choice) for choice in self.choices(position)], width)

    @classmethod
    def rule_notes_by_term(cls) -> dict[str, str]:
        """Return the notes of the rules by the name of each thing, such as a suit."""
        listed = _LISTED.findall(cls.rules)
        notes = [(name, text) for names, text in listed for name in names.split(",")]
        return {name.strip(): " ".join(text.split()) for name, text in notes}

    @classmethod
    def rules_introduction(cls) -> list[str]:
        """Return the rules up to the list of notes."""
        list_match = _LISTED.search(cls.rules)
        lines = cls.rules[: list_match.start() if list_match else None].rstrip().splitlines()
        return [*lines, "  Each is explained when it first comes up."] if list_match else lines

    def unknown_input_text(self, _line: str, _position: P) -> str:
        """Return the reply to an input that matches no choice."""
        return "That is not one of your moves. Type a number of the list, or ? to see all moves."


AnyScreen = Screen[Any, Any, Any]


def matching_choices(text: str, choices: Sequence[Choice[A]]) -> list[Choice[A]]:
    """Return the choices that an input can mean, by key, name or words; the closest only."""
    if text.isascii() and text.isdecimal():
        return [choice for choice in choices if choice.key == text]
    words = lower_case_words(text)
    exact = [
        choice
        for choice in choices
        if words and words in map(lower_case_words, (choice.name, choice.aliases))
    ]
    if exact or not words:
        return exact
    full_matches = [choice for choice in choices if set(words) <= set(choice.accepted_words)]
    if (
        len(words) > 1 and full_matches
    ):  # "pair aces" is a pair of aces, and not two pair with others
        min_token_count = min(len(choice.accepted_words) for choice in full_matches)
        return [choice for choice in full_matches if len(choice.accepted_words) == min_token_count]
    return full_matches or [
        choice
        for choice in choices
        if all(any(token.startswith(prefix) for token in choice.accepted_words) for prefix in words)
    ]


def lower_case_words(text: str) -> list[str]:
    """Return the words of a name in lower case."""
    return re.findall(r"[a-z0-9-]+|[♣♦♥♠]", text.lower())


def format_columns(items: Sequence[str], width: int, prefix: str = "") -> list[str]:
    """Return items in columns of `width` characters, read downwards; `prefix` leads each line."""
    room = width - len(prefix)
    wide = 2 + max(map(len, items), default=0)
    rows = -(-len(items) // max(1, (room + 2) // wide))
    lines = ("".join(f"{item:{wide}}" for item in items[row::rows]).rstrip() for row in range(rows))
    return [(prefix if not row else " " * len(prefix)) + line for row, line in enumerate(lines)]


def ambiguous_input_text(matches: Sequence[Choice[Any]]) -> str:
    """Return the reply to an input that matches several choices."""
    few = "; ".join(map(str, matches[:_MAX_SUGGESTIONS]))
    more = ", …" if len(matches) > _MAX_SUGGESTIONS else ""
    return f"That can mean {few}{more}. Which one?"
