"""Features of a position that several strategies use, and the server's own choice (autopick)."""

from collections.abc import Collection, Iterable, Sequence

from cardsharp.games.deadmansdraw import transitions
from cardsharp.games.deadmansdraw.actions import Action, EffectType, respond
from cardsharp.games.deadmansdraw.cards import Bank, Card, Suit
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition


def suits_in_play(position: DeadMansDrawPosition) -> frozenset[str]:
    """Return the suits in the play area: a second card of any of them busts."""
    return frozenset(card.suit for card in position.play_area)


def bank_gain(bank: Bank, card: Card) -> int:
    """Return how much the value of `bank` rises if `card` is banked now."""
    return max(0, card.value - bank.top_value(card.suit))


def total_bank_gain(bank: Bank, cards: Iterable[Card]) -> int:
    """Return how much the value of `bank` rises if all of `cards` are banked now."""
    return bank.with_cards(cards).score - bank.score


def busting_card_count(position: DeadMansDrawPosition) -> int:
    """Return how many of the unseen cards would bust."""
    suits = suits_in_play(position)
    return sum(card.suit in suits for card in position.unseen)


def answer_would_bust(position: DeadMansDrawPosition, card: Card) -> bool:
    """Return True if answering the pending effect with `card` would bust the turn."""
    pending = position.pending
    shoots = pending is not None and pending.effect_type is EffectType.CANNON
    return not shoots and card.suit in suits_in_play(position)


def bank_loss(bank: Bank, card: Card) -> int:
    """Return how much the value of `bank` falls without its highest card of that suit."""
    return bank.top_value(card.suit) - bank.without(card).top_value(card.suit)


def costliest_card(bank: Bank, cards: Iterable[Card]) -> Card:
    """Return the first of `cards` whose loss lowers the value of `bank` most."""
    return max(cards, key=lambda top: bank_loss(bank, top))


def pending_effect_targets(position: DeadMansDrawPosition) -> tuple[Card, ...]:
    """Return the cards with which the pending Hook, Sword, Cannon or Map may be answered."""
    pending = position.pending
    if pending is None or pending.effect_type is EffectType.ORACLE:
        return ()
    return transitions.effect_targets(pending, position.own_bank, position.opponent_bank)


def autopick(position: DeadMansDrawPosition) -> Action:
    """Return the answer to a pending Hook, Sword, Cannon, Map or Oracle that the server would pick.

    docs/spec/arena.md section 7: a Hook and a Map take the first card that does not bust, else the
    first; a Sword and a Cannon take the first; an Oracle's card is never taken.
    """
    pending = position.pending
    if pending is None or pending.effect_type is EffectType.ORACLE:
        return respond(EffectType.ORACLE)
    card = transitions.autopick(
        pending, position.own_bank, position.opponent_bank, position.play_area
    )
    return respond(pending.effect_type, card)


def first_card_in_suit_order(cards: Sequence[Card], suit_order: Iterable[str]) -> Card | None:
    """Return the first card of the first suit in `suit_order` that is among `cards`."""
    return next((card for suit in suit_order for card in cards if card.suit == suit), None)


def chest_key_partner(cards: Sequence[Card], play_area: Collection[str]) -> Card | None:
    """Return the Key among `cards` if the Chest is in the play area, and vice versa."""
    suits = [suit for suit, mate in _MATES if mate in play_area]
    return first_card_in_suit_order(cards, suits)


_MATES = ((Suit.KEY, Suit.CHEST), (Suit.CHEST, Suit.KEY))
