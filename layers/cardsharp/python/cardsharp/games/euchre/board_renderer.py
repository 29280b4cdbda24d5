"""Board renderer of Euchre: four seats around the trick, and the calls."""

from markupsafe import Markup

from cardsharp.analysis.replay import Header, ReplayStep
from cardsharp.core.sentences import count_text
from cardsharp.games.euchre.cards import SUIT_NAMES
from cardsharp.games.euchre.table_renderer import render_table
from cardsharp.pages.board_renderer import (
    EMPTY_MARKUP,
    SYMBOLS,
    BoardParts,
    BoardRenderer,
    parse_french_card,
    render_card,
    render_part,
    render_row,
    render_symbol,
    to_text_list,
)

_SEATS = range(4)
_SUIT_BY_LETTER = {name[0].upper(): name for name in SUIT_NAMES}
_SAME_COLOUR_SUIT = {
    "clubs": "spades",
    "spades": "clubs",
    "hearts": "diamonds",
    "diamonds": "hearts",
}
"""Other suit of the same colour, whose jack is the left bower."""


def _render_step(header: Header, step: ReplayStep) -> BoardParts:
    """Render the seats in their order around the table, with the open cards between them."""
    return {
        **{f"seat{seat}": _render_seat(header, step, seat) for seat in _SEATS},
        "middle": _render_middle(header, step),
    }


def _render_seat(header: Header, step: ReplayStep, seat: int) -> Markup:
    """Render a seat: its bids, the dealer mark, and the hand that we decided with."""
    bids = [bid for bidder, bid in _read_seat_texts(step, "bids") if bidder == seat]
    dealer_mark = ["deals"] if step.public_state.get("dealer") == seat else []
    position_body = (
        step.decision.position if step.decision is not None and step.seat == seat else None
    )
    hand = (
        render_row(
            _render_labelled_card(step, card) for card in to_text_list(position_body.get("hand"))
        )
        if position_body
        else EMPTY_MARKUP
    )
    content = (
        Markup('<p class="quiet">{}</p>').format(", ".join([*dealer_mark, *bids]) or "no bid yet"),
        Markup('<div class="held">{}</div>').format(hand) if hand else EMPTY_MARKUP,
    )
    player_name = header.player_name(seat)
    has_name = seat < len(header.players) and header.players[seat] != player_name
    title = f"{header.players[seat]}, {player_name}" if has_name else player_name
    won = _read_trick_winners(step).count(seat)
    tricks = count_text(won, "trick") if won else ""
    return render_part(title, EMPTY_MARKUP.join(content), tricks)


def _render_labelled_card(step: ReplayStep, text: str) -> Markup:
    """Render a card; a bower is labelled as such."""
    trumps, suit = str(step.public_state.get("trumps")), _SUIT_BY_LETTER.get(text[-1:], "")
    if text[:-1] != "J" or suit not in (trumps, _SAME_COLOUR_SUIT.get(trumps)):
        return parse_french_card(text)
    return render_card("J", suit, "right bower" if suit == trumps else "left bower")


def _render_middle(header: Header, step: ReplayStep) -> Markup:
    """Render the turn card or, once trumps are called, the trumps, the tricks and the trick."""
    trumps, turned = step.public_state.get("trumps"), step.public_state.get("turnCard")
    if not isinstance(trumps, str):
        return render_part(
            "Turned up",
            render_row([parse_french_card(str(turned))] if turned else [], "not recorded"),
        )
    our_tricks, opponent_tricks = (
        [seat % 2 for seat in _read_trick_winners(step)].count(side) for side in (0, 1)
    )
    template = Markup('<p class="trumps {}">{}{}</p><p class="quiet">{} : {} tricks</p>{}')
    title = "Trumps, alone" if step.public_state.get("alone") else "Trumps"
    lain = Markup("<figure>{}<figcaption>{}</figcaption></figure>")
    trick = [
        lain.format(_render_labelled_card(step, card), header.player_name(seat))
        for seat, card in _read_seat_texts(step, "trick")
    ]
    on_table = render_row(trick) if trick else EMPTY_MARKUP
    return render_part(
        title,
        template.format(
            trumps, render_symbol(trumps), trumps, our_tricks, opponent_tricks, on_table
        ),
    )


def _read_seat_texts(step: ReplayStep, name: str) -> list[tuple[int, str]]:
    pairs = step.public_state.get(name)
    return [(seat, text) for seat, text in pairs] if isinstance(pairs, list) else []


def _read_trick_winners(step: ReplayStep) -> list[int]:
    won = step.public_state.get("won")
    return won if isinstance(won, list) else []


BOARD_RENDERER = BoardRenderer(SYMBOLS, _render_step, render_table)
