"""A match log told turn by turn: who did what, why, and what it brought."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from pydantic import ValidationError

from cardsharp.cloud.ports import MoveRecord
from cardsharp.deadmansdraw.bank import Bank
from cardsharp.deadmansdraw.cards import Card
from cardsharp.deadmansdraw.events import Delta, Event, MatchEnded, TurnEnded
from cardsharp.deadmansdraw.reading import played
from cardsharp.deadmansdraw.views import MoveView
from cardsharp.errors import StoreError
from workbench.cli.records import Intent, PositionRecord, parse

Banks = tuple[Bank, Bank]


@dataclass(frozen=True, slots=True)
class Step:
    """One move: what happened, as far as the arena has told, and our intent if it was ours."""

    sequence: int
    turn: int
    player: int | None
    events: tuple[Event, ...] = ()
    intent: Intent | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """The moves of one turn, and the banks after it."""

    number: int
    steps: tuple[Step, ...]
    before: Banks
    after: Banks

    @property
    def player(self) -> int | None:
        """Index of the player whose turn it is."""
        return next((step.player for step in self.steps if step.player is not None), None)

    @property
    def events(self) -> tuple[Event, ...]:
        """All that happened in the turn."""
        return tuple(event for step in self.steps for event in step.events)

    @property
    def ended(self) -> TurnEnded | None:
        """How the turn ended; None while it runs, and where the match was ended in it."""
        return next((e for e in reversed(self.events) if isinstance(e, TurnEnded)), None)

    @property
    def over(self) -> bool:
        """Whether nothing more can happen in it."""
        return any(isinstance(event, TurnEnded | MatchEnded) for event in self.events)

    @property
    def last(self) -> bool:
        """Whether the match ended in it."""
        return any(isinstance(event, MatchEnded) for event in self.events)

    @property
    def decisions(self) -> tuple[Step, ...]:
        """The moves that we decided."""
        return tuple(step for step in self.steps if step.intent is not None)

    def gain(self, player: int) -> int:
        """How much the turn changed a player's score."""
        return self.after[player].score - self.before[player].score


@dataclass(frozen=True, slots=True)
class _Piles:
    """The banks as sets of cards, which deltas add to and take from."""

    banks: tuple[frozenset[Card], frozenset[Card]] = field(default=(frozenset(), frozenset()))

    def after(self, delta: Delta) -> "_Piles":
        first, second = (
            (bank - set(change.removed)) | set(change.added)
            for bank, change in zip(self.banks, delta.banks, strict=True)
        )
        return _Piles((first, second))

    def before(self, delta: Delta) -> "_Piles":
        first, second = (
            (bank - set(change.added)) | set(change.removed)
            for bank, change in zip(self.banks, delta.banks, strict=True)
        )
        return _Piles((first, second))

    def as_banks(self) -> Banks:
        first, second = (Bank().with_cards(sorted(bank)) for bank in self.banks)
        return first, second


def turns_of(moves: Sequence[MoveRecord]) -> list[Turn]:
    """The turns of a match, the first first; the last one may still run.

    Raises:
        StoreError: a move of the log cannot be read.
    """
    steps = [_step(move) for move in moves]
    numbered = [(n, tuple(group)) for n, group in groupby(steps, key=lambda step: step.turn)]
    piles = _opening(numbered)
    turns = []
    for number, group in numbered:
        delta = _delta(group)
        after = piles if delta is None else piles.after(delta)
        turns.append(Turn(number, group, piles.as_banks(), after.as_banks()))
        piles = after
    return turns


def card_of(text: str) -> Card:
    """The card that "Key3" names."""
    suit = text.rstrip("0123456789")
    return Card(suit, int(text[len(suit) :] or 0))


def _step(move: MoveRecord) -> Step:
    intent = None if move.intent is None else parse(Intent, move.intent)
    if move.facts is None:
        turn = 0 if intent is None or intent.turn is None else intent.turn
        return Step(move.sequence, turn, None if intent is None else intent.seat, (), intent)
    try:
        told = played(MoveView.model_validate(move.facts))
    except ValidationError as error:
        raise StoreError(f"Move {move.sequence} of the match log cannot be read.") from error
    return Step(move.sequence, told.turn, told.player, told.events, intent)


def _delta(steps: Iterable[Step]) -> Delta | None:
    """What a turn changed; a forced end can tell it twice, the same both times."""
    ends = [event for step in steps for event in step.events if isinstance(event, TurnEnded)]
    return ends[-1].delta if ends else None


def _opening(turns: Sequence[tuple[int, tuple[Step, ...]]]) -> _Piles:
    """The banks at the start: empty, but where a match began in the middle.

    Then our first decision at the beginning of a turn shows the banks, and what the turns before
    it changed is taken back.
    """
    for index, (_number, steps) in enumerate(turns):
        position = next((_first_look(step) for step in steps if _first_look(step)), None)
        if position is None:
            continue
        first, second = (frozenset(card_of(text) for text in bank) for bank in position.banks)
        piles = _Piles((first, second))
        for _earlier, group in reversed(turns[:index]):
            delta = _delta(group)
            piles = piles if delta is None else piles.before(delta)
        return piles
    return _Piles()


def _first_look(step: Step) -> PositionRecord | None:
    """The position of a decision that opened its turn: nothing lay in the play area."""
    position = None if step.intent is None else step.intent.position
    if position is None or position.play_area or position.pending is not None:
        return None
    return position
