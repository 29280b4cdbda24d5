"""A person at the table: what may be asked and typed, in the words that every game knows."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol

from rich.console import Console, RenderableType
from rich.text import Text

from cardsharp.analysis.replay import StoredDecision, StoredOption
from cardsharp.core.sentences import capitalise, count_text
from cardsharp.play.simulation import A, P
from cardsharp.play.strategy import Decision, Strategy, ranked
from cardsharp_tools.terminal.match_printer import options_table
from cardsharp_tools.terminal.screen import (
    SCREEN_LINES,
    Choice,
    RenderedMove,
    Screen,
    ambiguous_input_text,
    matching_choices,
)

ReadLine = Callable[
    [str], str
]  # shows a prompt and returns a line; `EOFError` where there are no more

_MOVE_PROMPT = "Your move (number or name, help)? "
QUIT_WORDS = ("quit", "exit", "q")  # words by which a person leaves

_MAX_OPTIONS = 6
_MAX_HISTORY_LINES = SCREEN_LINES - 3  # lines of the past that are shown at once

_HELP_TEXT = """\
Type the number of a move, or words of its name. Beginnings of words are enough.
  table    show the table again; ? shows it with all your moves
  hint     show what {advisor} would do, and why
  why      show the numbers behind the hint
  history  show what has happened so far
  recap    show what happened in the previous {chapter}
  rules    show the rules on one screen
  quit     leave the table{leaving}
{undo}"""

_UNDO_HELP = "  undo     take your last choice back; cards that you did not know are dealt again"
_NO_UNDO_MESSAGE = "Moves cannot be taken back in this match."


class PlayerQuit(Exception):
    """Raised when the person leaves the game."""


class MoveUndone(Exception):
    """Raised when the person takes the last choice back."""


class Advisor(NamedTuple, Generic[P]):
    """Adviser of a person; a person can play `rule_strategy` without a computer."""

    name: str
    strategy: Strategy[P, Decision[Any]]
    rule_strategy: Strategy[P, Decision[Any]] | None = None


class Advice(NamedTuple):
    """Advice to a person: what the advisor would do, and what a rule of thumb says, if any."""

    decision: StoredDecision
    rule_text: str = ""

    @property
    def sentence(self) -> str:
        """The advice in one sentence: the action, and why."""
        return f"{capitalise(self.decision.action)}: {_continue_sentence(self.decision.reason)}"


def _continue_sentence(sentence: str) -> str:
    """Return a sentence as it continues after a colon; a name, such as "Key 3", stays as it is."""
    first_word, _, rest = sentence.partition(" ")
    is_name = not first_word.isalpha() or rest[:1].isdigit()
    return sentence if is_name else first_word.lower() + sentence[len(first_word) :]


@dataclass
class PlayerPrompt(Generic[P, A]):
    """Question to a person, with advice; `make_decision` makes the game's own decision."""

    position: P
    choices: Sequence[Choice[A]]
    advisor: Advisor[P]
    make_decision: Callable[..., Decision[A]] = Decision
    _cached_advice: Decision[A] | None = field(default=None, init=False)

    def forced_decision(self) -> Decision[A] | None:
        """Return the only possible decision, or None if there are several."""
        several = len(self.choices) != 1
        return None if several else self.make_decision(self.choices[0].action, "The only move.")

    def advice(self) -> Advice:
        """Return the advisor's decision, and what a person can play by without a computer."""
        if self._cached_advice is None:
            self._cached_advice = self.advisor.strategy.decide(self.position)
        ruled = self.advisor.rule_strategy and self.advisor.rule_strategy.decide(self.position)
        rule = f"{self._find_action_name(ruled.action)}. {ruled.reason}" if ruled else ""
        decision = name_decision(self._cached_advice, self.choices, self.advisor.name)
        return Advice(decision, rule and f"The rule of thumb says: {rule}")

    def decision_for(self, action: A, input_method: str) -> Decision[A]:
        """Return the decision for an action.

        Its reason has `input_method`, which says how the person chose, and the advice.
        """
        if self._cached_advice is None:
            return self.make_decision(action, f"{input_method}.")
        advised = f"{self.advisor.name} would: {self._find_action_name(self._cached_advice.action)}"
        return self.make_decision(
            action, f"{input_method}; {advised}.", self._cached_advice.options
        )

    def _find_action_name(self, action: A) -> str:
        return _name_action(action, self.choices)


def name_decision(
    decision: Decision[A], choices: Sequence[Choice[A]], strategy_name: str
) -> StoredDecision:
    """Return a decision with the names of its actions at the table, the best option first."""
    options = (
        StoredOption(
            action=_name_action(option.action, choices),
            value=option.value,
            note=option.note,
            unit=option.unit,
        )
        for option in ranked(decision.options)
    )
    return StoredDecision(
        action=_name_action(decision.action, choices),
        reason=decision.reason,
        options=tuple(options),
        strategy=strategy_name,
    )


def _name_action(action: A, choices: Sequence[Choice[A]]) -> str:
    return next((choice.name for choice in choices if choice.action == action), str(action))


class HumanPlayer(Protocol[P, A]):
    """Person who plays, in a terminal or a browser."""

    screen: Screen[Any, P, A]

    def decide(self, position: P) -> Decision[A]:
        """Return the person's decision; raise `PlayerQuit` if the person leaves."""

    def show_move(self, move: RenderedMove) -> None:
        """Show a move."""

    def show_position(self, position: P, to_act: int | None) -> None:
        """Show the table, and whose turn it is."""


@dataclass
class TerminalPlayer(Generic[P, A]):
    """Player whose decisions are typed in a terminal, with hints if `show_hints` is set.

    `make_decision` makes the game's own decision.
    """

    screen: Screen[Any, P, A]
    ask: ReadLine
    console: Console
    advisor: Advisor[P]
    show_hints: bool = False
    make_decision: Callable[..., Decision[A]] = Decision
    can_undo: bool = False
    _history_lines: list[RenderableType] = field(default_factory=list, init=False)
    _previous_chapter: list[RenderableType] = field(default_factory=list, init=False)
    _current_chapter: list[RenderableType] = field(default_factory=list, init=False)

    def show_move(self, move: RenderedMove) -> None:
        """Print a move, and keep it for the next display."""
        self._print_lines(move.lines)
        self._history_lines += move.lines
        self._current_chapter += move.lines
        if move.ends_chapter:
            self._previous_chapter, self._current_chapter = self._current_chapter, []

    def show_position(self, position: P, to_act: int | None) -> None:
        """Do nothing: a terminal shows the position at the next decision."""

    def waiting_status(self, text: str) -> AbstractContextManager[object]:
        """Show a waiting message on the terminal while the block runs."""
        return self.console.status(Text(text))

    def decide(self, position: P) -> Decision[A]:
        """Return the action that is typed, or the only one, after showing the hint.

        Raises `PlayerQuit` or `MoveUndone`.
        """
        prompt = PlayerPrompt(
            position, self.screen.choices(position), self.advisor, self.make_decision
        )
        only = prompt.forced_decision()
        if only is not None:
            return only
        self._print_lines(self._format_position(position))
        if self.show_hints:
            self._print_lines([f"Hint: {prompt.advice().sentence}"])
        return prompt.decision_for(self._read_action(prompt), "Typed at the terminal")

    def confirm(self, expected: str, prompt: str) -> bool:
        """Return True if the person types `expected`; raise `PlayerQuit` if the person leaves."""
        return self._read_line(prompt).lower() == expected

    def _read_line(self, prompt: str) -> str:
        try:
            line = self.ask(prompt).strip()
        except EOFError:
            raise PlayerQuit from None
        if line.lower() in QUIT_WORDS:
            raise PlayerQuit
        return line

    def _read_action(self, prompt: PlayerPrompt[P, A]) -> A:
        position = prompt.position
        while True:
            line = self._read_line(_MOVE_PROMPT)
            if self.can_undo and line.lower() == "undo":
                raise MoveUndone
            reply = self._build_command_handlers().get(line.lower())
            if reply is not None:
                self._print_lines(reply(prompt))
                continue
            matches = matching_choices(line, prompt.choices)
            if len(matches) == 1:
                return matches[0].action
            self._print_lines(
                [
                    ambiguous_input_text(matches)
                    if matches
                    else self.screen.unknown_input_text(line, position)
                ]
            )

    def _build_command_handlers(
        self,
    ) -> Mapping[str, Callable[[PlayerPrompt[P, A]], Iterable[RenderableType]]]:
        screen = self.screen
        return {
            "?": lambda question: self._format_position(question.position, include_all=True),
            "help": lambda _: _HELP_TEXT.format(
                advisor=self.advisor.name,
                chapter=screen.chapter,
                leaving=screen.quit_warning,
                undo=_UNDO_HELP if self.can_undo else _NO_UNDO_MESSAGE,
            ).splitlines(),
            "table": lambda question: self._format_position(question.position),
            "hint": self._format_hint,
            "why": self._format_numbers,
            "history": lambda _: self._format_history(),
            "recap": lambda _: self._previous_chapter or [f"This is the first {screen.chapter}."],
            "rules": lambda _: screen.rules.splitlines(),
            "undo": lambda _: [_NO_UNDO_MESSAGE],
        }

    def _format_position(
        self, position: P, *, include_all: bool = False
    ) -> Iterator[RenderableType]:
        yield ""
        yield from self.screen.position_view(position)
        yield from self.screen.choice_lines(position, self.console.width, include_all=include_all)

    def _format_history(self) -> Iterator[RenderableType]:
        earlier = len(self._history_lines) - _MAX_HISTORY_LINES
        if earlier > 0:
            yield f"… {count_text(earlier, 'earlier line')}"
        yield from self._history_lines[-_MAX_HISTORY_LINES:] or ["Nothing has happened yet."]

    def _format_hint(self, prompt: PlayerPrompt[P, A]) -> Iterator[RenderableType]:
        yield f"{prompt.advice().sentence} Type why for the numbers."

    def _format_numbers(self, prompt: PlayerPrompt[P, A]) -> Iterator[RenderableType]:
        decision, rule_text = prompt.advice()
        yield f"{capitalise(self.advisor.name)} would {decision.action}."
        if few := decision.options[:_MAX_OPTIONS]:
            yield options_table(decision.model_copy(update={"options": few}))
            yield self.screen.value_meaning
        if rule_text:
            yield rule_text

    def _print_lines(self, lines: Iterable[RenderableType]) -> None:
        for line in lines:
            self.console.print(Text(line) if isinstance(line, str) else line)


PlayerFactory = Callable[
    [Screen[Any, P, A]], TerminalPlayer[P, A]
]  # makes the person who sees a screen
