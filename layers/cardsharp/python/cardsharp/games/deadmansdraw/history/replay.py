"""Replay of a stored match of Dead Man's Draw: actions, reasons and results turn by turn."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from operator import is_not
from typing import Annotated

from pydantic import BeforeValidator, PlainValidator, ValidationError

from cardsharp.analysis.replay import ReplayStep, StoredDecision, StoredModel, parse_record
from cardsharp.errors import StoreError
from cardsharp.games.deadmansdraw.actions import ActionType
from cardsharp.games.deadmansdraw.arena_bot.position_from_view import past_move_from_view
from cardsharp.games.deadmansdraw.arena_bot.wire_views import MoveView, parse_timestamp
from cardsharp.games.deadmansdraw.cards import Bank, Card, bank_from_cards, deck_sort_key
from cardsharp.games.deadmansdraw.events import (
    Event,
    MatchEnded,
    StackDelta,
    TurnDelta,
    TurnEnded,
)
from cardsharp.games.deadmansdraw.history.log_records import public_state_body
from cardsharp.games.deadmansdraw.position import PastMove, PublicInfoTracker
from cardsharp.games.deadmansdraw.sentences import turn_predicate
from cardsharp.store.match_log import Body, MatchRecord, MoveRecord

Banks = tuple[Bank, Bank]


def parse_card(text: str) -> Card:
    """Return the card that "Key3" names."""
    suit = text.rstrip("0123456789")
    return Card(suit, int(text[len(suit) :] or 0))


def _split_card_names(cards: object) -> object:
    return tuple(cards.split()) if isinstance(cards, str) else cards


def _card_from_name(card: object) -> Card:
    if isinstance(card, str):
        return parse_card(card)
    raise ValueError("a card has a name, such as Key3")


NamedCard = Annotated[Card, PlainValidator(_card_from_name)]
# "Key3 Map5"; up to version 0.2 a list
Cards = Annotated[tuple[NamedCard, ...], BeforeValidator(_split_card_names)]


class StoredPendingEffect(StoredModel):
    """Effect that waits for an answer, as stored."""

    effect: str
    cards: Cards = ()
    kraken_count: int = 0


class StoredPosition(StoredModel):
    """Position of a decision, as stored."""

    me: int
    banks: tuple[Cards, Cards]
    play_area: Cards = ()
    pending: StoredPendingEffect | None = None
    discard_pile: Cards = ()
    unseen: Cards = ()
    known_top: NamedCard | None = None


class StoredOpening(StoredModel):
    """Cards at the start of a match with an unusual start."""

    banks: tuple[Cards, Cards] = ((), ())
    play_area: Cards = ()
    discard_pile: Cards = ()
    draw_pile: Cards = ()  # the cards of the pile; their order has no meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class EventReplayStep(ReplayStep):
    """One move with its events, as far as the arena has sent them."""

    events: tuple[Event, ...] = ()

    @property
    def past_move(self) -> PastMove:
        """Move as the history of a position has it."""
        return PastMove(self.turn, self.seat, self.events)


@dataclass(frozen=True, slots=True)
class ReplayTurn:
    """Moves of one turn, and the banks at its start and at its end."""

    number: int
    steps: tuple[EventReplayStep, ...]
    initial_banks: Banks
    final_banks: Banks

    @property
    def player(self) -> int | None:
        """Index of the player whose turn it is."""
        return next((step.seat for step in self.steps if step.seat is not None), None)

    @property
    def events(self) -> tuple[Event, ...]:
        """All events of the turn."""
        return tuple(event for step in self.steps for event in step.events)

    @property
    def turn_end_event(self) -> TurnEnded | None:
        """End of the turn; None while it runs, and if the match was terminated in it."""
        return next((e for e in reversed(self.events) if isinstance(e, TurnEnded)), None)

    @property
    def is_over(self) -> bool:
        """True if nothing more can happen in the turn."""
        return any(isinstance(event, TurnEnded | MatchEnded) for event in self.events)

    @property
    def is_last(self) -> bool:
        """True if the match ended in this turn."""
        return any(isinstance(event, MatchEnded) for event in self.events)

    @property
    def steps_with_own_decision(self) -> tuple[EventReplayStep, ...]:
        """Moves of the turn that our strategy decided."""
        return tuple(step for step in self.steps if step.decision is not None)

    def score_gain(self, player: int) -> int:
        """Return the change of a player's score in this turn."""
        return self.final_banks[player].score - self.initial_banks[player].score


def replay(record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[EventReplayStep]:
    """Return the steps of a match; raise `StoreError` if the log cannot be read."""
    opening = _parse_opening(record)
    turns = group_into_turns(moves, opening, with_public_states=True)
    return chain.from_iterable(turn.steps for turn in turns)


def match_turns(record: MatchRecord, moves: Sequence[MoveRecord]) -> list[ReplayTurn]:
    """Return the turns of a match without public states; raise `StoreError` as `replay`."""
    return group_into_turns(moves, _parse_opening(record))


def opening_info_and_steps(
    record: MatchRecord, move_records: Sequence[MoveRecord]
) -> tuple[PublicInfoTracker, list[EventReplayStep]]:
    """Return the public information at the start of a match, and its recorded steps.

    Raises `StoreError` if the header or a move of the log cannot be read.
    """
    groups = _group_steps_by_turn(move_records)
    public_info = _initial_public_info(groups, _parse_opening(record))
    return public_info, [step for group in groups for step in group if step.events]


def _parse_opening(record: MatchRecord) -> StoredOpening | None:
    opening = record.header.get("opening")
    return parse_record(StoredOpening, opening) if isinstance(opening, Mapping) else None


def event_steps(moves: Sequence[MoveRecord]) -> tuple[EventReplayStep, ...]:
    """Return the steps of a match without public states; raise `StoreError`.

    A public state takes longer than all else in a step, and an analysis needs none. An analysis
    goes through the same moves five times, so the steps of the last match are kept.
    """
    known_moves, steps = _last_match[0]
    if len(moves) != len(known_moves) or any(map(is_not, moves, known_moves)):
        steps = tuple(_to_replay_step(move) for move in moves)
        _last_match[0] = tuple(moves), steps
    return steps


_last_match: list[tuple[tuple[MoveRecord, ...], tuple[EventReplayStep, ...]]] = [((), ())]
"""Moves and steps of the match that was read last, as one value, because threads share it."""


def _group_steps_by_turn(moves: Sequence[MoveRecord]) -> list[tuple[EventReplayStep, ...]]:
    return [tuple(group) for _, group in groupby(event_steps(moves), key=lambda step: step.turn)]


def group_into_turns(
    moves: Sequence[MoveRecord],
    opening: StoredOpening | None = None,
    *,
    with_public_states: bool = False,
) -> list[ReplayTurn]:
    """Return the turns of a match in order; the last one may still run.

    `opening` holds the initial cards if the header records them. Without `with_public_states` the
    public state of each step is empty, which takes a third of the time. Raises `StoreError` if a
    move of the log cannot be read.
    """
    groups, turns = _group_steps_by_turn(moves), []
    public_info = _initial_public_info(groups, opening)

    def public_state(step: EventReplayStep) -> Mapping[str, object]:
        if not with_public_states:
            return {}
        position = public_info.position_for(0, step.turn, ())
        state = public_state_body(position, public_info.last_turn_result)
        return state if opening is None else {**state, "unseen": None}

    final_banks = _copy_sorted_banks(public_info)
    for group in groups:
        initial_banks, steps = final_banks, []
        public_info.last_turn_result = None
        for step in group:
            public_info.apply_move(step.past_move)
            seat = step.seat or 0
            gain = public_info.banks[seat].score - initial_banks[seat].score
            description, state = _describe_step(step, gain), public_state(step)
            steps.append(replace(step, description=description, public_state=state))
        final_banks = _copy_sorted_banks(public_info)
        turns.append(ReplayTurn(group[0].turn, tuple(steps), initial_banks, final_banks))
    return turns


def _copy_sorted_banks(public_info: PublicInfoTracker) -> Banks:
    first, second = (bank_from_cards(sorted(bank)) for bank in public_info.banks)
    return first, second


def _to_replay_step(move: MoveRecord) -> EventReplayStep:
    """Return a logged move as a step, with an empty public state."""
    decision = None if move.intent is None else parse_stored_decision(move.intent)
    if move.facts is None:
        turn = 0 if decision is None or decision.turn is None else decision.turn
        seat, at, events = decision.seat if decision else None, None, tuple[Event, ...]()
    else:
        view = parse_move_view(move)
        past_move = past_move_from_view(view)
        turn, seat, at, events = (
            past_move.turn,
            past_move.player,
            parse_timestamp(view.at),
            past_move.events,
        )
    return EventReplayStep(
        sequence=move.sequence,
        turn=turn,
        seat=seat,
        description="",
        public_state={},
        decision=decision,
        played_at=at,
        events=events,
    )


def parse_move_view(move: MoveRecord) -> MoveView:
    """Return a move in the arena's form; raise `StoreError` if it cannot be read."""
    try:
        return MoveView.model_validate(move.facts)
    except ValidationError as error:
        raise StoreError(f"Move {move.sequence} of the match log cannot be read.") from error


def parse_stored_decision(intent: Body) -> StoredDecision:
    """Return a decision of the log; its action has the name that its options use."""
    action_field = {"action": _format_action(intent["action"])} if "action" in intent else {}
    return parse_record(StoredDecision, {**intent, **action_field})


def _format_action(body: object) -> object:
    if not isinstance(body, dict):
        return body
    effect = body.get("effect")
    if body.get("etype") != ActionType.RESPOND or not isinstance(effect, dict):
        return f"{body.get('etype')}{' (autopick)' if body.get('autopick') else ''}"
    card = effect.get("card")
    card_text = f"{card['suit']}{card['value']}" if isinstance(card, dict) else "not taken"
    return f"{effect.get('effectType')}: {card_text}"


def _describe_step(step: EventReplayStep, gain: int) -> str:
    """Return what the player did; `gain` is the change of the player's score in the turn."""
    if not step.events:
        return "not recorded yet"
    return turn_predicate(step.events, gain) or "began"


def _find_turn_delta(group: Iterable[EventReplayStep]) -> TurnDelta | None:
    """Return the changes of a turn, None if its end is not recorded.

    A forced end can report them twice, both times the same.
    """
    ends = [event for step in group for event in step.events if isinstance(event, TurnEnded)]
    return ends[-1].delta if ends else None


def _initial_public_info(
    groups: Sequence[Sequence[EventReplayStep]], opening: StoredOpening | None
) -> PublicInfoTracker:
    """Return the public information at the start of a match.

    That is the recorded opening, or else the usual start. If a match without a recorded opening
    is logged from the middle on, our first decision at the beginning of a turn shows the table,
    and the changes of the earlier turns are undone.
    """
    if opening is not None:
        first_bank, second_bank = map(bank_from_cards, opening.banks)
        banks = first_bank, second_bank
        return PublicInfoTracker(opening.draw_pile, opening.discard_pile, opening.play_area, banks)
    for index, group in enumerate(groups):
        looks = (
            parse_stored_position(step.decision) for step in group if step.decision is not None
        )
        openings = (
            candidate
            for candidate in looks
            if candidate and not candidate.play_area and candidate.pending is None
        )
        position = next(openings, None)
        if position is None:
            continue
        deltas = [
            delta for earlier in groups[:index] if (delta := _find_turn_delta(earlier)) is not None
        ]

        def began(cards: Iterable[Card], changes: Iterable[StackDelta]) -> list[Card]:
            pile = set(cards)
            for change in changes:
                pile = pile - set(change.added) | set(change.removed)
            return sorted(pile, key=deck_sort_key)

        first_bank, second_bank = (
            bank_from_cards(began(bank, [delta.banks[seat] for delta in reversed(deltas)]))
            for seat, bank in enumerate(position.banks)
        )
        unseen = began(position.unseen, [delta.draw_pile for delta in reversed(deltas)])
        discard = began(position.discard_pile, [delta.discard_pile for delta in reversed(deltas)])
        return PublicInfoTracker(unseen, discard, (), (first_bank, second_bank))
    return PublicInfoTracker()


def parse_stored_position(decision: StoredDecision) -> StoredPosition | None:
    """Return the position of a recorded decision, None if the log has none."""
    return None if decision.position is None else parse_record(StoredPosition, decision.position)
