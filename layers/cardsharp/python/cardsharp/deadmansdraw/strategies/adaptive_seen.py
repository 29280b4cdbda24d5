"""The decisions that a player has shown, each on the position that it was made on.

All of it is read from the public events: every draw, answer and end of a turn is in them. What
left no choice (the first draw of a turn, a Kraken's draws, a single answer) is left out, and so
is what the server did when a player's time had run out.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType, respond
from cardsharp.deadmansdraw.cards import SERVER_DECK, Card, lowest_of_each_suit
from cardsharp.deadmansdraw.events import (
    CardRemoved,
    Drawn,
    EffectAnswered,
    Event,
    TurnEnded,
    TurnStarted,
)
from cardsharp.deadmansdraw.position import Observer, PastMove, Position
from cardsharp.deadmansdraw.strategies import PastMatch
from cardsharp.deadmansdraw.strategies.choices import choices


@dataclass(frozen=True, slots=True)
class Seen:
    """A decision that a player has shown: the position as the player knew it, and the action."""

    position: Position
    action: Action


class Witness:
    """Follows a match from its beginning, move by move.

    `draw_pile` are the cards that the draw pile began with, in any order.
    """

    def __init__(self, draw_pile: frozenset[Card]) -> None:
        suits = {card.suit for card in draw_pile}
        lowest = (card for card in lowest_of_each_suit(SERVER_DECK) if card.suit in suits)
        self._seen = Observer(draw_pile, tuple(card for card in lowest if card not in draw_pile))
        self._turn: list[Event] = []
        self._lost = False

    def decisions(self, move: PastMove) -> list[Seen]:
        """What the player of a move decided in it; nothing more once the match makes no sense.

        That is so where it began with cards that no event has told of (a debug start state).
        """
        shown: list[Seen] = []
        is_own = move.player is not None and move.timed_out is None
        for event in move.events:
            if isinstance(event, CardRemoved):
                self._lost |= event.card not in self._seen.banks[event.bank_index]
            if self._lost:
                return []
            if is_own:
                shown += self._decided(move, event)
            self._turn = [event] if isinstance(event, TurnStarted) else [*self._turn, event]
            self._seen.see(event, move.player)
        if not isinstance(move.events[-1] if move.events else None, EffectAnswered):
            self._seen.refused = None
        return shown

    def _decided(self, move: PastMove, event: Event) -> Iterator[Seen]:
        action = self._action(event)
        if action is not None:
            turn = PastMove(move.turn, move.player, tuple(self._turn))
            position = self._seen.position(move.player or 0, move.turn, (turn,))
            if _leaves_a_choice(position):
                yield Seen(position, action)

    def _action(self, event: Event) -> Action | None:
        """The action that `event` is the first sign of, None where it only follows from one."""
        pending = self._seen.pending
        match event:
            case EffectAnswered(_, card) if pending is not None:
                return respond(pending.effect_type, card)
            case Drawn() if pending is None:
                return DRAW
            case Drawn(card) if pending is not None and pending.effect_type is EffectType.ORACLE:
                is_answered = isinstance(self._turn[-1], EffectAnswered)
                return None if is_answered else respond(EffectType.ORACLE, card)
            case TurnEnded(successful=True) if self._seen.unseen:
                return END_TURN
            case _:
                return None


def _leaves_a_choice(position: Position) -> bool:
    if position.pending is None:
        return bool(position.play_area)
    return position.pending.effect_type is EffectType.ORACLE or len(choices(position)) > 1


def drawn_in(history: tuple[PastMove, ...]) -> frozenset[Card]:
    """All cards that were drawn from the draw pile."""
    events = (event for move in history for event in move.events)
    return frozenset(event.card for event in events if isinstance(event, Drawn))


def decisions_of(match: PastMatch) -> Iterator[Seen]:
    """What the opponent decided in a past match."""
    witness = Witness(drawn_in(match.history))
    for move in match.history:
        shown = witness.decisions(move)
        if move.player == match.opponent:
            yield from shown
