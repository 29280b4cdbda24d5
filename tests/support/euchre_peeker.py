"""A player that cheats: the positive control of every fairness test."""

from dataclasses import dataclass, field

from cardsharp.euchre.actions import PASS, Action, Bid, Discard, Play, Question
from cardsharp.euchre.cards import Card, Suit, strength, suit_of
from cardsharp.euchre.position import Position
from cardsharp.euchre.records import DealKey, Record
from cardsharp.euchre.rules import legal_cards
from cardsharp.euchre.state import Deal
from cardsharp.euchre.store import Deals
from cardsharp.euchre.strategies import Decision
from cardsharp.euchre.strategies.estimates import discard_first, tricks
from cardsharp.euchre.table import SEATS


@dataclass(frozen=True)
class Window(Deals):
    """A store that lets the peeker see what it holds."""

    seen: list[Record | None] = field(default_factory=list)

    def read(self, key: DealKey) -> Record | None:
        self.seen.append(super().read(key))
        return self.seen[-1]


class Peeker:
    """Decides by everybody's cards, which it reads through the window and not in the view."""

    def __init__(self, window: Window) -> None:
        self.window = window

    def decide(self, view: Position) -> Decision:
        record = self.window.seen[-1]
        assert record is not None
        deal = Deal(record.cards, view.table, view.discard)
        return Decision(self._action(view, deal), "I looked.")

    def _action(self, view: Position, deal: Deal) -> Action:
        match view.question:
            case Question.BID:
                return best_bid(view, deal)
            case Question.DISCARD:
                return Discard(_cards(view)[_others(deal, view.seat) % len(view.choices)])
            case Question.DEFEND:
                return view.choices[0]
            case Question.PLAY:
                return best_card(view, deal)


def best_bid(view: Position, deal: Deal) -> Bid:
    """Calls where the own side holds the better cards, by the same rule of thumb for both."""
    bids = [one for one in view.choices if isinstance(one, Bid) and not one.alone]
    value = {bid: _balance(deal, view.seat, bid.suit) for bid in bids if bid.suit is not None}
    best = max(value, key=lambda bid: value[bid])
    return best if value[best] > 0.5 else PASS


def best_card(view: Position, deal: Deal) -> Play:
    """The lowest card that wins the trick if the others play their highest, else the lowest."""
    cards, trump = _cards(view), view.table.trump
    assert trump is not None
    order = [card for card in discard_first(view.hand, trump) if card in cards]
    winning = [card for card in order if _wins(card, view, deal, trump)]
    return Play((winning or order)[0])


def _wins(card: Card, view: Position, deal: Deal, trump: Suit) -> bool:
    trick = view.table.trick
    led = suit_of(trick[0].card if trick else card, trump)
    seen = [played.card for played in trick if played.seat != view.partner]
    done = {played.seat for played in trick} | {view.seat, view.partner}
    to_come = [
        legal_cards(deal.hand(seat), led, trump)
        for seat in SEATS
        if seat not in done and seat not in view.table.sitting_out
    ]
    rivals = [*seen, *(one for hand in to_come for one in hand)]
    return all(strength(card, trump, led) > strength(one, trump, led) for one in rivals)


def _balance(deal: Deal, seat: int, trump: Suit) -> float:
    worth = [tricks(deal.hand(one), trump) for one in SEATS]
    return worth[seat] + worth[(seat + 2) % 4] - worth[(seat + 1) % 4] - worth[(seat + 3) % 4]


def _others(deal: Deal, seat: int) -> int:
    """A number that hangs on everybody else's cards."""
    return sum((one + 1) * card for one in SEATS if one != seat for card in deal.hand(one))


def _cards(view: Position) -> list[Card]:
    return [one.card for one in view.choices if isinstance(one, Discard | Play)]
