"""The decisions that a player has shown, each on the position that it was made on.

All of it is read from the public events: every draw, answer and end of a turn is in them. What
left no choice (the first draw of a turn, a Kraken's draws, a single answer) is left out, and so
is what the server did when a player's time had run out.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, Effect, EffectType, respond
from cardsharp.deadmansdraw.bank import Bank
from cardsharp.deadmansdraw.cards import SERVER_DECK, Card, Suit, lowest_of_each_suit
from cardsharp.deadmansdraw.events import (
    CardPlaced,
    CardRemoved,
    Comment,
    Drawn,
    EffectAnswered,
    EffectPlayed,
    Event,
    TurnEnded,
    TurnStarted,
)
from cardsharp.deadmansdraw.position import Observer, PastMove, Position
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
        self._piles = Observer(draw_pile, tuple(card for card in lowest if card not in draw_pile))
        self._banks = [Bank(), Bank()]
        self._pending: Effect | None = None
        self._owed = 0
        self._answered = False
        self._turn: list[Event] = []
        self._lost = False

    def decisions(self, move: PastMove, player: int) -> list[Seen]:
        """What `player` decided in a move; nothing more once the match makes no sense.

        That is so where it began with cards that no event has told of (a debug start state).
        """
        if self._lost:
            return []
        try:
            return list(self._watch(move, player))
        except KeyError:
            self._lost = True
            return []

    def _watch(self, move: PastMove, player: int) -> Iterator[Seen]:
        timed_out = any(isinstance(event, Comment) for event in move.events)
        for event in move.events:
            if move.player == player and not timed_out:
                yield from self._decided(move, event)
            self._follow(move, event)
            self._piles.see(event)
            self._turn.append(event)
        if not isinstance(move.events[-1] if move.events else None, EffectAnswered):
            self._piles.refused = None

    # --- decisions -------------------------------------------------------------------------

    def _decided(self, move: PastMove, event: Event) -> Iterator[Seen]:
        action = self._action(event)
        if action is not None:
            position = self._position(move)
            if _leaves_a_choice(position):
                yield Seen(position, action)

    def _action(self, event: Event) -> Action | None:
        """The action that `event` is the first sign of, None where it only follows from one."""
        pending = self._pending
        match event:
            case EffectAnswered(_, card) if pending is not None:
                return respond(pending.effect_type, card)
            case Drawn() if pending is None:
                return DRAW
            case Drawn(card) if self._waits_for(EffectType.ORACLE):
                return respond(EffectType.ORACLE, card)
            case TurnEnded(successful=True) if self._piles.unseen:
                return END_TURN
            case _:
                return None

    def _waits_for(self, effect_type: EffectType) -> bool:
        pending = self._pending
        return pending is not None and pending.effect_type is effect_type and not self._answered

    def _position(self, move: PastMove) -> Position:
        piles = self._piles
        return Position(
            me=move.player or 0,
            banks=(self._banks[0], self._banks[1]),
            play_area=tuple(piles.play_area),
            pending=self._pending,
            discard_pile=tuple(piles.discard_pile),
            unseen=tuple(piles.unseen),
            known_top=piles.known_top,
            refused=piles.refused,
            turn=move.turn,
            history=(PastMove(move.turn, move.player, tuple(self._turn)),),
        )

    # --- what events do to banks and pending effects (the piles are the observer's) ----------

    def _follow(self, move: PastMove, event: Event) -> None:
        match event:
            case TurnStarted():
                self._turn = []
            case Drawn():
                self._owed = max(0, self._owed - 1)
                self._wait_for(None)
            case CardPlaced():
                self._wait_for(self._kraken())
            case EffectPlayed(effect):
                self._wait_for(self._carried(effect))
            case EffectAnswered(effect_type, card):
                self._answer(effect_type, card)
            case CardRemoved(card, owner):
                self._banks[owner] = self._banks[owner].without(card)
            case TurnEnded() if move.player is not None:
                self._end_turn(move.player, event)
            case _:
                pass

    def _wait_for(self, pending: Effect | None) -> None:
        self._pending, self._answered = pending, False

    def _kraken(self) -> Effect | None:
        return Effect(EffectType.KRAKEN, (), self._owed) if self._owed else None

    def _carried(self, effect: Effect) -> Effect:
        """The effect with the draws that a Kraken still demands (docs/spec/arena.md section 7)."""
        if effect.effect_type is EffectType.KRAKEN:
            self._owed = effect.kraken_count
        elif effect.effect_type not in (EffectType.CANNON, EffectType.ORACLE):
            self._owed = 0
        return Effect(effect.effect_type, effect.cards, self._owed)

    def _answer(self, effect_type: str, card: Card | None) -> None:
        if effect_type == EffectType.ORACLE and card is not None:
            self._answered = True
            return
        if effect_type not in (EffectType.CANNON, EffectType.ORACLE):
            self._owed = 0
        self._wait_for(self._kraken())

    def _end_turn(self, player: int, ended: TurnEnded) -> None:
        area = self._piles.play_area
        if not ended.successful:
            suits = [card.suit for card in area]
            area = area[: suits.index(Suit.ANCHOR) if Suit.ANCHOR in suits else 0]
        self._banks[player] = self._banks[player].with_cards([*area, *(ended.bonus or ())])
        self._owed = 0
        self._wait_for(None)


def _leaves_a_choice(position: Position) -> bool:
    if position.pending is None:
        return bool(position.play_area)
    return position.pending.effect_type is EffectType.ORACLE or len(choices(position)) > 1


def drawn_in(history: tuple[PastMove, ...]) -> frozenset[Card]:
    """All cards that were drawn from the draw pile."""
    events = (event for move in history for event in move.events)
    return frozenset(event.card for event in events if isinstance(event, Drawn))
