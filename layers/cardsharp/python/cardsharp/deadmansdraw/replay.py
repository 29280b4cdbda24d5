"""A stored match of Dead Man's Draw turn by turn: who did what, why, and what it brought."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import Annotated

from pydantic import BeforeValidator, PlainValidator, ValidationError

from cardsharp.cloud.ports import Body, MatchRecord, MoveRecord
from cardsharp.deadmansdraw.actions import Verb
from cardsharp.deadmansdraw.cards import Bank, Card, bank_of, deck_order
from cardsharp.deadmansdraw.events import Delta, Event, MatchEnded, StackDelta, TurnEnded, words
from cardsharp.deadmansdraw.logbook import state_body
from cardsharp.deadmansdraw.position import Observer, PastMove
from cardsharp.deadmansdraw.reading import played
from cardsharp.deadmansdraw.wire import instant
from cardsharp.deadmansdraw.wire_views import MoveView
from cardsharp.errors import StoreError
from cardsharp.replay import Step, Stored, Thought, parse

Banks = tuple[Bank, Bank]


def card_of(text: str) -> Card:
    """The card that "Key3" names."""
    suit = text.rstrip("0123456789")
    return Card(suit, int(text[len(suit) :] or 0))


def _listed(cards: object) -> object:
    return tuple(cards.split()) if isinstance(cards, str) else cards


def _named(card: object) -> Card:
    if isinstance(card, str):
        return card_of(card)
    raise ValueError("a card has a name, such as Key3")


Named = Annotated[Card, PlainValidator(_named)]
Cards = Annotated[tuple[Named, ...], BeforeValidator(_listed)]  # "Key3 Map5"; a list up to 0.2


class Pending(Stored):
    """An effect that waits for an answer."""

    effect: str
    cards: Cards = ()
    kraken_count: int = 0


class StoredPosition(Stored):
    """The position on which a decision was made."""

    me: int
    banks: tuple[Cards, Cards]
    play_area: Cards = ()
    pending: Pending | None = None
    discard_pile: Cards = ()
    unseen: Cards = ()
    known_top: Named | None = None


class Opening(Stored):
    """The cards with which a match began that did not begin as all do."""

    banks: tuple[Cards, Cards] = ((), ())
    play_area: Cards = ()
    discard_pile: Cards = ()
    draw_pile: Cards = ()  # its set of cards, in no order that means anything


@dataclass(frozen=True, slots=True, kw_only=True)
class EventStep(Step):
    """One move with its events, as far as the arena has told them."""

    events: tuple[Event, ...] = ()

    @property
    def move(self) -> PastMove:
        """The same as both players remember it."""
        return PastMove(self.turn, self.seat, self.events)


@dataclass(frozen=True, slots=True)
class Turn:
    """The moves of one turn, and the banks after it."""

    number: int
    steps: tuple[EventStep, ...]
    before: Banks
    after: Banks

    @property
    def player(self) -> int | None:
        """Index of the player whose turn it is."""
        return next((step.seat for step in self.steps if step.seat is not None), None)

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
    def decisions(self) -> tuple[EventStep, ...]:
        """The moves that we decided."""
        return tuple(step for step in self.steps if step.ours is not None)

    def gain(self, player: int) -> int:
        """How much the turn changed a player's score."""
        return self.after[player].score - self.before[player].score


def replay(record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[EventStep]:
    """The steps of a match; raises `StoreError` where the log cannot be read."""
    return chain.from_iterable(turn.steps for turn in turns_of(moves, _told_opening(record)))


def opening_of(
    record: MatchRecord, moves: Sequence[MoveRecord]
) -> tuple[Observer, list[EventStep]]:
    """What lay open when a match began, which cards were to be drawn, and the moves told since.

    Raises `StoreError` if the header or a move of the log cannot be read.
    """
    groups = _groups(moves)
    seen = _begun(groups, _told_opening(record))
    return seen, [told for group in groups for told in group if told.events]


def _told_opening(record: MatchRecord) -> Opening | None:
    told = record.header.get("opening")
    return parse(Opening, told) if isinstance(told, Mapping) else None


def _groups(moves: Sequence[MoveRecord]) -> list[tuple[EventStep, ...]]:
    told = [_as_read(move) for move in moves]
    return [tuple(group) for _, group in groupby(told, key=lambda one: one.turn)]


def turns_of(moves: Sequence[MoveRecord], opening: Opening | None = None) -> list[Turn]:
    """The turns of a match, the first first; the last one may still run.

    `opening` is what the header says of the cards that a match began with. Raises `StoreError` if a
    move of the log cannot be read.
    """
    groups, turns = _groups(moves), []
    seen = _begun(groups, opening)
    for group in groups:
        before = _banks(seen)
        steps = tuple(_steps(group, seen, tells_pile=opening is None))
        turns.append(Turn(group[0].turn, steps, before, _banks(seen)))
    return turns


def _banks(seen: Observer) -> Banks:
    first, second = (bank_of(sorted(bank)) for bank in seen.banks)
    return first, second


def _as_read(move: MoveRecord) -> EventStep:
    """A move as it was read; the table around it is not known yet."""
    ours = None if move.intent is None else thought_of(move.intent)
    if move.facts is None:
        turn = 0 if ours is None or ours.turn is None else ours.turn
        seat, at, events = ours.seat if ours else None, None, tuple[Event, ...]()
    else:
        view = view_of(move)
        told = played(view)
        turn, seat, at, events = told.turn, told.player, instant(view.at), told.events
    return EventStep(
        sequence=move.sequence,
        turn=turn,
        seat=seat,
        happened=words(events),
        state={},
        ours=ours,
        at=at,
        events=events,
    )


def view_of(move: MoveRecord) -> MoveView:
    """A move as the arena told it; raises `StoreError` where it cannot be read."""
    try:
        return MoveView.model_validate(move.facts)
    except ValidationError as error:
        raise StoreError(f"Move {move.sequence} of the match log cannot be read.") from error


def thought_of(intent: Body) -> Thought:
    """A decision of the log, its action named as options name it."""
    named = {"action": _action_text(intent["action"])} if "action" in intent else {}
    return parse(Thought, {**intent, **named})


def _action_text(body: object) -> object:
    if not isinstance(body, dict):
        return body
    effect = body.get("effect")
    if body.get("etype") != Verb.RESPOND or not isinstance(effect, dict):
        return f"{body.get('etype')}{' (autopick)' if body.get('autopick') else ''}"
    card = effect.get("card")
    named = f"{card['suit']}{card['value']}" if isinstance(card, dict) else "not taken"
    return f"{effect.get('effectType')}: {named}"


def _steps(group: Iterable[EventStep], seen: Observer, *, tells_pile: bool) -> Iterator[EventStep]:
    seen.ended = None
    for told in group:
        seen.see_move(told.move)
        state = state_body(seen.position(0, told.turn, ()), seen.ended)
        yield replace(told, state=state if tells_pile else {**state, "unseen": None})


def _delta(group: Iterable[EventStep]) -> Delta | None:
    """What a turn changed; a forced end can tell it twice, the same both times."""
    ends = [event for told in group for event in told.events if isinstance(event, TurnEnded)]
    return ends[-1].delta if ends else None


def _begun(groups: Sequence[Sequence[EventStep]], opening: Opening | None) -> Observer:
    """The table at the start: as it was told, or as all matches begin.

    Where one that tells nothing began in the middle, our first decision at the beginning of a turn
    shows the table, and what the turns before it changed is taken back.
    """
    if opening is not None:
        first, second = map(bank_of, opening.banks)
        banks = first, second
        return Observer(opening.draw_pile, opening.discard_pile, opening.play_area, banks)
    for index, group in enumerate(groups):
        looks = (position_of(told.ours) for told in group if told.ours is not None)
        openings = (one for one in looks if one and not one.play_area and one.pending is None)
        position = next(openings, None)
        if position is None:
            continue
        deltas = [delta for earlier in groups[:index] if (delta := _delta(earlier)) is not None]

        def began(cards: Iterable[Card], changes: Iterable[StackDelta]) -> list[Card]:
            pile = set(cards)
            for change in changes:
                pile = pile - set(change.added) | set(change.removed)
            return sorted(pile, key=deck_order)

        first, second = (
            bank_of(began(bank, [delta.banks[seat] for delta in reversed(deltas)]))
            for seat, bank in enumerate(position.banks)
        )
        unseen = began(position.unseen, [delta.draw_pile for delta in reversed(deltas)])
        discard = began(position.discard_pile, [one.discard_pile for one in reversed(deltas)])
        return Observer(unseen, discard, (), (first, second))
    return Observer()


def position_of(thought: Thought) -> StoredPosition | None:
    """The position on which a decision was made, None where the log does not tell."""
    return None if thought.position is None else parse(StoredPosition, thought.position)
