"""Where every card of Dead Man's Draw lies that is known to all, from one event to the next."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from cardsharp.deadmansdraw.actions import Effect, EffectType
from cardsharp.deadmansdraw.bank import Bank
from cardsharp.deadmansdraw.cards import (
    SERVER_DECK,
    Card,
    deck_order,
    lowest_of_each_suit,
    without,
)
from cardsharp.deadmansdraw.events import (
    CardPlaced,
    CardRemoved,
    Delta,
    Drawn,
    EffectAnswered,
    EffectPlayed,
    Event,
    StackDelta,
)

Banks = tuple[Bank, Bank]
Stack = tuple[Card, ...]
Suited = frozenset[Card]

_DISCARDED = lowest_of_each_suit(SERVER_DECK)
"""The discard pile that a match begins with."""


_TAKES = frozenset({EffectType.HOOK, EffectType.SWORD, EffectType.MAP})
"""Effects whose answer comes to the play area."""


class Ended(NamedTuple):
    """The end of a turn: whether it busted, and the cards that were drawn in it."""

    bust: bool
    cards: Stack


@dataclass(frozen=True, slots=True)
class Piles:
    """Where all cards lie that are known: banks and piles as sets, and the play area.

    `unseen` is the draw pile, of which nobody knows the order; None where a match began with piles
    of its own, which are not told. `coming` is on its way to the play area, which it may bust;
    `ended` tells of the turn that ended with this move.
    """

    banks: tuple[Suited, Suited] = field(default=(frozenset(), frozenset()))
    area: tuple[Card, ...] = ()
    discard: Suited = frozenset(_DISCARDED)
    unseen: Suited | None = frozenset(without(SERVER_DECK, _DISCARDED))
    pending: Effect | None = None
    coming: Card | None = None
    ended: Ended | None = None

    @property
    def drawn(self) -> Stack:
        """The cards of the turn, and last the one that busts it."""
        return self.area if self.coming is None else (*self.area, self.coming)

    def after(self, delta: Delta) -> "Piles":
        """The piles after a turn that began with these."""
        return self._turned(delta, lambda change: (change.removed, change.added))

    def before(self, delta: Delta) -> "Piles":
        """The piles before a turn that ended with these."""
        return self._turned(delta, lambda change: (change.added, change.removed))

    def _turned(self, delta: Delta, how: Callable[[StackDelta], tuple[Stack, Stack]]) -> "Piles":
        def turned(pile: Suited, change: StackDelta) -> Suited:
            gone, came = how(change)
            return (pile - set(gone)) | set(came)

        first, second = map(turned, self.banks, delta.banks)
        unseen = None if self.unseen is None else turned(self.unseen, delta.draw_pile)
        return Piles((first, second), (), turned(self.discard, delta.discard_pile), unseen)

    def within(self, event: Event) -> "Piles":
        """The piles after an event within a turn."""
        match event:
            case Drawn(card):
                unseen = None if self.unseen is None else self.unseen - {card}
                return replace(self, unseen=unseen, pending=None, coming=card)
            case CardPlaced(card):
                return replace(self, area=(*self.area, card), coming=None)
            case CardRemoved(card):
                first, second = (bank - {card} for bank in self.banks)
                return replace(self, banks=(first, second))
            case EffectPlayed(effect):
                taken = effect.cards if effect.effect_type is EffectType.MAP else ()
                return replace(self, discard=self.discard - set(taken), pending=effect)
            case EffectAnswered(name, card):
                return self._answered(name, card)
        return self

    def _answered(self, effect: str, card: Card | None) -> "Piles":
        """A Cannon's card comes to the discard pile; what a Map offered goes back but for one."""
        if card is None:
            return replace(self, pending=None)
        offered = () if self.pending is None else self.pending.cards
        back = {EffectType.CANNON: {card}, EffectType.MAP: set(offered) - {card}}
        discard = self.discard.union(*(came for name, came in back.items() if name == effect))
        coming = card if effect in _TAKES else None
        return replace(self, discard=discard, pending=None, coming=coming)

    def as_banks(self) -> Banks:
        """Both banks, each in the order of its cards."""
        first, second = (Bank().with_cards(sorted(bank)) for bank in self.banks)
        return first, second

    def state(self) -> dict[str, object]:
        """What lies open, as a JSON object."""
        banks = self.as_banks()
        pending = self.pending
        return {
            "banks": [_names(bank) for bank in banks],
            "scores": [bank.score for bank in banks],
            "playArea": _names(self.area),
            "ended": self.ended and {"bust": self.ended.bust, "cards": _names(self.ended.cards)},
            "pending": pending
            and {"effect": pending.effect_type.value, "cards": _names(pending.cards)},
            "discardPile": _names(sorted(self.discard, key=deck_order)),
            "unseen": None if self.unseen is None else _names(sorted(self.unseen, key=deck_order)),
        }


def _names(cards: Iterable[Card]) -> list[str]:
    return [str(card) for card in cards]
