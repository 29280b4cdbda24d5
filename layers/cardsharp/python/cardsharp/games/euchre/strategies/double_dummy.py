"""Double-dummy solver: an exact search with all cards open, fast enough for thousands of calls.

Cards are bits, see `trump_layout`. Cards never change their owner. Therefore a position between two
tricks is completely given by the set of unplayed cards, the leader, and the number of tricks that
the caller's side still needs. The search only answers yes or no. Points grow with tricks, so the
questions "at least three?" and "all five?" are enough.
"""

from collections.abc import Callable, Sequence

from cardsharp.games.euchre.public_state import SEATS, TRICKS
from cardsharp.games.euchre.rules import TRICKS_TO_MAKE
from cardsharp.games.euchre.strategies.playout import CardPlayState, PlayOrder
from cardsharp.games.euchre.strategies.trump_layout import CardMask, trump_layout

SearchLead = Callable[[CardMask, int, int], bool]
SearchFollow = Callable[[CardMask, CardMask, int, CardMask, int, CardMask, int, int], bool]


class DoubleDummySolver:
    """Solver of one world; `hands` may still include the cards of `CardPlayState.played_cards`."""

    def __init__(self, order: PlayOrder, hands: Sequence[CardMask]) -> None:
        self._play_order = order
        masks = [0 if seat in order.out else hands[seat] for seat in SEATS]
        self._cards = sum(masks)
        self._search_lead, self._search_follow = _build_search_functions(order, masks)

    def can_caller_side_win(
        self, trick_state: CardPlayState, tricks_needed: int, current_trick: CardMask = 0
    ) -> bool:
        """Return True if the caller's side wins `tricks_needed` of the tricks from this state on.

        A trick that has begun counts, and `current_trick` are its cards. The leading seat may sit
        out.
        """
        table, cards = self._play_order, self._cards & ~trick_state.played_cards
        if not trick_state.cards_in_trick:
            return self._search_lead(
                cards, table.first_playing_seat_from(trick_state.seat), tricks_needed
            )
        remaining_seats = table.chairs - trick_state.cards_in_trick
        return self._search_follow(
            cards,
            current_trick,
            trick_state.seat,
            trick_state.winning_card,
            trick_state.winning_seat,
            trick_state.suit_led,
            tricks_needed,
            remaining_seats,
        )

    def solve_point_difference(
        self, trick_state: CardPlayState, current_trick: CardMask = 0
    ) -> int:
        """Return the points of the caller's side less those of the defenders."""
        if not self.can_caller_side_win(
            trick_state, TRICKS_TO_MAKE - trick_state.tricks_won, current_trick
        ):
            return self._play_order.point_difference(0, TRICKS)
        if trick_state.tricks_lost or not self.can_caller_side_win(
            trick_state, TRICKS - trick_state.tricks_won, current_trick
        ):
            return self._play_order.point_difference(TRICKS_TO_MAKE, TRICKS - TRICKS_TO_MAKE)
        return self._play_order.point_difference(TRICKS, 0)


def _build_search_functions(  # noqa: C901 - closures over integers are fastest
    order: PlayOrder, hands: list[CardMask]
) -> tuple[SearchLead, SearchFollow]:
    """Build the functions that search a world, as closures over integers for speed."""
    results: dict[int, bool] = {}
    cards, follower_count = trump_layout(order.trump), order.chairs - 1
    suit, trumps, moves = cards.suit, cards.trumps, cards.moves
    on_caller_side, next_seats = order.on_caller_side, order.next_seats

    # The key is a position between two tricks. All other arguments follow from it, so results are
    # shared between all orders of play that lead to it. Only such positions are stored: within a
    # trick a look-up would cost more than the search.
    def lead(remaining: CardMask, seat: int, need: int) -> bool:
        hand = hands[seat] & remaining
        if need <= 0 or need > hand.bit_count():
            return need <= 0
        key = remaining | seat << 24 | need << 26
        wins = results.get(key)
        if wins is None:
            us, following = on_caller_side[seat], next_seats[seat]
            wins = not us
            for card in moves(hand, remaining):
                led, rest = suit[card], remaining ^ card
                if follow(rest, card, following, card, seat, led, need, follower_count) == us:
                    wins = us
                    break
            results[key] = wins
        return wins

    def follow(  # noqa: PLR0913, PLR0917 - a tuple or an object would double the time
        remaining: CardMask,
        laid: CardMask,
        seat: int,
        best: CardMask,
        by: int,
        led: CardMask,
        need: int,
        seats_left: int,
    ) -> bool:
        hand, win = hands[seat] & remaining, led | trumps
        us, following = on_caller_side[seat], next_seats[seat]
        for card in moves(hand & led or hand, remaining | laid):
            top, winner = (card, seat) if card & win and card > best else (best, by)
            rest = remaining ^ card
            if seats_left == 1:
                makes = lead(rest, winner, need - on_caller_side[winner])
            else:
                makes = follow(rest, laid | card, following, top, winner, led, need, seats_left - 1)
            if makes == us:
                return us
        return not us

    return lead, follow
