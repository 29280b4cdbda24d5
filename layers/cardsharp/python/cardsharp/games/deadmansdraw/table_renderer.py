"""Table of Dead Man's Draw where a person plays: two banks, the deck, and the play area."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from cardsharp.games.deadmansdraw.actions import DRAW, END_TURN, EffectType, respond
from cardsharp.games.deadmansdraw.cards import SUIT_ORDER, Card, deck_sort_key
from cardsharp.games.deadmansdraw.pile_view import render_pile
from cardsharp.games.deadmansdraw.position import (
    DeadMansDrawPosition,
    PastMove,
    PublicInfoTracker,
    TurnResult,
)
from cardsharp.games.deadmansdraw.strategies.position_features import busting_card_count
from cardsharp.pages.board_renderer import EMPTY_MARKUP, BoardParts, render_symbol
from cardsharp.pages.table_parts import (
    TableActions,
    render_hand,
    render_plate,
    render_table_card,
)

EFFECT_TEXTS = {
    "Oracle": "The Oracle shows the top card: take it, or leave it there.",
    "Hook": "The Hook returns a card of the player's own bank to the play area.",
    "Cannon": "The Cannon discards a card of the other bank.",
    "Sword": "The Sword brings a card of the other bank to the play area.",
    "Map": "The Map offers cards of the discard pile. Choose one.",
    "Kraken": "The Kraken forces the player to draw again.",
}
"""Sentence about each effect that waits for an answer, by the name of the effect."""


def render_table(
    names: Sequence[str], you: int, position: DeadMansDrawPosition, actions: TableActions
) -> BoardParts:
    """Return the table: the opponent's bank above, and the viewer's own below."""
    other = 1 - you
    return {
        "seat1": _render_owner(names[other], position, other)
        + _render_bank(position, other, actions),
        "middle": _render_middle(position, actions),
        "seat0": _render_own_bank(position, you, actions)
        + _render_owner(names[you], position, you),
        "unseen": render_pile("Cards that may come", sorted(position.unseen, key=deck_sort_key)),
        "discard": render_pile("Discard pile", sorted(position.discard_pile, key=deck_sort_key)),
    }


def _render_owner(name: str, position: DeadMansDrawPosition, seat: int) -> Markup:
    score = position.banks[seat].score
    points = Markup("<b>{}</b> {}").format(score, "point" if score == 1 else "points")
    return render_plate(name, (points,))


def _render_own_bank(position: DeadMansDrawPosition, you: int, actions: TableActions) -> Markup:
    """Render the viewer's bank, which stops the turn if that is possible."""
    bank = _render_bank(position, you, actions)
    if END_TURN not in actions:
        return bank
    return actions.place(END_TURN, bank + _render_stop_label(position), "stop")


def _render_stop_label(position: DeadMansDrawPosition) -> Markup:
    """Render the label of the own bank as a button: what it brings to stop now."""
    bank = position.own_bank
    gain = bank.with_cards(position.play_area).score - bank.score  # without Chest and Key
    return Markup('<span class="label">Stop and bank {}</span>').format(
        f"{gain} {'point' if gain == 1 else 'points'}"
    )


def _render_bank(position: DeadMansDrawPosition, seat: int, actions: TableActions) -> Markup:
    """Render the highest card of each suit, which counts, and the other values below it."""
    stacks: dict[str, list[int]] = {suit: [] for suit in SUIT_ORDER}
    for card in position.banks[seat]:
        stacks.setdefault(card.suit, []).append(card.value)
    is_own = seat == position.seat
    effect_types = [EffectType.HOOK] if is_own else [EffectType.CANNON, EffectType.SWORD]
    return Markup('<span class="bank">{}</span>').format(
        EMPTY_MARKUP.join(
            _render_stack(suit, sorted(values), effect_types, actions)
            for suit, values in stacks.items()
        )
    )


def _render_stack(
    suit: str, values: Sequence[int], effect_types: Iterable[EffectType], actions: TableActions
) -> Markup:
    if not values:
        return Markup('<span class="stack"><span class="empty">{}</span></span>').format(
            render_symbol(suit.lower(), suit)
        )
    *under, top = values
    card = Card(suit, top)
    markup = _render_card(card)
    for effect_type in effect_types:
        markup = actions.place(respond(effect_type, card), markup, "playable")
    lower = Markup("<small>{}</small>").format(" ".join(map(str, under))) if under else EMPTY_MARKUP
    return Markup('<span class="stack">{}{}</span>').format(markup, lower)


def _render_middle(position: DeadMansDrawPosition, actions: TableActions) -> Markup:
    """Render the deck, the cards of this turn or its result, and what waits for an answer."""
    turn_result = _compute_turn_result(position.history)
    if turn_result is not None:
        saved = {card for bank in position.banks for card in bank}
        title = "Bust" if turn_result.is_bust else "Banked"
        cards = [_render_card(card, "" if card in saved else "lost") for card in turn_result.cards]
    else:
        title, cards = "Play area", [*map(_render_card, position.play_area)]
    area = render_hand(cards) if cards else Markup('<p class="quiet">nothing drawn yet</p>')
    return Markup(
        '{}<div class="area"><h2><span>{}</span></h2>{}</div><div class="status">{}</div>'
    ).format(_render_deck(position, actions), title, area, _render_status(position, actions))


def _render_deck(position: DeadMansDrawPosition, actions: TableActions) -> Markup:
    """Render the deck, which draws a card, and leaves the card that an Oracle shows."""
    card_count = len(position.unseen)
    deck = Markup('<span class="back"><b>{}</b></span>').format(card_count)
    if DRAW in actions:
        label = Markup('<span class="label">Draw</span>')
        return actions.place(DRAW, deck + label, "deck")
    leave = respond(EffectType.ORACLE)
    if leave in actions:
        label = Markup('<span class="label">Leave it</span>')
        return actions.place(leave, deck + label, "deck")
    return Markup('<div class="deck">{}<span class="label">Deck</span></div>').format(deck)


def _render_status(position: DeadMansDrawPosition, actions: TableActions) -> Markup:
    """Render the pending effect with the cards that it offers, or the risk of a draw."""
    pending = position.pending
    if pending is None:
        return _render_risk(position)
    text = EFFECT_TEXTS.get(pending.effect_type.value, pending.effect_type.value)
    offered = render_hand(
        actions.place(respond(pending.effect_type, card), _render_card(card), "playable")
        for card in pending.cards
    )
    return Markup('<p class="pending">{}</p>{}').format(
        text, offered if pending.cards else EMPTY_MARKUP
    )


def _render_risk(position: DeadMansDrawPosition) -> Markup:
    """Render the next card if it is known, else the number of unseen cards that would bust."""
    line = Markup('<p class="risk">{}</p>')
    if position.known_top is not None:
        return line.format(f"The next card is {position.known_top}.")
    card_count = len(position.unseen)
    if not position.play_area or not card_count:
        return EMPTY_MARKUP
    busting = busting_card_count(position)
    return line.format(f"A draw busts with {busting} of {card_count} cards.")


def _compute_turn_result(history: Sequence[PastMove]) -> TurnResult | None:
    watched = PublicInfoTracker()
    for move in history:
        if move.turn == history[-1].turn:
            watched.apply_move(move)
    return watched.last_turn_result


def _render_card(card: Card, kind: str = "") -> Markup:
    is_standard = card.suit in SUIT_ORDER
    return render_table_card(
        card.value, card.suit.lower() if is_standard else "other", card.suit, kind
    )
