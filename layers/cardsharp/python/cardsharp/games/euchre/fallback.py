"""Fallback actions of Euchre: legal and harmless, for a strategy that does not answer."""

from cardsharp.games.euchre.actions import Action, Bid, Defend, Discard, Play
from cardsharp.games.euchre.cards import Card, Suit, rank_of, suit_of, trick_strength
from cardsharp.games.euchre.position import EuchrePosition
from cardsharp.games.euchre.strategies import EuchreDecision
from cardsharp.play.decision_runner import DecisionRunner


def fallback_action(
    position: EuchrePosition, _rejected_actions: frozenset[Action] = frozenset()
) -> Action:
    """Return a pass, no lone defence, or the lowest legal card. The server accepts all of these."""
    first_action = position.legal_actions[0]
    if isinstance(first_action, Bid | Defend):
        return first_action
    cards = {
        action.card: action
        for action in position.legal_actions
        if isinstance(action, Discard | Play)
    }
    return cards[lowest_card(tuple(cards), position.public_state.trump)]


def lowest_card(cards: tuple[Card, ...], trump: Suit | None = None) -> Card:
    """Return the lowest card. If trumps are called, they count as higher than all others."""

    def height(card: Card) -> tuple[int, int]:
        if trump is None or suit_of(card, trump) != trump:
            return rank_of(card), card
        return trick_strength(card, trump, trump), card

    return min(cards, key=height)


def _explain_refusal(position: EuchrePosition, action: Action) -> str | None:
    return None if action in position.legal_actions else f"the strategy may not {action}"


DECISION_RUNNER = DecisionRunner(
    _explain_refusal,
    fallback_action,
    EuchreDecision,
    (Bid, Discard, Defend, Play),
    lambda position: position.legal_actions,
)
