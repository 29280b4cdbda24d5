"""What several strategies look at in a position, and the server's own choice (autopick)."""

from collections.abc import Collection, Iterable, Sequence

from cardsharp.deadmansdraw import draft
from cardsharp.deadmansdraw.actions import Action, EffectType, respond
from cardsharp.deadmansdraw.cards import Bank, Card, Suit
from cardsharp.deadmansdraw.position import Position


def lying(position: Position) -> frozenset[str]:
    """The suits in the play area: a second card of any of them busts."""
    return frozenset(card.suit for card in position.play_area)


def gain(bank: Bank, card: Card) -> int:
    """How much the value of `bank` rises if `card` were banked now."""
    return max(0, card.value - bank.top(card.suit))


def rise(bank: Bank, cards: Iterable[Card]) -> int:
    """How much the value of `bank` rises if all of `cards` were banked now."""
    return bank.with_cards(cards).score - bank.score


def busting(position: Position) -> int:
    """How many of the unseen cards would bust."""
    suits = lying(position)
    return sum(card.suit in suits for card in position.unseen)


def busts(position: Position, card: Card) -> bool:
    """Whether the turn would bust if what is pending were answered with `card`."""
    pending = position.pending
    shoots = pending is not None and pending.effect_type is EffectType.CANNON
    return not shoots and card.suit in lying(position)


def loss(bank: Bank, top: Card) -> int:
    """How much the value of `bank` falls without its highest card of a suit."""
    return bank.score - bank.without(top).score


def dearest(bank: Bank, tops: Iterable[Card]) -> Card:
    """The first of `tops` whose loss lowers the value of `bank` most."""
    return max(tops, key=lambda top: loss(bank, top))


def choices(position: Position) -> tuple[Card, ...]:
    """The cards with which the pending Hook, Sword, Cannon or Map may be answered."""
    pending = position.pending
    if pending is None or pending.effect_type is EffectType.ORACLE:
        return ()
    return draft.answers(pending, position.own, position.other)


def autopick(position: Position) -> Action:
    """The answer to a pending Hook, Sword, Cannon, Map or Oracle that the server would pick.

    docs/spec/arena.md section 7: a Hook and a Map take the first card that does not bust, else the
    first; a Sword and a Cannon take the first; an Oracle's card is never taken.
    """
    pending = position.pending
    if pending is None or pending.effect_type is EffectType.ORACLE:
        return respond(EffectType.ORACLE)
    card = draft.autopick(pending, position.own, position.other, position.play_area)
    return respond(pending.effect_type, card)


def first_present(cards: Sequence[Card], order: Iterable[str]) -> Card | None:
    """The first card of the first suit in `order` that is among `cards`."""
    return next((card for suit in order for card in cards if card.suit == suit), None)


def treasure_mate(cards: Sequence[Card], area: Collection[str]) -> Card | None:
    """The Key among `cards` where the Chest lies in the play area, and the other way round."""
    wanted = [suit for suit, mate in _MATES if mate in area]
    return first_present(cards, wanted)


_MATES = ((Suit.KEY, Suit.CHEST), (Suit.CHEST, Suit.KEY))
