"""States of a stored match of Dead Man's Draw, from which a match can branch off.

Each move is replayed by the rules, with the cards and picks that its events show. A move that does
not lead to the same events raises `StoreError`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from random import Random

from cardsharp.analysis.replay import RestoredState
from cardsharp.errors import RulesError, StoreError
from cardsharp.games.deadmansdraw.actions import (
    DRAW,
    END_TURN,
    Action,
    ActionType,
    EffectType,
    PendingEffect,
)
from cardsharp.games.deadmansdraw.cards import Card
from cardsharp.games.deadmansdraw.events import (
    CardDrawn,
    Comment,
    EffectPending,
    Event,
    MatchEnded,
    TurnEnded,
    action_from_events,
)
from cardsharp.games.deadmansdraw.history.replay import EventReplayStep, opening_info_and_steps
from cardsharp.games.deadmansdraw.position import PublicInfoTracker
from cardsharp.games.deadmansdraw.rules import apply, force_turn_end, start, terminate
from cardsharp.games.deadmansdraw.simulation import SimulatedDeadMansDrawMatch, match_from_state
from cardsharp.games.deadmansdraw.state import CardPicker, State
from cardsharp.store.match_log import MatchRecord, MoveRecord

_Attempt = Callable[[], tuple[State, tuple[Event, ...]]]  # possible cause of a move
_CANDIDATE_ACTIONS = (
    DRAW,
    END_TURN,
    *(Action(verb, answers_pending_effects=True) for verb in ActionType),
)


def restore_states(
    record: MatchRecord, moves: Sequence[MoveRecord], rng: Random
) -> Iterator[RestoredState]:
    """Yield the match before each of its recorded moves.

    Cards that nobody saw are shuffled by `rng`, below a top card that an Oracle showed. Raises
    `StoreError` if a move cannot be read, or is impossible by the rules.
    """
    public_info, steps = opening_info_and_steps(record, moves)
    if not steps:
        return
    match = match_from_state(_initial_state(public_info, steps, rng))
    match = replace(match, history=(steps[0].past_move,))
    for move in steps[1:]:
        action, next_match = _replay_move(match, move)
        yield RestoredState(move.sequence, match, action)
        match = next_match


def _initial_state(
    public_info: PublicInfoTracker, steps: Sequence[EventReplayStep], dice: Random
) -> State:
    """Return the initial state, with a draw pile that leads to the recorded draws."""
    discard, area, banks = (
        public_info.discard_pile[:],
        public_info.play_area[:],
        (public_info.banks[0], public_info.banks[1]),
    )
    draws = [event.card for move in steps for event in move.events if isinstance(event, CardDrawn)]
    for step in steps:
        public_info.apply_move(step.past_move)
    top_cards = [] if public_info.known_top is None else [public_info.known_top]
    hidden = [card for card in public_info.unseen if card not in top_cards]
    pile = (*draws, *top_cards, *dice.sample(hidden, len(hidden)))
    return start(pile, tuple(discard), steps[0].seat or 0, banks, tuple(area))


def _replay_move(
    match: SimulatedDeadMansDrawMatch, step: EventReplayStep
) -> tuple[Action | None, SimulatedDeadMansDrawMatch]:
    """Return the action of a move and the match that follows.

    The action is None if the arena made the move.
    """
    # The log has events, not actions, and different actions can have the same events. The first
    # action whose events are exactly the recorded ones is taken.
    for action, attempt in _iter_attempts(match.state, step.events):
        try:
            state, events = attempt()
        except (RulesError, ValueError):
            continue
        if events == step.events:
            return action, match.with_move(state, step.past_move)
    raise StoreError(f"Move {step.sequence} of the match is impossible by the rules.")


def _iter_attempts(
    state: State, events: Sequence[Event]
) -> Iterator[tuple[Action | None, _Attempt]]:
    texts = [event.text for event in events if isinstance(event, Comment)]
    likely = action_from_events(events)
    for action in (*([] if likely is None else [likely]), *_CANDIDATE_ACTIONS):
        yield action, partial(apply, state, action, _build_pick_replayer(events))
    if texts:
        yield (
            None,
            partial(force_turn_end, state, texts[0], texts[-1], _build_pick_replayer(events)),
        )
    for end_event in (event for event in events if isinstance(event, MatchEnded)):
        yield None, partial(terminate, state, end_event.winner, next(iter(texts), None))


def _build_pick_replayer(events: Sequence[Event]) -> CardPicker:
    picks = _iter_recorded_picks(events)
    return lambda _pile, _count: next(picks, ())


def _iter_recorded_picks(events: Sequence[Event]) -> Iterator[tuple[Card, ...]]:
    """Yield the cards of each pick from the discard pile, in the order of the picks."""
    for event in events:
        match event:
            case EffectPending(PendingEffect(EffectType.MAP, cards)):
                yield cards
            case TurnEnded(bonus=tuple(cards)):
                yield cards
