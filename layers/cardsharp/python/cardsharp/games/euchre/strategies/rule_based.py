"""`rules`: a sound player by rules of thumb, the baseline for the other strategies."""

from cardsharp.games.euchre.actions import PASS, Bid, DecisionType, Defend, Discard, Play
from cardsharp.games.euchre.cards import Card
from cardsharp.games.euchre.position import EuchrePosition
from cardsharp.games.euchre.public_state import DEALER, TrumpCall
from cardsharp.games.euchre.strategies import (
    ElapsedSeconds,
    EuchreDecision,
    EuchreOption,
    strategy,
    zero_elapsed_seconds,
)
from cardsharp.games.euchre.strategies.bidding import card_mask, value_hand
from cardsharp.games.euchre.strategies.card_play_rules import make_follow_rule, make_lead_rule
from cardsharp.games.euchre.strategies.playout import play_order
from cardsharp.games.euchre.strategies.trump_layout import CardMask, trump_layout


@strategy("rules")
class RuleBased:
    """Counts expected tricks to bid; plays high to win, low to lose, and draws trumps."""

    def __init__(self, _: ElapsedSeconds = zero_elapsed_seconds) -> None:
        pass

    def decide(self, position: EuchrePosition) -> EuchreDecision:
        """Return the answer by the rules, with the rule that it follows from."""
        match position.decision_type:
            case DecisionType.BID:
                return _decide_bid(position)
            case DecisionType.DISCARD:
                return _decide_discard(position)
            case DecisionType.DEFEND:
                return EuchreDecision(Defend(goes_alone=False), "Two defend better than one.")
            case DecisionType.PLAY:
                return _decide_play(position)


# --- bidding ---------------------------------------------------------------------------------


def _decide_bid(position: EuchrePosition) -> EuchreDecision:
    hand_value = value_hand(
        card_mask(position.hand), len(position.public_state.bids), position.public_state.turn_card
    )
    options = tuple(
        EuchreOption(Bid(suit), None, f"{hand_value.value_by_suit[suit] / 1000:.2f} tricks")
        for suit in hand_value.value_by_suit
    )
    comparison = "fewer than" if hand_value.best_bid == PASS else "at least"
    value = hand_value.value_by_suit[hand_value.best_suit]
    reason = (
        f"The hand is worth {value / 1000:.2f} tricks, {comparison} the "
        f"{hand_value.threshold / 1000:.2f} that a call needs."
    )
    return EuchreDecision(hand_value.best_bid, reason, options)


def _decide_discard(position: EuchrePosition) -> EuchreDecision:
    cards = trump_layout(position.public_state.turn_card & 3)
    offered = [action.card for action in position.legal_actions if isinstance(action, Discard)]
    card = cards.best_discard(cards.to_mask(position.hand), cards.to_mask(offered))
    return EuchreDecision(Discard(cards.number[card]), "It is the card that is missed least.")


# --- card play by `card_play_rules`; these functions add the reason -----------------------------


def _decide_play(position: EuchrePosition) -> EuchreDecision:
    cards = [action.card for action in position.legal_actions if isinstance(action, Play)]
    if len(cards) == 1:
        return EuchreDecision(Play(cards[0]), "It is the only card allowed.")
    call = position.public_state.require_trump_call
    bits = trump_layout(call.suit)
    decide = _choose_follow if position.public_state.current_trick else _choose_lead
    card, reason = decide(
        position, call, bits.to_mask(cards), bits.to_mask(_find_hidden_cards(position, call))
    )
    return EuchreDecision(Play(bits.number[card]), reason)


def _find_hidden_cards(position: EuchrePosition, call: TrumpCall) -> set[Card]:
    is_in_dealer_hand = call.is_order_up and position.seat != DEALER
    turned = {position.public_state.turn_card} - {*position.public_state.cards_played_by(DEALER)}
    return {*position.unseen_cards} | (turned if is_in_dealer_hand else set())


def _choose_lead(
    position: EuchrePosition, call: TrumpCall, hand: CardMask, hidden: CardMask
) -> tuple[CardMask, str]:
    bits, place = trump_layout(call.suit), play_order(call).place[position.seat]
    is_first_trick, lead = not position.public_state.tricks, make_lead_rule(call.suit)
    card = lead(hand, hidden, place, is_first_trick)
    if card & bits.trumps:
        # With a side card added (the lowest bit), the rule still leads trumps: it wants to draw
        # them.
        draws = lead(hand | 1, hidden, place, is_first_trick) == card
        return card, "It draws trumps." if draws else "Only trumps are left."
    higher = hidden & bits.suit[card] & -(card << 1)
    return (
        card,
        "It is the low card of a short suit." if higher else "No higher card of its suit is left.",
    )


def _choose_follow(
    position: EuchrePosition, call: TrumpCall, hand: CardMask, hidden: CardMask
) -> tuple[CardMask, str]:
    bits, table = trump_layout(call.suit), position.public_state
    led, winner = (
        bits.suit[bits.bit[table.current_trick[0].card]],
        table.trick_winner(table.current_trick),
    )
    best = bits.bit[dict(table.current_trick)[winner]]
    partners, is_last = (
        winner == position.partner,
        len(table.current_trick) == 3 - len(table.seats_sitting_out),
    )
    card = make_follow_rule(call.suit)(hand, hidden, led, best, partners, is_last)
    if partners and (is_last or best & bits.trumps or hidden & led < best):
        return card, "The partner wins the trick."
    if not (hand & led or hand & bits.trumps) & (led | bits.trumps) & -(best << 1):
        return card, "The trick is lost."
    if is_last or card & bits.trumps:
        return card, "It is the cheapest card that wins."
    if hidden & led < card:
        return card, "It is the highest card of the suit."
    if partners:
        return card, "The partner is winning the trick so far."
    return card, "It is the cheapest card that beats the others so far."
