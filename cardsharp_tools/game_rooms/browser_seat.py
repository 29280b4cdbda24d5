"""Remote seat of a person in a browser: its view, questions, advice and answers.

The match's thread shows moves and asks questions. The threads of HTTP requests read the view, wait
for changes, and answer. All of them share the one condition of the game room.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from secrets import token_urlsafe
from threading import Condition
from typing import Any, NamedTuple

from markupsafe import Markup
from rich.text import Text

from cardsharp.pages.board_renderer import BoardRenderer
from cardsharp.pages.table_parts import NO_ACTIONS, TableActions
from cardsharp.play.strategy import Decision
from cardsharp_tools.game_rooms.local_match import SeatedBot
from cardsharp_tools.terminal.human_player import (
    Advice,
    Advisor,
    MoveUndone,
    PlayerPrompt,
    PlayerQuit,
)
from cardsharp_tools.terminal.screen import AnyScreen, Choice, RenderedMove

AWAY_TIMEOUT = timedelta(
    seconds=45
)  # who has asked for nothing for so long does not look at the page
_FOLLOW_UP_TIMEOUT = timedelta(
    seconds=1
)  # wait for the moves after an answer, on a page without script

_DECISION_REASON = "Chosen in the browser"
_MAX_HISTORY_LINES = 400  # lines of the history that a page shows

REFUSAL_MESSAGES = {
    "late": "Your choice came too late, so nothing was played. This is the current position.",
    "unknown": "That is not one of your moves, so nothing was played. Choose one from the list.",
}
"""Messages for a rejected request, by the code in the page's address."""


class SeatUpdate(NamedTuple):
    """Changes at a seat: parts of the rendered board and lines of text, with their version.

    With `ends_chapter` the update shows how a chapter ended, such as all hands of a round.
    """

    version: int
    parts: dict[str, Markup]
    messages: list[str]
    ends_chapter: bool = False


class ChapterRecap(NamedTuple):
    """Recap of the last chapter: its lines of text and its final board."""

    lines: list[str]
    final_board: Markup


@dataclass(eq=False)
class BrowserSeat:
    """Seat of a person, identified by its secret; a `replacement_bot` may play instead."""

    condition: Condition
    advisor: Advisor[Any]
    make_decision: Callable[..., Decision[Any]]
    clock: Callable[[], float]
    name: str = ""
    show_hints: bool = False
    is_room_empty: Callable[[], bool] = lambda: False
    secret: str = field(default_factory=lambda: token_urlsafe(16))
    is_present: bool = False
    has_left: bool = False
    replacement_bot: SeatedBot | None = None
    version: int = 0
    seat: int = 0
    to_act: int | None = None
    question: PlayerPrompt[Any, Any] | None = None
    question_number: int = 0  # of the question; an answer to another is late
    advice: Advice | None = None
    updates: list[SeatUpdate] = field(default_factory=list)
    last_view: dict[str, Markup] = field(
        default_factory=dict
    )  # the whole table as it was last seen
    history: list[str] = field(default_factory=list)
    messages_since_answer: list[str] = field(
        default_factory=list
    )  # what has been told since the last answer
    message_batch: int = 0  # how often `since` began anew
    recap: ChapterRecap | None = None
    status_line: str = ""
    last_seen_at: float = 0.0
    can_undo: bool = False  # whether a choice may be taken back: where all others are bots
    choice_count: int = 0  # choices of the person in this match that can be taken back
    _answer: Choice[Any] | type[MoveUndone] | None = None
    _pending_lines: list[str] = field(default_factory=list)

    def start_match(self, screen: AnyScreen, board_renderer: BoardRenderer) -> None:
        """Begin a match: take its screen and board, and clear what is left of the last one."""
        with self.condition:
            self.screen, self.board, self.seat = screen, board_renderer, screen.you
            self.updates, self.last_view = [], {}
            self.history, self.messages_since_answer, self._pending_lines = [], [], []
            self.message_batch += 1
            self.recap = self.question = self.advice = self.to_act = None
            self.choice_count = 0
            self.notify_change()

    # --- what the match asks and tells ---------------------------------------------------------

    def decide(self, position: Any) -> Decision[Any]:  # noqa: ANN401 - any game's
        """Return the decision of the person or of the replacement bot.

        Raises `PlayerQuit` if the person leaves and `MoveUndone` if a move is taken back.
        """
        prompt = self.post_question(position)
        only = prompt.forced_decision()
        if only is not None:
            return only
        with self.condition:
            self.condition.wait_for(
                lambda: self._answer or self.replacement_bot or self.is_room_empty()
            )
            self.question = None
            self.notify_change()
        if isinstance(self._answer, Choice):
            self.choice_count += 1
            return prompt.decision_for(self._answer.action, _DECISION_REASON)
        if self._answer is not None:
            self.choice_count = max(0, self.choice_count - 1)
            raise MoveUndone
        if self.replacement_bot is None:
            raise PlayerQuit
        decision: Decision[Any] = self.replacement_bot.decide(position).decision
        return decision

    def post_question(self, position: Any) -> PlayerPrompt[Any, Any]:  # noqa: ANN401 - any game's
        """Let the page ask for a decision, unless there is only one answer; return the question."""
        prompt = PlayerPrompt(
            position, self.screen.choices(position), self.advisor, self.make_decision
        )
        if prompt.forced_decision() is None:
            advice = prompt.advice() if self.show_hints else None
            with self.condition:
                self.question, self._answer, self.advice = prompt, None, advice
                self.question_number += 1
                self.notify_change()
        return prompt

    def show_move(self, move: RenderedMove) -> None:
        """Add a move to the history and to the next update of the page."""
        with self.condition:
            lines = [line.plain if isinstance(line, Text) else str(line) for line in move.lines]
            self._pending_lines += lines
            self.history = [*self.history, *lines][-_MAX_HISTORY_LINES:]
            self.messages_since_answer += lines
            if move.final_view is not None:
                self._add_update(move.final_view, ends_chapter=move.ends_chapter)
            if move.ends_chapter:
                self.recap = ChapterRecap(
                    lines, self.last_view.get(self.board.round_summary_part, Markup())
                )

    def show_position(self, position: Any, to_act: int | None) -> None:  # noqa: ANN401 - any game's position
        """Draw the current position."""
        with self.condition:
            self.to_act, self.status_line = to_act, self.screen.status_line(position)
            self._add_update(position)

    # --- what requests do ----------------------------------------------------------------------

    def answer(self, question_number: int, key: str) -> str:
        """Accept the answer to a question by number.

        Returns "", or a key of `REFUSAL_MESSAGES` if the answer is rejected.
        """
        with self.condition:
            prompt = self._find_current_question(question_number)
            if prompt is None:
                return "late"
            chosen = next((choice for choice in prompt.choices if choice.key == key), None)
            return "unknown" if chosen is None else self._set_answer(chosen)

    def undo(self, question_number: int) -> str:
        """Take the last choice back, at the question of that number; return like `answer`."""
        with self.condition:
            if not self.can_undo or self._find_current_question(question_number) is None:
                return "late"
            return self._set_answer(MoveUndone)

    def show_advice(self, question_number: int) -> str:
        """Show advice on the question of that number; return "", or "late" if it is not open.

        The result is one of those of `answer`.
        """
        with self.condition:
            prompt = self._find_current_question(question_number)
            if prompt is None:
                return "late"
            self.advice = prompt.advice()
            self.notify_change()
            return ""

    def _find_current_question(self, question_number: int) -> PlayerPrompt[Any, Any] | None:
        return self.question if question_number == self.question_number else None

    def _set_answer(self, answer: Choice[Any] | type[MoveUndone]) -> str:
        self._answer, self.question, self.messages_since_answer = answer, None, []
        self.message_batch += 1
        self.condition.notify_all()
        return ""

    def wait_for_question(self) -> None:
        """Return when there is a new question, or after a moment."""
        with self.condition:
            self.condition.wait_for(
                lambda: self.question is not None, _FOLLOW_UP_TIMEOUT.total_seconds()
            )

    def wait_for_update(self, version: int, limit: timedelta) -> None:
        """Return when there is a newer version, or after the time limit."""
        with self.condition:
            self.condition.wait_for(lambda: self.version > version, limit.total_seconds())

    def updates_since(self, version: int) -> Sequence[SeatUpdate]:
        """Return the updates after a version."""
        return [frame for frame in self.updates if frame.version > version]

    @property
    def has_choice_to_undo(self) -> bool:
        """True if the person has made a choice in this match that can be taken back."""
        return self.can_undo and self.choice_count > 0

    def render_table(self, actions: TableActions) -> dict[str, Markup]:
        """Return the whole table as it is now, with the buttons of these actions on it."""
        if self.question is None or self.board.render_position is None:
            return self.last_view
        position = self.question.position
        rendered = self.board.render_position(self.screen.names, self.screen.you, position, actions)
        return self.last_view | {name: part for name, part in rendered.items() if part is not None}

    @property
    def is_away(self) -> bool:
        """True if no person plays here: the person has left or stopped looking at the page."""
        silent = self.clock() - self.last_seen_at > AWAY_TIMEOUT.total_seconds()
        return self.replacement_bot is None and (self.has_left or (self.is_present and silent))

    def record_visit(self) -> None:
        """Record that the person has requested the page."""
        self.last_seen_at = self.clock()

    def notify_change(self) -> None:
        """Report a change; the caller holds the condition."""
        self.version += 1
        self.condition.notify_all()

    def _add_update(self, position: object, *, ends_chapter: bool = False) -> None:
        """Add an update with the pending lines and the parts of the board that have changed."""
        if self.board.render_position is None:
            return
        rendered = self.board.render_position(
            self.screen.names, self.screen.you, position, NO_ACTIONS
        )
        visible_parts = {name: part for name, part in rendered.items() if part is not None}
        changed_parts = {
            name: part for name, part in visible_parts.items() if part != self.last_view.get(name)
        }
        self.last_view |= changed_parts
        self.notify_change()
        self.updates.append(
            SeatUpdate(self.version, changed_parts, self._pending_lines, ends_chapter)
        )
        self._pending_lines = []
