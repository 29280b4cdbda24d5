"""`rules`: a sound player by rules of thumb, the yardstick for ours."""

from cardsharp.euchre.actions import PASS, Bid, Defend, Discard, Play, Question
from cardsharp.euchre.cards import Card
from cardsharp.euchre.position import Position
from cardsharp.euchre.strategies import Decision, Option, Stopwatch, standing, strategy
from cardsharp.euchre.strategies.bidding import appraise, card_set
from cardsharp.euchre.strategies.layout import Mask, layout
from cardsharp.euchre.strategies.playout import seated
from cardsharp.euchre.strategies.thumb import following, leading
from cardsharp.euchre.table import DEALER, Call


@strategy("rules")
class Rules:
    """Counts expected tricks to bid; plays high to win, low to lose, and draws trumps."""

    def __init__(self, _: Stopwatch = standing) -> None:
        pass

    def decide(self, position: Position) -> Decision:
        """The answer by rule, and which rule it was."""
        match position.question:
            case Question.BID:
                return _bid(position)
            case Question.DISCARD:
                return _discard(position)
            case Question.DEFEND:
                return Decision(Defend(alone=False), "Two defend better than one.")
            case Question.PLAY:
                return _play(position)


# --- bidding ---------------------------------------------------------------------------------


def _bid(position: Position) -> Decision:
    seen = appraise(card_set(position.hand), len(position.table.bids), position.table.turn_card)
    options = tuple(
        Option(Bid(suit), None, f"{seen.worth[suit] / 1000:.2f} tricks") for suit in seen.worth
    )
    side = "Below" if seen.bid == PASS else "At least"
    return Decision(seen.bid, f"{side} {seen.wanted / 1000:.2f} tricks.", options)


def _discard(position: Position) -> Decision:
    cards = layout(position.table.turn_card & 3)
    offered = [action.card for action in position.choices if isinstance(action, Discard)]
    card = cards.missed_first(cards.mask(position.hand), cards.mask(offered))
    return Decision(Discard(cards.number[card]), "The card that is missed least.")


# --- card play, as `thumb` has it; what is said here is why ------------------------------------


def _play(position: Position) -> Decision:
    cards = [action.card for action in position.choices if isinstance(action, Play)]
    if len(cards) == 1:
        return Decision(Play(cards[0]), "The only card allowed.")
    call = position.table.called
    bits = layout(call.suit)
    decide = _follow if position.table.trick else _lead
    card, reason = decide(position, call, bits.mask(cards), bits.mask(_hidden(position, call)))
    return Decision(Play(bits.number[card]), reason)


def _hidden(position: Position, call: Call) -> set[Card]:
    taken = call.picks_up and position.seat != DEALER
    turned = {position.table.turn_card} - {*position.table.played_by(DEALER)}
    return {*position.unseen} | (turned if taken else set())


def _lead(position: Position, call: Call, hand: Mask, hidden: Mask) -> tuple[Mask, str]:
    bits, place = layout(call.suit), seated(call).place[position.seat]
    first, lead = not position.table.tricks, leading(call.suit)
    card = lead(hand, hidden, place, first)
    if card & bits.trumps:
        # The lowest bit is no trump: so it leads trumps also where it need not.
        draws = lead(hand | 1, hidden, place, first) == card
        return card, "Draws trumps." if draws else "Only trumps are left."
    higher = hidden & bits.suit[card] & -(card << 1)
    return card, "Short suit, low." if higher else "High card of its suit."


def _follow(position: Position, call: Call, hand: Mask, hidden: Mask) -> tuple[Mask, str]:
    bits, table = layout(call.suit), position.table
    led, winner = bits.suit[bits.bit[table.trick[0].card]], table.winner(table.trick)
    best = bits.bit[dict(table.trick)[winner]]
    partners, last = winner == position.partner, len(table.trick) == 3 - len(table.sitting_out)
    card = following(call.suit)(hand, hidden, led, best, partners, last)
    if partners and (last or best & bits.trumps or hidden & led < best):
        return card, "The partner wins the trick."
    if not (hand & led or hand & bits.trumps) & (led | bits.trumps) & -(best << 1):
        return card, "The trick is lost."
    if last or card & bits.trumps:
        return card, "The cheapest card that wins."
    if hidden & led < card:
        return card, "The highest card of the suit."
    who = "The partner leads" if partners else "The cheapest card that leads"
    return card, f"{who} so far."
