"""Table of Blef where a person plays: what each player has bet, the bet to beat, the hand."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from cardsharp.core.sentences import capitalise
from cardsharp.games.blef.actions import BETS, CHECK, Bet, action_name
from cardsharp.games.blef.cards import RANKS, SUITS, BlefCard
from cardsharp.games.blef.position import BlefPosition
from cardsharp.pages.board_renderer import EMPTY_MARKUP, BoardParts, render_part
from cardsharp.pages.table_parts import (
    TableActions,
    render_card_backs,
    render_hand,
    render_plate,
    render_table_card,
)


def render_table(
    names: Sequence[str], you: int, position: BlefPosition, actions: TableActions
) -> BoardParts:
    """Return the table: the viewer below, and the other players in their order from the left.

    When the round is over, `hands` has the cards of everybody for the round's summary.
    """
    seats = range(len(position.card_counts))
    bets = [move for move in position.history if move.action <= CHECK]
    other_players = {
        f"seat{offset}": _render_player(names, (you + offset) % len(seats), bets, position)
        for offset in seats[1:]
    }
    is_over = len([hand for hand in position.hands if hand]) > 1
    return {
        **other_players,
        "middle": _render_middle(names, position, bets, actions),
        "seat0": _render_player(names, you, bets, position, is_viewer=True),
        "hand": render_hand(map(_render_card, position.hands[you])),
        "hands": _render_all_hands(names, position) if is_over else EMPTY_MARKUP,
    }


def _render_player(
    names: Sequence[str],
    seat: int,
    bets: Sequence[tuple[int, int]],
    position: BlefPosition,
    *,
    is_viewer: bool = False,
) -> Markup:
    """Render a player with the cards that they hold, and their bets of this round."""
    card_count, hand = position.card_counts[seat], position.hands[seat]
    cards = EMPTY_MARKUP
    if hand and not is_viewer:
        cards = Markup('<div class="open">{}</div>').format(render_hand(map(_render_card, hand)))
    elif card_count and not is_viewer:
        cards = render_card_backs(card_count)
    count = f"{card_count} of {position.max_cards} cards" if card_count else "out"
    last = len(bets) - 1
    item = Markup("<li{}>{}</li>")
    story = EMPTY_MARKUP.join(
        item.format(Markup(' class="now"') if at == last else EMPTY_MARKUP, action_name(bet))
        for at, (bettor, bet) in enumerate(bets)
        if bettor == seat
    )
    plate = render_plate(names[seat], (cards, count))
    return (
        plate + Markup('<ol class="story" aria-label="{}">{}</ol>').format("Bets", story)
        if story
        else plate
    )


def _render_middle(
    names: Sequence[str],
    position: BlefPosition,
    bets: Sequence[tuple[int, int]],
    actions: TableActions,
) -> Markup:
    """Render the bet to beat as cards, and the check beside it."""
    heading = Markup('<h2 class="round">Round {}</h2>').format(position.round_number)
    standing = [(seat, bet) for seat, bet in bets if bet != CHECK]
    if not standing:
        return heading + Markup('<p class="quiet">Nobody has bet yet.</p>')
    seat, bet = standing[-1]
    check = (
        actions.place(CHECK, Markup('<span class="label">Check</span>'), "check")
        if CHECK in actions
        else EMPTY_MARKUP
    )
    return Markup(
        '{}<div class="bet"><div class="claim">{}</div><p class="title">{}</p>'
        '<p class="quiet">{}</p>{}</div>'
    ).format(
        heading,
        render_hand(_render_bet_cards(BETS[bet])),
        BETS[bet].name,
        f"bet by {capitalise(names[seat]) if seat != position.seat else 'you'}",
        check,
    )


def _render_bet_cards(bet: Bet) -> Iterable[Markup]:
    """Yield the cards that a bet claims; without a suit where any suit will do."""
    for value, count in bet.rank_counts:
        yield from [render_table_card(RANKS[value], "")] * count
    for suit, count in bet.suit_counts:
        yield from [render_table_card("", SUITS[suit])] * count
    yield from map(_render_card, sorted(bet.cards, reverse=True))


def _render_card(card: BlefCard) -> Markup:
    return render_table_card(RANKS[card.value], SUITS[card.suit])


def _render_all_hands(names: Sequence[str], position: BlefPosition) -> Markup:
    return EMPTY_MARKUP.join(
        Markup('<section class="hand">{}</section>').format(
            render_part(capitalise(names[seat]), render_hand(map(_render_card, hand)))
        )
        for seat, hand in enumerate(position.hands)
        if hand
    )
