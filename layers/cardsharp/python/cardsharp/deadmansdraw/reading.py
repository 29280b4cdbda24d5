"""From what the arena answers to a `Position`: rebuilt from one GET, or followed after a POST.

Nothing is remembered between two calls: a view with its events is enough (docs/spec/arena.md
section 6), so any worker can take up any match at any moment.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from cardsharp.deadmansdraw.actions import Action, Effect, EffectType
from cardsharp.deadmansdraw.cards import (
    RULEBOOK_DECK,
    SERVER_DECK,
    Bank,
    Card,
    lowest_of_each_suit,
    without,
)
from cardsharp.deadmansdraw.events import (
    CardPlaced,
    CardRemoved,
    Comment,
    Delta,
    Drawn,
    EffectAnswered,
    EffectPlayed,
    Event,
    MatchEnded,
    StackDelta,
    TurnEnded,
    TurnStarted,
)
from cardsharp.deadmansdraw.position import Observer, PastMove, Position
from cardsharp.deadmansdraw.rules import apply
from cardsharp.deadmansdraw.wire_views import (
    DeltaView,
    EventType,
    EventView,
    MatchView,
    MoveView,
    PendingEffect,
)
from cardsharp.errors import Malformed, RulesError


def rebuild(view: MatchView, me: int) -> Position:
    """The position of player `me`, who is to act, from a view of all events; raises `Malformed`."""
    history = tuple(played(move) for move in view.moves)
    observer = _observer(view, history)
    for move in history:
        observer.see_move(move)
    between = view.move_count_in_turn is None
    first, second = (Bank(tuple(stacks.items())) for stacks in view.state.banks)
    return replace(
        observer.position(me, view.turn_count + between, history),
        banks=(first, second),
        play_area=() if between else view.state.play_area,
        pending=None if view.state.pending_effect is None else _effect(view.state.pending_effect),
    )


def follow(position: Position, action: Action, answer: Sequence[EventView]) -> Position | None:
    """The position after our own `action`, from the events that the arena answered with.

    The rules are played with what the events reveal; None where they do not lead to the same
    events, or where the turn has ended: then only a new view tells what is so.
    """
    events = tuple(event for event in events_of(answer) if not isinstance(event, TurnStarted))
    if any(isinstance(event, TurnEnded | MatchEnded | Comment) for event in events):
        return None
    opened = any(event.event_type == EventType.TURN_STARTED for event in answer)
    if opened and position.play_area:  # it met another turn of ours
        return None
    drawn = tuple(event.card for event in events if isinstance(event, Drawn))
    peeked = _peeked(events)
    front = dict.fromkeys((*drawn, *([peeked] if peeked else ())))
    rest = (card for card in position.state().draw_pile if card not in front)
    offers = (
        event.effect.cards
        for event in events
        if isinstance(event, EffectPlayed) and event.effect.effect_type is EffectType.MAP
    )
    try:
        state, expected = apply(
            position.state((*front, *rest)), action, lambda _pile, number: next(offers)[:number]
        )
    except (RulesError, StopIteration, ValueError):
        return None
    if expected != events:
        return None
    left_lying = position.known_top if not drawn else None
    refused = any(isinstance(e, EffectAnswered) and e.card is None for e in events)
    return replace(
        position,
        banks=state.banks,
        play_area=state.play_area,
        pending=state.pending,
        discard_pile=state.discard_pile,
        unseen=tuple(card for card in position.unseen if card not in drawn),
        known_top=peeked or left_lying,
        refused=left_lying if refused else None,
        history=(*position.history, PastMove(position.turn, position.me, events)),
    )


def played(move: MoveView) -> PastMove:
    """A recorded move in the rules' own terms."""
    player = next((e.player_index for e in move.events if e.player_index is not None), None)
    return PastMove(move.turn_id, player, events_of(move.events))


def events_of(events: Iterable[EventView]) -> tuple[Event, ...]:
    """Events in the rules' own terms; types that the rules do not know are left out."""
    known = ((_READ.get(event.event_type), event) for event in events)
    told = (read(event) for read, event in known if read is not None)
    return tuple(event for event in told if event is not None)


def _removed(event: EventView) -> Event | None:
    card, index = event.card_removed_from_bank_card, event.card_removed_from_bank_index
    return None if card is None or index is None else CardRemoved(card, index)


def _played_effect(event: EventView) -> Event | None:
    effect = event.card_played_effect
    known = effect is not None and isinstance(effect.effect_type, EffectType)
    return EffectPlayed(_effect(effect)) if known and effect is not None else None


def _answered(event: EventView) -> Event | None:
    kind = event.response_to_effect_type
    return None if kind is None else EffectAnswered(kind, event.response_to_effect_card)


_READ: dict[str, Callable[[EventView], Event | None]] = {
    EventType.DRAW: lambda event: event.draw_card and Drawn(event.draw_card),
    EventType.CARD_PLACED_TO_PLAY_AREA: lambda event: (
        event.card_placed_to_play_area_card and CardPlaced(event.card_placed_to_play_area_card)
    ),
    EventType.CARD_REMOVED_FROM_BANK: _removed,
    EventType.CARD_PLAYED_EFFECT: _played_effect,
    EventType.RESPONSE_TO_EFFECT: _answered,
    EventType.TURN_STARTED: lambda event: TurnStarted(_delta(event.turn_started_delta)),
    EventType.TURN_ENDED: lambda event: TurnEnded(
        bool(event.turn_ended_is_successful),
        event.turn_ended_bonus_cards,
        _delta(event.turn_ended_delta),
    ),
    EventType.MATCH_ENDED: lambda event: MatchEnded(
        event.match_ended_scores or (0, 0),
        event.match_ended_winner_idx,
        event.match_ended_terminated,
    ),
    EventType.COMMENT: lambda event: Comment(event.comment or ""),
}


def _delta(view: DeltaView | None) -> Delta:
    view = view or DeltaView()
    draw, discard, first, second = (
        StackDelta(stack.removed, stack.added)
        for stack in (view.draw_pile, view.discard_pile, *view.banks)
    )
    return Delta(draw, discard, (first, second))


def _effect(view: PendingEffect) -> Effect:
    if not isinstance(view.effect_type, EffectType):
        told = f"The arena waits for an answer to '{view.effect_type}', an unknown effect."
        raise Malformed(told)
    return Effect(view.effect_type, view.offered, view.kraken_count)


def _observer(view: MatchView, history: tuple[PastMove, ...]) -> Observer:
    drawn = sum(isinstance(event, Drawn) for move in history for event in move.events)
    size = view.draw_pile_size + drawn
    rulebook = without(RULEBOOK_DECK, lowest_of_each_suit(RULEBOOK_DECK))
    deck = RULEBOOK_DECK if size == len(rulebook) else SERVER_DECK
    lowest, given = lowest_of_each_suit(deck), view.creation_params
    discard_pile = lowest if given.discard_pile is None else given.discard_pile
    play_area = given.play_area or ()
    draw_set = given.draw_pile
    if draw_set is None:
        draw_set = without(deck, lowest)
        if len(draw_set) != size:  # somebody else's debug pile: any card that lies nowhere else
            elsewhere = (*discard_pile, *play_area, *chain(*(given.banks or ())))
            draw_set = without(deck, elsewhere)
    return Observer(draw_set, discard_pile, play_area)


def _peeked(events: tuple[Event, ...]) -> Card | None:
    last = events[-1] if events else None
    if isinstance(last, EffectPlayed) and last.effect.effect_type is EffectType.ORACLE:
        return next(iter(last.effect.cards), None)
    return None


Counts = Mapping[str, tuple[int, int]]  # by what is counted, for either seat


def tally(moves: Iterable[MoveView]) -> Counts:
    """Turns that lost their cards, ran out of time or were banked, and moves that were made.

    Also moves in which the server was to pick, where the arena tells what was asked of it: it
    does that for whoever created the match, and for the organiser.
    """
    found, names = Counter[tuple[str, int | None]](), ["busts", "time-outs", "banked", "moves"]
    for view in moves:
        move, asked = played(view), view.user_action
        ends = [event.successful for event in move.events if isinstance(event, TurnEnded)]
        found["busts", move.player] += False in ends
        if move.timed_out is not None:
            found["time-outs", move.player] += 1
        elif view.sequence_id:
            found["moves", move.player] += 1
            found["banked", move.player] += True in ends
            found["autopicks", move.player] += bool(asked and asked.get("autopick"))
        if asked is not None and "autopicks" not in names:
            names.append("autopicks")
    return {name: (found[name, 0], found[name, 1]) for name in names}
