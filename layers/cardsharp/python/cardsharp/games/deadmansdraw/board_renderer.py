"""Rendering of the table of Dead Man's Draw: two banks, the piles and the play area."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from markupsafe import Markup

from cardsharp.analysis.replay import Header, ReplayStep
from cardsharp.games.deadmansdraw.actions import Action, ActionType
from cardsharp.games.deadmansdraw.cards import SUIT_ORDER, Card
from cardsharp.games.deadmansdraw.history.replay import parse_card
from cardsharp.games.deadmansdraw.pile_view import render_pile
from cardsharp.games.deadmansdraw.table_renderer import EFFECT_TEXTS, render_table
from cardsharp.pages.board_renderer import (
    EMPTY_MARKUP,
    BoardParts,
    BoardRenderer,
    load_symbols,
    render_card,
    render_part,
    render_row,
    render_symbol,
    to_text_list,
)

_SUIT_SYMBOLS_PATH = Path(__file__).with_name("suits.svg")


def _render_step(header: Header, step: ReplayStep) -> BoardParts:
    state = step.public_state
    banks, scores = _to_text_lists(state.get("banks")), to_text_list(state.get("scores"))
    first, second = (
        render_part(
            header.player_name(seat), _render_bank(map(parse_card, bank)), f"{score} points"
        )
        for seat, (bank, score) in enumerate(zip(banks, scores, strict=True))
    )
    unseen = state.get("unseen")
    has_unseen = isinstance(unseen, list | tuple)
    return {
        "seat0": first,
        "middle": _render_middle(state),
        "seat1": second,
        "unseen": render_pile("Draw pile, unseen", map(parse_card, to_text_list(unseen)))
        if has_unseen
        else EMPTY_MARKUP,
        "discard": render_pile(
            "Discard pile", map(parse_card, to_text_list(state.get("discardPile")))
        ),
    }


def _render_action_card(action: Action) -> Markup:
    return EMPTY_MARKUP if action.card is None else _render_game_card(action.card, "small")


def _find_action_place(action: Action) -> str:
    """Return the place on the table where an action is offered.

    That is the draw pile for drawing and for refusing an Oracle's card, and the play area for
    ending the turn.
    """
    if action.response is None:
        return "unseen" if action.type is ActionType.DRAW else "middle"
    return "unseen" if action.card is None else ""


def _to_text_lists(value: object) -> list[list[str]]:
    return [to_text_list(item) for item in value] if isinstance(value, list | tuple) else [[], []]


def _render_game_card(card: Card, kind: str = "") -> Markup:
    is_standard = card.suit in SUIT_ORDER
    return render_card(card.value, card.suit.lower() if is_standard else "other", card.suit, kind)


def _render_bank(cards: Iterable[Card]) -> Markup:
    """Render a bank.

    For each suit the highest card, which counts, and the other values below it.
    """
    stacks: dict[str, list[int]] = {suit: [] for suit in SUIT_ORDER}
    for card in cards:
        stacks.setdefault(card.suit, []).append(card.value)
    return Markup('<div class="bank">{}</div>').format(
        EMPTY_MARKUP.join(
            _render_stack(suit, tuple(sorted(values))) for suit, values in stacks.items()
        )
    )


@lru_cache(maxsize=4096)
def _render_stack(suit: str, values: tuple[int, ...]) -> Markup:
    if not values:
        return Markup('<span class="empty">{}</span>').format(render_symbol(suit.lower()))
    *under, top = values
    lower_values = (
        Markup("<small>{}</small>").format(" ".join(map(str, under))) if under else EMPTY_MARKUP
    )
    return Markup("<span>{}{}</span>").format(_render_game_card(Card(suit, top)), lower_values)


def _render_middle(state: Mapping[str, object]) -> Markup:
    """Render the cards of this turn and its pending effect, or its result once it has ended."""
    area, turn_result = to_text_list(state.get("playArea")), state.get("ended")
    if isinstance(turn_result, Mapping):
        saved = {name for bank in _to_text_lists(state.get("banks")) for name in bank}
        marked_cards = (
            (name, "" if name in saved else "lost")
            for name in to_text_list(turn_result.get("cards"))
        )
        cards = render_row(_render_game_card(parse_card(name), kind) for name, kind in marked_cards)
        return render_part("Bust" if turn_result.get("bust") else "Banked", cards)
    cards = render_row((_render_game_card(parse_card(name)) for name in area), "nothing drawn yet")
    return render_part("Play area", cards) + _render_pending_effect(state.get("pending"))


def _render_pending_effect(pending: object) -> Markup:
    if not isinstance(pending, Mapping):
        return EMPTY_MARKUP
    effect_text = EFFECT_TEXTS.get(str(pending.get("effect")), str(pending.get("effect")))
    offered = [
        _render_game_card(parse_card(name), "small") for name in to_text_list(pending.get("cards"))
    ]
    cards_html = render_row(offered) if offered else EMPTY_MARKUP
    return Markup('<p class="pending">{}</p>{}').format(effect_text, cards_html)


BOARD_RENDERER = BoardRenderer(
    load_symbols(_SUIT_SYMBOLS_PATH),
    _render_step,
    render_table,
    _render_action_card,
    _find_action_place,
    fact_parts=("unseen", "discard"),
)
