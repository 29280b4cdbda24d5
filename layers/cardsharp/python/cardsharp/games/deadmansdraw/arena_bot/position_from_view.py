"""Conversion of the arena's responses to a `Position`, from one GET or followed after a POST.

No state is stored between two calls: a view with its events is enough (docs/spec/arena.md
section 6), so any worker can take up any match at any moment.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from cardsharp.errors import InvalidInput, RulesError
from cardsharp.games.deadmansdraw.actions import Action, EffectType, PendingEffect
from cardsharp.games.deadmansdraw.arena_bot.wire_views import (
    EventView,
    MatchView,
    MoveView,
    PendingEffectView,
    TurnDeltaView,
)
from cardsharp.games.deadmansdraw.cards import (
    RULEBOOK_DECK,
    SERVER_DECK,
    Bank,
    Card,
    bank_from_cards,
    cards_without,
    lowest_of_each_suit,
)
from cardsharp.games.deadmansdraw.events import (
    CardDrawn,
    CardPlaced,
    CardRemovedFromBank,
    Comment,
    EffectAnswered,
    EffectPending,
    Event,
    EventType,
    MatchEnded,
    StackDelta,
    TurnDelta,
    TurnEnded,
    TurnStarted,
)
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition, PastMove, PublicInfoTracker
from cardsharp.games.deadmansdraw.rules import apply


def position_from_view(view: MatchView, seat: int) -> DeadMansDrawPosition:
    """Return the position of the player at `seat`, who is to act; raise `InvalidInput`.

    The view must have all events.
    """
    history = tuple(past_move_from_view(move) for move in view.moves)
    observer = initial_public_info(view, history)
    for move in history:
        observer.apply_move(move)
    between = view.move_count_in_turn is None
    first_bank, second_bank = (Bank(tuple(stacks.items())) for stacks in view.state.banks)
    return replace(
        observer.position_for(seat, view.turn_count + between, history),
        banks=(first_bank, second_bank),
        play_area=() if between else view.state.play_area,
        pending=None
        if view.state.pending_effect is None
        else _to_pending_effect(view.state.pending_effect),
    )


def next_position(
    position: DeadMansDrawPosition, action: Action, response: Sequence[EventView]
) -> DeadMansDrawPosition | None:
    """Return the position after our `action`, from the events of the arena's response.

    The rules are applied with what the events reveal. Returns None if they do not lead to the
    same events, or if the turn has ended: then only a new view can tell.
    """
    events = tuple(
        event for event in events_from_view(response) if not isinstance(event, TurnStarted)
    )
    if any(isinstance(event, TurnEnded | MatchEnded | Comment) for event in events):
        return None
    opened = any(event.event_type == EventType.TURN_STARTED for event in response)
    if opened and position.play_area:  # it met another turn of ours
        return None
    draws = tuple(event.card for event in events if isinstance(event, CardDrawn))
    peeked = _find_peeked_card(events)
    front = dict.fromkeys((*draws, *([peeked] if peeked else ())))
    rest = (card for card in position.to_state().draw_pile if card not in front)
    offers = (
        event.effect.cards
        for event in events
        if isinstance(event, EffectPending) and event.effect.effect_type is EffectType.MAP
    )
    try:
        state, expected = apply(
            position.to_state((*front, *rest)), action, lambda _pile, count: next(offers)[:count]
        )
    except (RulesError, StopIteration, ValueError):
        return None
    if expected != events:
        return None
    remaining_top = position.known_top if not draws else None
    is_oracle_refused = any(isinstance(e, EffectAnswered) and e.card is None for e in events)
    return replace(
        position,
        banks=state.banks,
        play_area=state.play_area,
        pending=state.pending_effect,
        discard_pile=state.discard_pile,
        unseen=tuple(card for card in position.unseen if card not in draws),
        known_top=peeked or remaining_top,
        refused_oracle_card=remaining_top if is_oracle_refused else None,
        history=(*position.history, PastMove(position.turn, position.seat, events)),
    )


def past_move_from_view(move: MoveView) -> PastMove:
    """Convert a recorded move of an arena's view into a past move of a position."""
    player = next((e.player_index for e in move.events if e.player_index is not None), None)
    return PastMove(move.turn_id, player, events_from_view(move.events))


def events_from_view(events: Iterable[EventView]) -> tuple[Event, ...]:
    """Convert events to those of the rules; types that the rules do not know are left out."""
    readers = ((_EVENT_READERS.get(event.event_type), event) for event in events)
    parsed = (read(event) for read, event in readers if read is not None)
    return tuple(event for event in parsed if event is not None)


def _read_removed_card(event: EventView) -> Event | None:
    card, index = event.card_removed_from_bank_card, event.card_removed_from_bank_index
    return None if card is None or index is None else CardRemovedFromBank(card, index)


def _read_pending_effect(event: EventView) -> Event | None:
    effect = event.card_played_effect
    is_supported = effect is not None and isinstance(effect.effect_type, EffectType)
    return (
        EffectPending(_to_pending_effect(effect)) if is_supported and effect is not None else None
    )


def _read_effect_answer(event: EventView) -> Event | None:
    kind = event.response_to_effect_type
    return None if kind is None else EffectAnswered(kind, event.response_to_effect_card)


_EVENT_READERS: dict[str, Callable[[EventView], Event | None]] = {
    EventType.DRAW: lambda event: event.draw_card and CardDrawn(event.draw_card),
    EventType.CARD_PLACED_TO_PLAY_AREA: lambda event: (
        event.card_placed_to_play_area_card and CardPlaced(event.card_placed_to_play_area_card)
    ),
    EventType.CARD_REMOVED_FROM_BANK: _read_removed_card,
    EventType.CARD_PLAYED_EFFECT: _read_pending_effect,
    EventType.RESPONSE_TO_EFFECT: _read_effect_answer,
    EventType.TURN_STARTED: lambda event: TurnStarted(_to_turn_delta(event.turn_started_delta)),
    EventType.TURN_ENDED: lambda event: TurnEnded(
        bool(event.turn_ended_is_successful),
        event.turn_ended_bonus_cards,
        _to_turn_delta(event.turn_ended_delta),
    ),
    EventType.MATCH_ENDED: lambda event: MatchEnded(
        event.match_ended_scores or (0, 0),
        event.match_ended_winner_idx,
        event.match_ended_terminated,
    ),
    EventType.COMMENT: lambda event: Comment(event.comment or ""),
}


def _to_turn_delta(view: TurnDeltaView | None) -> TurnDelta:
    view = view or TurnDeltaView()
    draw, discard, first_bank, second_bank = (
        StackDelta(stack.removed, stack.added)
        for stack in (view.draw_pile, view.discard_pile, *view.banks)
    )
    return TurnDelta(draw, discard, (first_bank, second_bank))


def _to_pending_effect(view: PendingEffectView) -> PendingEffect:
    if not isinstance(view.effect_type, EffectType):
        message = f"The arena waits for an answer to '{view.effect_type}', an unknown effect."
        raise InvalidInput(message)
    return PendingEffect(view.effect_type, view.offered, view.kraken_count)


def initial_public_info(view: MatchView, history: Iterable[PastMove]) -> PublicInfoTracker:
    """Return what was public at the start of a match that has this history."""
    draw_count = sum(isinstance(event, CardDrawn) for move in history for event in move.events)
    draw_pile_size = view.draw_pile_size + draw_count
    rulebook = cards_without(RULEBOOK_DECK, lowest_of_each_suit(RULEBOOK_DECK))
    deck = RULEBOOK_DECK if draw_pile_size == len(rulebook) else SERVER_DECK
    lowest, params = lowest_of_each_suit(deck), view.creation_params
    discard_pile = lowest if params.discard_pile is None else params.discard_pile
    play_area = params.play_area or ()
    draw_set = params.draw_pile
    if draw_set is None:
        draw_set = cards_without(deck, lowest)
        if (
            len(draw_set) != draw_pile_size
        ):  # somebody else's debug pile: any card that lies nowhere else
            elsewhere = (*discard_pile, *play_area, *chain(*(params.banks or ())))
            draw_set = cards_without(deck, elsewhere)
    first_bank, second_bank = map(bank_from_cards, params.banks or ((), ()))
    return PublicInfoTracker(draw_set, discard_pile, play_area, (first_bank, second_bank))


def _find_peeked_card(events: tuple[Event, ...]) -> Card | None:
    last_event = events[-1] if events else None
    if isinstance(last_event, EffectPending) and last_event.effect.effect_type is EffectType.ORACLE:
        return next(iter(last_event.effect.cards), None)
    return None


Counts = Mapping[str, tuple[int, int]]  # by what is counted, for either seat


def count_turn_results_and_moves(moves: Iterable[MoveView]) -> Counts:
    """Count the turns of each player that busted, timed out or were banked, and its moves.

    Also counts the moves in which the server picked a card, if the arena shows the actions: it
    does so for the creator of the match and for the organiser.
    """
    counter, names = Counter[tuple[str, int | None]](), ["busts", "time-outs", "banked", "moves"]
    for view in moves:
        move, user_action = past_move_from_view(view), view.user_action
        ends = [event.is_banked for event in move.events if isinstance(event, TurnEnded)]
        counter["busts", move.player] += False in ends
        if move.timed_out_player is not None:
            counter["time-outs", move.player] += 1
        elif view.sequence_id:
            counter["moves", move.player] += 1
            counter["banked", move.player] += True in ends
            counter["autopicks", move.player] += bool(user_action and user_action.get("autopick"))
        if user_action is not None and "autopicks" not in names:
            names.append("autopicks")
    return {name: (counter[name, 0], counter[name, 1]) for name in names}
