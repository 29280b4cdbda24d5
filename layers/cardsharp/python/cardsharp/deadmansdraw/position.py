"""What a player may know of a match, and nothing else: the only thing that a strategy sees.

Everything here comes from public facts: the table and the events that both players are shown
(docs/spec/arena.md section 6). The draw pile is a set of the cards not seen elsewhere, apart from
a top card that an Oracle showed and that still lies there. The match's random seed has no way in:
the wire models do not read it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from cardsharp.deadmansdraw.actions import Action, Effect, EffectType
from cardsharp.deadmansdraw.bank import Bank
from cardsharp.deadmansdraw.cards import (
    SERVER_DECK,
    Card,
    Suit,
    deck_order,
    lowest_of_each_suit,
)
from cardsharp.deadmansdraw.events import (
    CardPlaced,
    CardRemoved,
    Drawn,
    EffectAnswered,
    EffectPlayed,
    Event,
    TurnEnded,
)
from cardsharp.deadmansdraw.rules import legal_actions
from cardsharp.deadmansdraw.state import State, TurnStart


@dataclass(frozen=True, slots=True)
class PastMove:
    """One recorded move: what its player's action, or the server, made happen."""

    turn: int
    player: int | None
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Position:
    """A decision to make: the table as player `me`, who is to act, may know it.

    `unseen` holds the cards that can be in the draw pile, in deck order, whatever their order
    in the pile; `known_top` is the next card where an Oracle has shown it. `refused` is the
    Oracle's card that `me` left lying with the previous action of this turn.
    """

    me: int
    banks: tuple[Bank, Bank]
    play_area: tuple[Card, ...]
    pending: Effect | None
    discard_pile: tuple[Card, ...]
    unseen: tuple[Card, ...]
    known_top: Card | None = None
    refused: Card | None = None
    turn: int = 1
    history: tuple[PastMove, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        """What has been seen, in a line or two, by the names of the fields."""
        effect = self.pending
        seen: dict[str, Iterable[object]] = {
            "own": self.own,
            "other": self.other,
            "play_area": self.play_area,
            "pending": () if effect is None else (effect.effect_type, *effect.cards),
            "known_top": () if self.known_top is None else (self.known_top,),
        }
        told = (f", {name}={' '.join(map(str, cards)) or None}" for name, cards in seen.items())
        return f"Position(turn={self.turn}{''.join(told)})"

    @property
    def own(self) -> Bank:
        """The bank of the player to act."""
        return self.banks[self.me]

    @property
    def other(self) -> Bank:
        """The opponent's bank."""
        return self.banks[1 - self.me]

    def state(self, draw_pile: Sequence[Card] | None = None) -> State:
        """The table as the rules see it, with `draw_pile` as a guess of the order, next first.

        Without a guess the pile is the unseen cards in deck order behind the known top card.
        """
        if draw_pile is None:
            top = (self.known_top,) if self.known_top else ()
            draw_pile = (*top, *(card for card in self.unseen if card != self.known_top))
        pile = tuple(draw_pile)
        return State(
            banks=self.banks,
            draw_pile=pile,
            discard_pile=self.discard_pile,
            player=self.me,
            turn_start=TurnStart(pile, self.discard_pile, self.banks),
            play_area=self.play_area,
            pending=self.pending,
        )

    def legal_actions(self) -> tuple[Action, ...]:
        """The actions that the rules allow here."""
        return legal_actions(self.state())


class Observer:
    """Follows the public events of a match and keeps what they give away.

    `draw_set` are the cards that the draw pile began with, in any order, and `discard_pile` the
    cards of the discard pile in order.
    """

    def __init__(
        self,
        draw_set: Iterable[Card] | None = None,
        discard_pile: Sequence[Card] = lowest_of_each_suit(SERVER_DECK),
        play_area: Sequence[Card] = (),
    ) -> None:
        if draw_set is None:
            gone = set(discard_pile)
            draw_set = (card for card in SERVER_DECK if card not in gone)
        self.unseen = dict.fromkeys(sorted(draw_set, key=deck_order))
        self.discard_pile = list(discard_pile)
        self.play_area = list(play_area)
        self.known_top: Card | None = None
        self.refused: Card | None = None
        self._arriving: Card | None = None
        self._offer: tuple[Card, ...] = ()

    def copy(self) -> "Observer":
        """Another observer who has seen the same."""
        other = Observer((), self.discard_pile, self.play_area)
        other.unseen = self.unseen.copy()
        other.known_top, other.refused = self.known_top, self.refused
        other._arriving, other._offer = self._arriving, self._offer
        return other

    def see_all(self, events: Iterable[Event]) -> None:
        """Take in the events of one move, in their order."""
        self.refused = None
        for event in events:
            self.see(event)

    def see(self, event: Event) -> None:
        """Take in one event."""
        match event:
            case Drawn(card):
                self._arriving = card
                self.unseen.pop(card, None)
                self.known_top = self.refused = None
            case CardPlaced(card):
                self.play_area.append(card)
            case CardRemoved(card):
                self._arriving = card
            case EffectPlayed(effect):
                self._see_effect(effect)
            case EffectAnswered():
                self._see_answer(event)
            case TurnEnded():
                self._see_turn_end(event)
            case _:
                pass

    def _see_effect(self, effect: Effect) -> None:
        if effect.effect_type is EffectType.ORACLE:
            self.known_top = next(iter(effect.cards), None)
        elif effect.effect_type is EffectType.MAP:
            self._offer = effect.cards
            self._discard_without(effect.cards)

    def _see_answer(self, answer: EffectAnswered) -> None:
        if answer.effect_type == EffectType.MAP:
            self.discard_pile += [card for card in self._offer if card != answer.card]
            self._arriving = answer.card
        elif answer.effect_type == EffectType.CANNON and answer.card is not None:
            self.discard_pile.append(answer.card)
        elif answer.effect_type == EffectType.ORACLE and answer.card is None:
            self.refused = self.known_top

    def _see_turn_end(self, ended: TurnEnded) -> None:
        if not ended.successful and self._arriving is not None:
            suits = [card.suit for card in self.play_area]
            saved = suits.index(Suit.ANCHOR) if Suit.ANCHOR in suits else 0
            self.discard_pile += [self._arriving, *self.play_area[saved:]]
        self._discard_without(ended.bonus or ())
        self.play_area = []
        self._arriving = None

    def _discard_without(self, taken: tuple[Card, ...]) -> None:
        self.discard_pile = [card for card in self.discard_pile if card not in taken]
