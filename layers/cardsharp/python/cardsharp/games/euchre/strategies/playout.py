"""Playout of a world in which every seat plays as `rules` does, in some 30 microseconds.

Cards are bits (see `trump_layout`), and the rules are those of `card_play_rules`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from cardsharp.games.euchre.public_state import SEATS, TRICKS, TrumpCall, partner
from cardsharp.games.euchre.rules import TRICKS_TO_MAKE
from cardsharp.games.euchre.strategies.card_play_rules import (
    CALLER,
    CALLERS_PARTNER,
    DEFENDER,
    make_follow_rule,
    make_lead_rule,
)
from cardsharp.games.euchre.strategies.trump_layout import CardMask, trump_layout

ALL_CARDS: CardMask = (1 << 24) - 1


@dataclass(frozen=True, slots=True)
class CardPlayState:
    """State of the card play: the seat to play, the current trick, and the tricks won so far.

    `cards_in_trick` cards lie in the trick, of suit `suit_led`; `winning_card` is the highest
    and `winning_seat` its seat. `played_cards` are all cards that have been played.
    """

    seat: int = 0
    played_cards: CardMask = 0
    cards_in_trick: int = 0
    suit_led: CardMask = 0
    winning_card: CardMask = 0
    winning_seat: int = 0
    tricks_won: int = 0
    tricks_lost: int = 0

    def with_card(self, card: CardMask, table: "PlayOrder") -> "CardPlayState":
        """Return the state after the next seat has played this card."""
        led = self.suit_led if self.cards_in_trick else table.suit[card]
        best, by, laid = self.winning_card, self.winning_seat, self.cards_in_trick + 1
        if not self.cards_in_trick or (card & (led | table.trumps) and card > best):
            best, by = card, self.seat
        played_cards, tricks_won, tricks_lost = (
            self.played_cards | card,
            self.tricks_won,
            self.tricks_lost,
        )
        if laid < table.chairs:
            return CardPlayState(
                table.next_seats[self.seat],
                played_cards,
                laid,
                led,
                best,
                by,
                tricks_won,
                tricks_lost,
            )
        caller_wins = table.on_caller_side[by]
        return CardPlayState(
            by,
            played_cards,
            tricks_won=tricks_won + caller_wins,
            tricks_lost=tricks_lost + (not caller_wins),
        )


class PlayOrder:
    """Order of play under a call: the seats that play, and their sides."""

    def __init__(self, trump_call: TrumpCall, lone_defender: int | None = None) -> None:
        cards = trump_layout(trump_call.suit)
        self.trump, self.trumps, self.suit = trump_call.suit, cards.trumps, cards.suit
        self.alone, self.lone_defender = trump_call.goes_alone, lone_defender is not None
        self.out = {partner(trump_call.caller_seat)} if trump_call.goes_alone else set()
        self.out |= set() if lone_defender is None else {partner(lone_defender)}
        self.chairs = len(SEATS) - len(self.out)
        self.on_caller_side = [seat % 2 == trump_call.caller_seat % 2 for seat in SEATS]
        self.next_seats = [self.first_playing_seat_from(seat + 1) for seat in SEATS]
        self.place = [
            CALLER
            if seat == trump_call.caller_seat
            else (CALLERS_PARTNER if is_caller_side else DEFENDER)
            for seat, is_caller_side in enumerate(self.on_caller_side)
        ]

    def first_playing_seat_from(self, seat: int) -> int:
        """Return this seat, or the next one that plays."""
        while seat % 4 in self.out:
            seat += 1
        return seat % 4

    def point_difference(self, tricks_won: int, tricks_lost: int) -> int:
        """Return the points of the caller's side less those of the defenders."""
        if tricks_lost > TRICKS - TRICKS_TO_MAKE:
            return -4 if self.lone_defender else -2
        if tricks_won < TRICKS:
            return 1
        return 4 if self.alone else 2


play_order = cache(PlayOrder)  # an entry for each call and lone defender, at most 320


def replay_card_play_states(cards: Iterable[CardMask], order: PlayOrder) -> list[CardPlayState]:
    """Return the state at each card of a deal, in order, and the final state."""
    initial_state = CardPlayState(order.first_playing_seat_from(0))
    return list(
        accumulate(cards, lambda stage, card: stage.with_card(card, order), initial=initial_state)
    )


def playout_points(
    order: PlayOrder,
    hands: Sequence[CardMask],
    hidden: Sequence[CardMask],
    trick_state: CardPlayState,
) -> int:
    """Return the points of the caller's side when all play on by the rules of thumb.

    `hands` are the cards of each seat. `hidden` are the cards that each seat was not dealt, without
    a turn card that was turned down. Played cards are removed from both here.
    """
    lead, follow = make_lead_rule(order.trump), make_follow_rule(order.trump)
    suit, trumps, on_caller_side = order.suit, order.trumps, order.on_caller_side
    next_seats, place, follower_count = order.next_seats, order.place, order.chairs - 1
    current_hands, seat = [*hands], trick_state.seat
    played_cards, laid = trick_state.played_cards, trick_state.cards_in_trick
    led, best, by = trick_state.suit_led, trick_state.winning_card, trick_state.winning_seat
    tricks_won, tricks_lost = trick_state.tricks_won, trick_state.tricks_lost
    is_first_trick = not tricks_won + tricks_lost
    # This loop runs for every choice in every world: it is most of the time of a decision. So it
    # uses local integers instead of `CardPlayState`, and stops once the points cannot change.
    while True:
        euchred = tricks_lost > TRICKS - TRICKS_TO_MAKE
        if euchred or (tricks_lost and tricks_won >= TRICKS_TO_MAKE) or tricks_won == TRICKS:
            return order.point_difference(tricks_won, tricks_lost)
        if not laid:
            hand = current_hands[seat]
            best = hand
            if hand & hand - 1:
                best = lead(hand, hidden[seat] & ~played_cards, place[seat], is_first_trick)
            led, by, laid = suit[best], seat, 1
            current_hands[seat] ^= best
            played_cards |= best
            seat = next_seats[seat]
        while laid <= follower_count:
            hand = current_hands[seat]
            card = hand & led or hand
            if card & card - 1:
                unseen, is_last = hidden[seat] & ~played_cards, laid == follower_count
                card = follow(hand, unseen, led, best, by == seat ^ 2, is_last)
            if card > best and card & (led | trumps):
                best, by = card, seat
            current_hands[seat] ^= card
            played_cards |= card
            seat = next_seats[seat]
            laid += 1
        tricks_won += on_caller_side[by]
        tricks_lost += not on_caller_side[by]
        seat, laid, is_first_trick = by, 0, False
