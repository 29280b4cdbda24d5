"""Rendering of the table of Dead Man's Draw: two banks, the piles and the play area."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from markupsafe import Markup

from cardsharp.analysis.replay import Header, ReplayStep
from cardsharp.games.deadmansdraw.actions import Action, ActionType
from cardsharp.games.deadmansdraw.cards import SUIT_ORDER, Card
from cardsharp.games.deadmansdraw.history.log_records import public_state_body
from cardsharp.games.deadmansdraw.history.replay import parse_card
from cardsharp.games.deadmansdraw.position import (
    DeadMansDrawPosition,
    PastMove,
    PublicInfoTracker,
    TurnResult,
)
from cardsharp.games.deadmansdraw.strategies.position_features import busting_card_count
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

_EFFECT_TEXTS = {
    "Oracle": "The Oracle shows the top card: take it, or leave it there.",
    "Hook": "The Hook returns a card of the player's own bank to the play area.",
    "Cannon": "The Cannon discards a card of the other bank.",
    "Sword": "The Sword brings a card of the other bank to the play area.",
    "Map": "The Map offers cards of the discard pile. Choose one.",
    "Kraken": "The Kraken forces the player to draw again.",
}


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
        "unseen": _render_pile("Draw pile, unseen", to_text_list(unseen))
        if has_unseen
        else EMPTY_MARKUP,
        "discard": _render_pile("Discard pile", to_text_list(state.get("discardPile"))),
    }


def _render_position(names: Sequence[str], you: int, position: DeadMansDrawPosition) -> BoardParts:
    """Render a position like a step.

    The player's seat comes first, and the next card is shown if it is known.
    """
    state = public_state_body(position, _compute_turn_result(position.history))
    step = ReplayStep(
        sequence=0, turn=position.turn, seat=position.seat, description="", public_state=state
    )
    parts = _render_step(Header(players=tuple(names)), step)
    player_part, opponent_part = (parts[f"seat{seat}"] for seat in (you, 1 - you))
    middle = Markup("{}{}").format(parts["middle"], _render_next_card(position))
    return {**parts, "seat0": player_part, "seat1": opponent_part, "middle": middle}


def _compute_turn_result(history: Sequence[PastMove]) -> TurnResult | None:
    watched = PublicInfoTracker()
    for move in history:
        if move.turn == history[-1].turn:
            watched.apply_move(move)
    return watched.last_turn_result


def _render_next_card(position: DeadMansDrawPosition) -> Markup:
    """Render the next card if it is known, else the number of unseen cards that would bust."""
    line = Markup('<p class="quiet">{}</p>')
    if position.known_top is not None:
        return line.format(f"The next card is {position.known_top}.")
    if not position.play_area:
        return EMPTY_MARKUP
    remaining_count = len(position.unseen)
    return (
        line.format(f"A draw busts with {busting_card_count(position)} of {remaining_count} cards.")
        if remaining_count
        else EMPTY_MARKUP
    )


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
    effect_text = _EFFECT_TEXTS.get(str(pending.get("effect")), str(pending.get("effect")))
    offered = [
        _render_game_card(parse_card(name), "small") for name in to_text_list(pending.get("cards"))
    ]
    cards_html = render_row(offered) if offered else EMPTY_MARKUP
    return Markup('<p class="pending">{}</p>{}').format(effect_text, cards_html)


def _render_pile(title: str, names: list[str]) -> Markup:
    """Render the cards of a pile, grouped by suit and in no particular order."""
    values_by_suit: dict[str, list[str]] = {}
    for card in map(parse_card, names):
        values_by_suit.setdefault(card.suit, []).append(str(card.value))
    lines = EMPTY_MARKUP.join(
        _render_suit_line(suit, " ".join(values)) for suit, values in values_by_suit.items()
    )
    return render_part(title, Markup('<ul class="suits">{}</ul>').format(lines), len(names))


@lru_cache(maxsize=4096)
def _render_suit_line(suit: str, values: str) -> Markup:
    return Markup("<li>{}<span>{}</span></li>").format(render_symbol(suit.lower(), suit), values)


BOARD_RENDERER = BoardRenderer(
    load_symbols(_SUIT_SYMBOLS_PATH),
    _render_step,
    _render_position,
    _render_action_card,
    _find_action_place,
)
