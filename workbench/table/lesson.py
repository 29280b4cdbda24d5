"""Positions of your own matches in which you lost most, asked again over days, also as pages.

What was asked is kept in one file: a card for each marked decision. A card that is answered well is
asked again after a longer time, else the next day, as with cards of vocabulary.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, timedelta
from http import HTTPStatus
from pathlib import Path
from secrets import token_urlsafe
from tempfile import NamedTemporaryFile
from threading import Lock
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from cardsharp.analysis import analyse, mark_of
from cardsharp.cloud.listing import is_match_of, newest_matches
from cardsharp.cloud.ports import MatchReader, MatchRecord, MoveRecord
from cardsharp.errors import ConfigError, StoreError
from cardsharp.game import Game
from cardsharp.judge import judging
from cardsharp.replay import Asked, Thought, Weighed, header_of
from cardsharp.viewer.pages import thought_part
from workbench.show.drawing import amount
from workbench.show.screen import AnyScreen
from workbench.table.pages import NEW, SITE, choosing, form_of, template
from workbench.table.room import board_of
from workbench.table.setting import Setting
from workbench.table.sitting import PERSON, screens_of

REST = tuple(timedelta(days=days) for days in (1, 3, 7, 21, 60))  # after so many good ones


class Exercise(BaseModel):
    """A decision to be asked again: what it cost, when, and how often it was answered well."""

    game: str
    match: str
    sequence: int
    cost: float
    due: date
    well: int = 0


class Lessons(BaseModel):
    """All cards, and the matches that were looked through for them."""

    cards: list[Exercise] = []
    looked: list[str] = []

    @classmethod
    def read(cls, file: Path) -> "Lessons":
        """What the file has, nothing where there is none; raises `StoreError`."""
        try:
            return cls.model_validate_json(file.read_bytes())
        except FileNotFoundError:
            return cls()
        except (OSError, ValidationError) as error:
            raise StoreError(f"{file} cannot be read; move it away to begin anew.") from error

    def write(self, file: Path) -> None:
        """Replace the file; raises `StoreError`."""
        try:
            with NamedTemporaryFile("w", encoding="utf-8", dir=file.parent, delete=False) as fresh:
                fresh.write(json.dumps(self.model_dump(mode="json")))
            Path(fresh.name).replace(file)
        except OSError as error:
            raise StoreError(f"{file} cannot be written: {error.strerror}.") from error

    def due(self, game: Game, today: date) -> list[Exercise]:
        """The cards of a game that are to be asked, what cost most first."""
        found = [one for one in self.cards if one.game == game.name and one.due <= today]
        return sorted(found, key=lambda one: -one.cost)

    def unseen(self, game: Game, log: MatchReader, limit: int) -> list[MatchRecord]:
        """The matches of a game, of the newest so many, that were not looked through."""
        newest = newest_matches(log, game, limit=limit)
        fresh = (one for one in newest if one.match_id not in self.looked)
        return [one for one in fresh if one.outcome is not None]

    def look_through(self, game: Game, log: MatchReader, record: MatchRecord) -> None:
        """Make a card of each marked decision that a person made in a match.

        Raises `StoreError` if a move of it cannot be read.
        """
        match = record.match_id
        self.looked.append(match)
        moves = _whole(match, log)
        own = {one.step.sequence for one in _own(game, record, moves)}
        if not own:
            return
        with suppress(ConfigError):  # a table at which nobody can judge
            self.cards += [
                Exercise(
                    game=game.name, match=match, sequence=one.sequence, cost=one.cost, due=date.min
                )
                for one in analyse(game, record, moves).decisions
                if one.sequence in own and one.mark is not None
            ]


def _whole(match: str, log: MatchReader) -> list[MoveRecord]:
    """All moves of a match; raises `StoreError` if one cannot be read."""
    moves = log.moves(match)
    for move in moves:
        if move.fault is not None:
            raise StoreError(f"Move {move.sequence} of match {match} cannot be read: {move.fault}.")
    return moves


def _own(game: Game, record: MatchRecord, moves: Sequence[MoveRecord]) -> list[Asked]:
    asked = judging(game).decisions(record, moves)
    return [one for one in asked if one.step.ours and one.step.ours.strategy == PERSON]


class LessonQuestion(NamedTuple):
    """A decision that is asked again: its card, the screen of whoever made it, and its step."""

    card: Exercise
    asked: Asked
    screen: AnyScreen
    number: int  # of the step, as a match's page counts them from 1

    @property
    def words(self) -> dict[Any, str]:
        """What the choices are called at a table."""
        return {one.action: one.name for one in self.screen.choices(self.asked.position)}

    @property
    def then(self) -> str:
        """What was chosen then."""
        done = self.asked.step.ours.action if self.asked.step.ours else ""
        chosen = (one for one, name in self.asked.options.items() if name == done)
        return next((self.words[one] for one in chosen if one in self.words), done)


def question_of(card: Exercise, game: Game, log: MatchReader) -> LessonQuestion | None:
    """What a card asks, None where its match is no longer kept; or raises `StoreError`."""
    record = log.match(card.match)
    if record is None or not is_match_of(game, record):
        return None
    moves, header = _whole(card.match, log), header_of(record)
    steps = [step.sequence for step in judging(game).replay(record, moves)]
    for one in _own(game, record, moves):
        if one.step.sequence == card.sequence:
            you, seats = one.step.seat or 0, range(len(header.names or header.players))
            names = [PERSON if seat == you else header.name(seat) for seat in seats]
            number = steps.index(card.sequence) + 1
            screen = screens_of(game)(names, you)
            screen.resume(record.header)
            return LessonQuestion(card, one, screen, number)
    return None


class Correction(NamedTuple):
    """What an answer is worth beside the best, in the judge's `form`; `well`: without a mark."""

    well: bool
    answer: str
    worth: float
    best_worth: float
    thought: Thought
    form: str

    @property
    def kept(self) -> str:
        """What the answer and the best one keep, in a sentence."""
        best = self.thought.action
        more = f"; {best} {amount(self.form, self.best_worth)}."
        return f"{self.answer} keeps {amount(self.form, self.worth)}" + (
            ", the most." if best == self.answer else more
        )


def judged(game: Game, question: LessonQuestion, answer: object) -> Correction | None:
    """The judge's view of an answer, None where it cannot value it."""
    judge, words = judging(game).judge, question.words
    decision = judge.weigh(question.asked.position, [answer])
    if decision is None:
        return None
    worth = {one.action: one.value for one in decision.options if one.value is not None}
    if answer not in worth or decision.action not in worth:
        return None
    options = tuple(
        Weighed(action=words[one.action], value=one.value, note=one.note, unit=one.unit)
        for one in decision.options
        if one.action in words
    )
    best = max(worth[decision.action], worth[answer])
    well = mark_of((best - worth[answer]) / judge.stake) is None
    act, why = words.get(decision.action, str(decision.action)), decision.reason
    thought = Thought(action=act, reason=why, options=options, strategy=judge.name)
    return Correction(well, words[answer], worth[answer], best, thought, judge.form)


def answered(card: Exercise, today: date, *, well: bool) -> None:
    """Note how a card was answered: well, it rests for longer each time; else until tomorrow."""
    card.well = min(card.well + 1, len(REST)) if well else 0
    card.due = today + REST[max(card.well, 1) - 1]


@dataclass(frozen=True)
class Lesson:
    """Today's questions, and what the first answer to each was worth, written at once, by place."""

    game: Game
    questions: Sequence[LessonQuestion]
    lessons: Lessons
    file: Path
    today: date
    corrections: dict[int, Correction | None] = field(default_factory=dict)
    _answering: Lock = field(default_factory=Lock)

    @property
    def right(self) -> int:
        """How many were answered well."""
        return sum(one is not None and one.well for one in self.corrections.values())

    def answer(self, place: int, action: object) -> Correction | None:
        """What an answer is worth, None where nobody can say; raises `StoreError`."""
        with self._answering:
            if place not in self.corrections:
                question = self.questions[place]
                found = judged(self.game, question, action)
                answered(question.card, self.today, well=found is not None and found.well)
                self.lessons.write(self.file)
                self.corrections[place] = found
            return self.corrections[place]

    def cost(self, place: int) -> str:
        """What was chosen then, and what it cost, in a sentence."""
        question = self.questions[place]
        cost = amount(judging(self.game).judge.form.lstrip("+"), question.card.cost)
        return f"Then you chose {question.then}, which cost {cost}."


def lesson_routes(lesson: Lesson) -> Sequence[BaseRoute]:
    """The pages `/lesson/1` and so on; raises `ConfigError` for a table that cannot be drawn."""
    board, token = board_of(Setting(lesson.game)), token_urlsafe(16)

    def place_of(request: Request) -> int:
        number: int = request.path_params["number"]
        if not 0 < number <= len(lesson.questions):
            raise HTTPException(HTTPStatus.NOT_FOUND, f"The lesson has no question {number}.")
        return number - 1

    def page(request: Request) -> Response:
        place = place_of(request)
        question = lesson.questions[place]
        screen, position = question.screen, question.asked.position
        told = lesson.corrections.get(place)
        seen = board.seen(screen.names, screen.you, position) if board.seen else {}
        context = {
            **choosing(board, screen.groups(position)),
            "lesson": lesson,
            "place": place,
            "question": question,
            "standing": screen.standing(position),
            "parts": {name: part for name, part in seen.items() if part is not None},
            "told": told,
            "answered": place in lesson.corrections,
            "thought": thought_part(told.thought) if told else "",
            "fields": {"token": token},
        }
        return HTMLResponse(template("lesson.html").render(context, site=SITE), headers=NEW)

    async def answer(request: Request) -> Response:
        place, form = place_of(request), await form_of(request)
        question = lesson.questions[place]
        choices = question.screen.choices(question.asked.position)
        found = [one for one in choices if one.key == form.get("key")]
        if form.get("token") != token or not found:
            raise HTTPException(HTTPStatus.FORBIDDEN, "Answer on the page of the question.")
        await run_in_threadpool(lesson.answer, place, found[0].action)
        return RedirectResponse(f"/lesson/{place + 1}", HTTPStatus.SEE_OTHER, headers=NEW)

    path = "/lesson/{number:int}"
    return [Route(path, page), Route(path, answer, methods=["POST"])]
