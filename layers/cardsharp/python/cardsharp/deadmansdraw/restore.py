"""A stored match of Dead Man's Draw as the states that it went through, for branches of it.

Every move is made again by the rules, with the cards and the picks that its events tell; one that
does not lead to the same events is refused.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from random import Random

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, Effect, EffectType, Verb
from cardsharp.deadmansdraw.cards import Card
from cardsharp.deadmansdraw.decisions import action_of
from cardsharp.deadmansdraw.events import Comment, Drawn, EffectPlayed, Event, MatchEnded, TurnEnded
from cardsharp.deadmansdraw.position import Observer
from cardsharp.deadmansdraw.replay import EventStep, opening_of
from cardsharp.deadmansdraw.rules import apply, force_turn_end, start, terminate
from cardsharp.deadmansdraw.simulation import Match, match_from
from cardsharp.deadmansdraw.state import Chance, State
from cardsharp.errors import RulesError, StoreError
from cardsharp.replay import Restored

_Attempt = Callable[[], tuple[State, tuple[Event, ...]]]  # how a move may have come about
_SPELLINGS = (DRAW, END_TURN, *(Action(verb, autopick=True) for verb in Verb))


def restore(record: MatchRecord, moves: Sequence[MoveRecord], dice: Random) -> Iterator[Restored]:
    """The match before each of its moves, as far as they are told.

    Cards that nobody saw lie in an order of the dice, behind one that an Oracle showed. Raises
    `StoreError` if a move cannot be read, or cannot have been.
    """
    seen, told = opening_of(record, moves)
    if not told:
        return
    match = match_from(_dealt(seen, told, dice))
    match = replace(match, history=(told[0].move,))
    for move in told[1:]:
        action, after = _again(match, move)
        yield Restored(move.sequence, match, action)
        match = after


def _dealt(seen: Observer, told: Sequence[EventStep], dice: Random) -> State:
    """How the match began, with the draw pile as it was drawn from."""
    discard, area, banks = seen.discard_pile[:], seen.play_area[:], (seen.banks[0], seen.banks[1])
    drawn = [event.card for move in told for event in move.events if isinstance(event, Drawn)]
    for step in told:
        seen.see_move(step.move)
    shown = [] if seen.known_top is None else [seen.known_top]
    hidden = [card for card in seen.unseen if card not in shown]
    pile = (*drawn, *shown, *dice.sample(hidden, len(hidden)))
    return start(pile, tuple(discard), told[0].seat or 0, banks, tuple(area))


def _again(match: Match, told: EventStep) -> tuple[Action | None, Match]:
    """The action that made a move, None for one of the arena's own, and the match after it."""
    for action, attempt in _attempts(match.state, told.events):
        try:
            state, events = attempt()
        except (RulesError, ValueError):
            continue
        if events == told.events:
            return action, match.moved(state, told.move)
    raise StoreError(f"Move {told.sequence} of the match cannot have come about by the rules.")


def _attempts(state: State, events: Sequence[Event]) -> Iterator[tuple[Action | None, _Attempt]]:
    texts = [event.text for event in events if isinstance(event, Comment)]
    likely = action_of(events)
    for action in (*([] if likely is None else [likely]), *_SPELLINGS):
        yield action, partial(apply, state, action, _chance(events))
    if texts:
        yield None, partial(force_turn_end, state, texts[0], texts[-1], _chance(events))
    for ended in (event for event in events if isinstance(event, MatchEnded)):
        yield None, partial(terminate, state, ended.winner, next(iter(texts), None))


def _chance(events: Sequence[Event]) -> Chance:
    picks = _picks(events)
    return lambda _pile, _number: next(picks, ())


def _picks(events: Sequence[Event]) -> Iterator[tuple[Card, ...]]:
    """What was picked from the discard pile, in the order in which it was."""
    for event in events:
        match event:
            case EffectPlayed(Effect(EffectType.MAP, cards)):
                yield cards
            case TurnEnded(bonus=tuple(cards)):
                yield cards
