"""What is legal and harmless when no strategy answers."""

from cardsharp.deciding import Decider
from cardsharp.euchre.actions import Action, Bid, Defend, Discard, Play
from cardsharp.euchre.cards import Card, Suit, rank_of, strength, suit_of
from cardsharp.euchre.position import Position
from cardsharp.euchre.strategies import Decision


def safe_action(position: Position, _refused: frozenset[Action] = frozenset()) -> Action:
    """A pass, no lone defence, or the lowest of the cards; nobody refuses any of these."""
    first = position.choices[0]
    if isinstance(first, Bid | Defend):
        return first
    cards = {one.card: one for one in position.choices if isinstance(one, Discard | Play)}
    return cards[lowest(tuple(cards), position.table.trump)]


def lowest(cards: tuple[Card, ...], trump: Suit | None = None) -> Card:
    """The lowest card, trumps last where they are known."""

    def height(card: Card) -> tuple[int, int]:
        if trump is None or suit_of(card, trump) != trump:
            return rank_of(card), card
        return strength(card, trump, trump), card

    return min(cards, key=height)


def _refusal(position: Position, action: Action) -> str | None:
    return None if action in position.choices else f"the strategy may not {action}"


DECIDER = Decider(
    _refusal, safe_action, Decision, (Bid, Discard, Defend, Play), lambda position: position.choices
)
