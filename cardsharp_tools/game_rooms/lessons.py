"""Lessons: decisions of your own matches that cost you most, asked again over days.

One file stores a card for each decision that the analysis marked. As with vocabulary cards, a card
that is answered correctly is asked again after a longer interval, and otherwise the next day.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Lock
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from cardsharp.analysis.judge import load_analysis_functions
from cardsharp.analysis.judged_match import severity_of
from cardsharp.analysis.match_listing import is_match_of, newest_matches
from cardsharp.analysis.replay import (
    DecisionPoint,
    StoredDecision,
    StoredOption,
    header_of,
)
from cardsharp.errors import ConfigError, StoreError
from cardsharp.play.game import Game
from cardsharp.store.match_log import MatchReader, MatchRecord, MoveRecord
from cardsharp_tools.game_rooms.local_match import HUMAN_NAME, screen_class
from cardsharp_tools.match_sources.analysis_cache import analyse_with_cache
from cardsharp_tools.terminal.match_printer import judge_value_text
from cardsharp_tools.terminal.screen import YOU_AS_NAME, AnyScreen

REVIEW_INTERVALS = tuple(
    timedelta(days=days) for days in (1, 3, 7, 21, 60)
)  # after so many good ones


class DecisionReviewCard(BaseModel):
    """Decision to be asked again, with its cost, due date and number of correct answers."""

    game: str
    match: str
    sequence: int
    cost: float
    due: date
    well: int = 0


class ExerciseDeck(BaseModel):
    """Deck of review cards, and the ids of the matches that were already searched for them."""

    cards: list[DecisionReviewCard] = []
    looked: list[str] = []

    @classmethod
    def read(cls, file: Path) -> "ExerciseDeck":
        """Read the deck from a file, empty if there is no file; raises `StoreError`."""
        try:
            return cls.model_validate_json(file.read_bytes())
        except FileNotFoundError:
            return cls()
        except (OSError, ValidationError) as error:
            raise StoreError(
                f"The file of lessons {file} cannot be read. Move it away to start a new one."
            ) from error

    def write(self, file: Path) -> None:
        """Replace the file; raises `StoreError`."""
        try:
            with NamedTemporaryFile("w", encoding="utf-8", dir=file.parent, delete=False) as fresh:
                fresh.write(json.dumps(self.model_dump(mode="json")))
            Path(fresh.name).replace(file)
        except OSError as error:
            raise StoreError(f"{file} cannot be written: {error.strerror}.") from error

    def due_cards(self, game: Game, today: date) -> list[DecisionReviewCard]:
        """Return the cards of a game that are due, the costliest decision first."""
        cards = [card for card in self.cards if card.game == game.name and card.due <= today]
        return sorted(cards, key=lambda card: -card.cost)

    def unscanned_matches(self, game: Game, log: MatchReader, limit: int) -> list[MatchRecord]:
        """Return the newest matches of a game, up to `limit`, that were not scanned."""
        newest = newest_matches(log, game, limit=limit)
        fresh = (record for record in newest if record.match_id not in self.looked)
        return [record for record in fresh if record.outcome is not None]

    def add_cards_from_match(self, game: Game, log: MatchReader, record: MatchRecord) -> None:
        """Make a card for each marked decision that a person made in a match.

        Raises `StoreError` if a move of it cannot be read.
        """
        match = record.match_id
        self.looked.append(match)
        moves = _read_all_moves(match, log)
        human_sequences = {
            point.step.sequence for point in _list_human_decisions(game, record, moves)
        }
        if not human_sequences:
            return
        with suppress(ConfigError):  # this kind of match has no judge
            self.cards += [
                DecisionReviewCard(
                    game=game.name,
                    match=match,
                    sequence=point.sequence,
                    cost=point.cost,
                    due=date.min,
                )
                for point in analyse_with_cache(game, record, moves).decisions
                if point.sequence in human_sequences and point.mark is not None
            ]


def _read_all_moves(match: str, log: MatchReader) -> list[MoveRecord]:
    """Return all moves of a match; raise `StoreError` if one cannot be read."""
    moves = log.moves(match)
    for move in moves:
        if move.read_error is not None:
            raise StoreError(
                f"Move {move.sequence} of match {match} cannot be read: {move.read_error}."
            )
    return moves


def _list_human_decisions(
    game: Game, record: MatchRecord, moves: Sequence[MoveRecord]
) -> list[DecisionPoint]:
    decision_points = load_analysis_functions(game).list_decisions(record, moves)
    return [
        point
        for point in decision_points
        if point.step.decision and point.step.decision.strategy == HUMAN_NAME
    ]


class ExerciseQuestion(NamedTuple):
    """Question of a lesson: a past decision, with its card, its player's screen and its step."""

    card: DecisionReviewCard
    decision_point: DecisionPoint
    screen: AnyScreen
    number: int  # of the step, as a match's page counts them from 1

    @property
    def choice_label_by_action(self) -> dict[Any, str]:
        """Display names of the choices, by action."""
        return {
            choice.action: choice.name
            for choice in self.screen.choices(self.decision_point.position)
        }

    @property
    def original_action_label(self) -> str:
        """Display name of the action that was chosen in the match."""
        done = self.decision_point.step.decision.action if self.decision_point.step.decision else ""
        chosen = (
            action for action, name in self.decision_point.option_names.items() if name == done
        )
        return next(
            (
                self.choice_label_by_action[action]
                for action in chosen
                if action in self.choice_label_by_action
            ),
            done,
        )


def make_question(
    card: DecisionReviewCard, game: Game, log: MatchReader
) -> ExerciseQuestion | None:
    """Return the question of a card, or None if its match is no longer stored.

    Raises `StoreError`.
    """
    record = log.match(card.match)
    if record is None or not is_match_of(game, record):
        return None
    moves, header = _read_all_moves(card.match, log), header_of(record)
    sequences = [step.sequence for step in load_analysis_functions(game).replay(record, moves)]
    for decision_point in _list_human_decisions(game, record, moves):
        if decision_point.step.sequence == card.sequence:
            you, seats = decision_point.step.seat or 0, range(len(header.names or header.players))
            player_names = [
                YOU_AS_NAME if seat == you else header.player_name(seat) for seat in seats
            ]
            step_number = sequences.index(card.sequence) + 1
            screen = screen_class(game)(player_names, you)
            screen.restore_score_from_header(record.header)
            return ExerciseQuestion(card, decision_point, screen, step_number)
    return None


class AnswerReview(NamedTuple):
    """Review of an answer: its value beside the best option's, in the judge's `number_format`.

    `is_correct` is True if the analysis would not mark the answer as a mistake.
    """

    is_correct: bool
    answer: str
    value: float
    best_value: float
    thought: StoredDecision
    number_format: str

    @property
    def comparison_text(self) -> str:
        """Sentence that compares the values of the answer and of the best option."""
        best = self.thought.action
        more = f"; the best is {best}: {judge_value_text(self.number_format, self.best_value)}."
        return f"Value of {self.answer}: {judge_value_text(self.number_format, self.value)}" + (
            ", the best." if best == self.answer else more
        )


def judge_answer(
    game: Game, question: ExerciseQuestion, chosen_action: object
) -> AnswerReview | None:
    """Return the judge's review of an answer, or None if the judge cannot evaluate it."""
    judge, words = load_analysis_functions(game).judge, question.choice_label_by_action
    decision = judge.evaluate(question.decision_point.position, [chosen_action])
    if decision is None:
        return None
    worth = {option.action: option.value for option in decision.options if option.value is not None}
    if chosen_action not in worth or decision.action not in worth:
        return None
    options = tuple(
        StoredOption(
            action=words[option.action], value=option.value, note=option.note, unit=option.unit
        )
        for option in decision.options
        if option.action in words
    )
    best = max(worth[decision.action], worth[chosen_action])
    well = severity_of((best - worth[chosen_action]) / judge.value_range) is None
    act, reason = words.get(decision.action, str(decision.action)), decision.reason
    thought = StoredDecision(action=act, reason=reason, options=options, strategy=judge.name)
    return AnswerReview(
        well, words[chosen_action], worth[chosen_action], best, thought, judge.value_format
    )


def schedule_next_review(card: DecisionReviewCard, today: date, *, is_correct: bool) -> None:
    """Record an answer: a correct one lengthens the interval, a wrong one resets it."""
    card.well = min(card.well + 1, len(REVIEW_INTERVALS)) if is_correct else 0
    card.due = today + REVIEW_INTERVALS[max(card.well, 1) - 1]


@dataclass(frozen=True)
class LessonSession:
    """Today's questions and the review of the first answer to each, stored at once."""

    game: Game
    questions: Sequence[ExerciseQuestion]
    lessons: ExerciseDeck
    file: Path
    today: date
    corrections: dict[int, AnswerReview | None] = field(default_factory=dict)
    _answer_lock: Lock = field(default_factory=Lock)

    @property
    def correct_count(self) -> int:
        """Number of correct answers."""
        return sum(
            correction is not None and correction.is_correct
            for correction in self.corrections.values()
        )

    def submit_answer(self, index: int, action: object) -> AnswerReview | None:
        """Return the review of an answer, or None if it cannot be evaluated.

        Only the first answer counts. Raises `StoreError` if it cannot be stored.
        """
        with self._answer_lock:
            if index not in self.corrections:
                question = self.questions[index]
                review = judge_answer(self.game, question, action)
                schedule_next_review(
                    question.card, self.today, is_correct=review is not None and review.is_correct
                )
                self.lessons.write(self.file)
                self.corrections[index] = review
            return self.corrections[index]

    def original_cost_text(self, index: int) -> str:
        """Return a sentence with the original choice and its cost."""
        question = self.questions[index]
        cost = judge_value_text(
            load_analysis_functions(self.game).judge.value_format.lstrip("+"), question.card.cost
        )
        return f"In the match you chose {question.original_action_label}, which cost {cost}."
