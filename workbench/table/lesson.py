"""Positions of your own matches in which you lost most, asked again over days.

What was asked is kept in one file: a card for each marked decision. A card that is answered well is
asked again after a longer time, else the next day, as with cards of vocabulary.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NamedTuple

from pydantic import BaseModel, ValidationError

from cardsharp.analysis import analyse, mark_of
from cardsharp.cloud.ports import MatchReader, MatchRecord
from cardsharp.errors import ConfigError, StoreError
from cardsharp.game import Game
from cardsharp.judge import judging
from cardsharp.replay import Asked, Weighed, fault_of
from workbench.lab.sitting import PERSON
from workbench.show.lookup import game_of

REST = tuple(timedelta(days=days) for days in (1, 3, 7, 21, 60))
"""How long a card rests that was answered well so often."""


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
            with NamedTemporaryFile("w", dir=file.parent, delete=False) as fresh:
                fresh.write(json.dumps(self.model_dump(mode="json")))
            Path(fresh.name).replace(file)
        except OSError as error:
            raise StoreError(f"{file} cannot be written: {error.strerror}.") from error

    def due(self, game: Game, today: date) -> list[Exercise]:
        """The cards of a game that are to be asked, what cost most first."""
        found = [one for one in self.cards if one.game == game.name and one.due <= today]
        return sorted(found, key=lambda one: -one.cost)

    def look_through(self, game: Game, log: MatchReader, matches: Iterable[MatchRecord]) -> None:
        """Make a card of each marked decision that a person made in these matches."""
        for record in matches:
            self.looked.append(record.match_id)
            self.cards += _cards(game, log, record)


def unseen(lessons: Lessons, game: Game, log: MatchReader, limit: int) -> list[MatchRecord]:
    """The matches of a game, of the newest so many in the log, that were not looked through."""
    looked = {*lessons.looked}
    fresh = (one for one in log.matches(limit=limit) if one.match_id not in looked)
    readable = (one for one in fresh if one.outcome is not None and fault_of(one) is None)
    return [one for one in readable if game_of(one) == game]


def _cards(game: Game, log: MatchReader, record: MatchRecord) -> Iterator[Exercise]:
    moves = log.moves(record.match_id)
    own = {one.step.sequence for one in _own(game, record, log)}
    if not own:
        return
    try:
        decisions = analyse(game, record, moves).decisions
    except ConfigError:  # a table at which nobody can judge
        return
    for one in decisions:
        if one.sequence in own and one.mark is not None:
            yield Exercise(
                game=game.name,
                match=record.match_id,
                sequence=one.sequence,
                cost=one.cost,
                due=date.min,
            )


def _own(game: Game, record: MatchRecord, log: MatchReader) -> list[Asked]:
    """The decisions of a match that a person made."""
    asked = judging(game).decisions(record, log.moves(record.match_id))
    return [one for one in asked if one.step.ours and one.step.ours.strategy == PERSON]


def position_of(card: Exercise, game: Game, log: MatchReader) -> Asked | None:
    """The decision of a card, None where its match is no longer kept."""
    record = log.match(card.match)
    asked = [] if record is None else _own(game, record, log)
    return next((one for one in asked if one.step.sequence == card.sequence), None)


class Correction(NamedTuple):
    """What an answer is worth beside the best one and what was done then; `well` if unmarked."""

    well: bool
    answer: float
    best: str
    best_worth: float
    reason: str
    options: tuple[Weighed, ...]


def judged(game: Game, asked: Asked, answer: str) -> Correction | None:
    """The judge's view of an answer, None where it cannot value it."""
    judge = judging(game).judge
    taken = [action for action, name in asked.options.items() if name == answer]
    decision = judge.weigh(asked.position, taken)
    if decision is None:
        return None
    named = tuple(
        Weighed(action=asked.options[one.action], value=one.value, note=one.note, unit=one.unit)
        for one in decision.options
        if one.action in asked.options
    )
    worth = {one.action: one.value for one in named if one.value is not None}
    best = asked.options.get(decision.action, "")
    if answer not in worth or best not in worth:
        return None
    cost = max(0.0, worth[best] - worth[answer])
    well = mark_of(cost / judge.stake) is None
    return Correction(well, worth[answer], best, worth[best], decision.reason, named)


def answered(card: Exercise, today: date, *, well: bool) -> None:
    """Note how a card was answered: well, it rests for longer each time; else until tomorrow."""
    card.well = min(card.well + 1, len(REST)) if well else 0
    card.due = today + REST[max(card.well, 1) - 1]
