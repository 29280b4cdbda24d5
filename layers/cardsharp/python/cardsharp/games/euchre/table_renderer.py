"""Table of Euchre where a person plays: four players around the trick, and the hand."""

from collections.abc import Sequence

from markupsafe import Markup

from cardsharp.core.sentences import capitalise
from cardsharp.games.euchre.actions import Bid, Discard, Play
from cardsharp.games.euchre.cards import SUIT_NAMES, Card, Suit, card_name
from cardsharp.games.euchre.position import EuchrePosition
from cardsharp.games.euchre.public_state import DEALER, PublicState
from cardsharp.pages.board_renderer import EMPTY_MARKUP, BoardParts, render_symbol
from cardsharp.pages.table_parts import (
    TableActions,
    render_french_table_card,
    render_hand,
    render_plate,
)

_SEATS = range(4)
_JACK = 2  # index of the rank, from the nine
_SUIT_ORDER = (0, 1, 3, 2)  # black and red suits take turns in a hand
_BIDS_PER_ROUND = 4
_TWINS = {"clubs": "spades", "spades": "clubs", "hearts": "diamonds", "diamonds": "hearts"}
"""Other suit of the same colour, whose jack is the left bower."""


def render_table(
    names: Sequence[str], you: int, position: EuchrePosition, actions: TableActions
) -> BoardParts:
    """Return the table: the viewer below, and the other seats clockwise from the left."""
    around = [names[(you + offset) % len(_SEATS)] for offset in _SEATS]
    return {
        **{f"seat{offset}": _render_player(around, offset, position) for offset in (2, 1, 3)},
        "plaque": _render_plaque(around, position),
        "middle": _render_middle(around, position),
        "seat0": _render_player(around, 0, position),
        "hand": _render_hand(position, actions),
    }


def _render_player(around: Sequence[str], offset: int, position: EuchrePosition) -> Markup:
    """Render a player: the dealer's mark, the tricks, and the bids until the first card."""
    table, seat = position.public_state, (position.seat + offset) % len(_SEATS)
    won = table.trick_winners.count(seat) if table.trump_call else 0
    facts = (
        Markup('<b class="dealer">Dealer</b>') if seat == DEALER else "",
        f"{won} {'trick' if won == 1 else 'tricks'}" if won else "",
        "sits out" if seat in table.seats_sitting_out else "",
    )
    bids = [
        capitalise(bid.describe(bid_index))
        for bid_index, bid in enumerate(table.bids)
        if bid_index % len(_SEATS) == seat
    ]
    return render_plate(around[offset], facts, "" if table.tricks else ", then ".join(bids))


def _render_plaque(around: Sequence[str], position: EuchrePosition) -> Markup:
    """Render the trumps, the caller and the tricks of both sides, once trumps are named."""
    table = position.public_state
    call = table.trump_call
    if call is None:
        return EMPTY_MARKUP
    suit, caller = SUIT_NAMES[call.suit], around[(call.caller_seat - position.seat) % len(_SEATS)]
    our_tricks = sum(seat % 2 == position.seat % 2 for seat in table.trick_winners)
    return Markup(
        '<p class="trumps {}">{}<b>{}</b></p><p class="quiet">{} called{}</p>'
        '<p class="score">Tricks <b>{} : {}</b></p>'
    ).format(
        suit,
        render_symbol(suit),
        f"{capitalise(suit)} are trumps",
        capitalise(caller),
        ", alone" if call.goes_alone else "",
        our_tricks,
        len(table.trick_winners) - our_tricks,
    )


def _render_middle(around: Sequence[str], position: EuchrePosition) -> Markup:
    """Render the last trick, each card before its player; before it the card turned up."""
    table = position.public_state
    if not table.tricks:
        return _render_turn_card(table)
    trick, winner = table.tricks[-1], None if table.current_trick else table.trick_winners[-1]
    figure = Markup('<figure class="from{}{}">{}<figcaption>{}</figcaption></figure>')
    return Markup('<div class="trick">{}</div>').format(
        EMPTY_MARKUP.join(
            figure.format(
                (seat - position.seat) % len(_SEATS),
                "" if winner is None else " won" if seat == winner else " past",
                _render_card(card, table.trump),
                capitalise(around[(seat - position.seat) % len(_SEATS)]),
            )
            for seat, card in trick
        )
    )


def _render_turn_card(table: PublicState) -> Markup:
    """Render the card that was turned up; after four passes it is turned down."""
    call = table.trump_call
    is_taken = call is not None and call.is_order_up
    has_passed = len(table.bids) >= _BIDS_PER_ROUND and not is_taken
    text = "Ordered up" if is_taken else "Turned down" if has_passed else "Turned up"
    return Markup('<figure class="turned{}">{}<figcaption>{}</figcaption></figure>').format(
        " past" if has_passed else "", _render_card(table.turn_card, None), text
    )


def _render_hand(position: EuchrePosition, actions: TableActions) -> Markup:
    """Render the hand in one row; cards that must not be played now are dimmed."""
    trump = position.public_state.trump
    offered = {
        action.card: action
        for action in position.legal_actions
        if isinstance(action, Play | Discard) and action in actions
    }
    return render_hand(
        actions.place(
            offered.get(card, Bid()) if offered else None,
            _render_card(card, trump, "barred" if offered and card not in offered else ""),
            "playable",
        )
        for card in sorted({*position.hand, *offered}, key=lambda card: _hand_order(card, trump))
    )


def _render_card(card: Card, trump: Suit | None, kind: str = "") -> Markup:
    is_bower = card >> 2 == _JACK and _suit_played_as(card, trump) == trump
    return render_french_table_card(card_name(card), kind, "bower" if is_bower else "")


def _suit_played_as(card: Card, trump: Suit | None) -> Suit:
    """Return the suit of a card; the left bower counts as a trump."""
    suit = card & 3
    if trump is not None and card >> 2 == _JACK and SUIT_NAMES[suit] == _TWINS[SUIT_NAMES[trump]]:
        return trump
    return suit


def _hand_order(card: Card, trump: Suit | None) -> tuple[bool, int, bool, bool, int]:
    """Return the sort key of a card in a hand: trumps first, the bowers at their head."""
    suit = _suit_played_as(card, trump)
    is_bower = card >> 2 == _JACK and suit == trump
    is_left = is_bower and card & 3 != trump
    return (suit != trump, _SUIT_ORDER.index(suit), not is_bower, is_left, -card)
