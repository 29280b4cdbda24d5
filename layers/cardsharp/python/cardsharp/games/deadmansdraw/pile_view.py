"""Cards of a pile as a list by suit, on every page that shows the game."""

from collections.abc import Iterable
from functools import lru_cache

from markupsafe import Markup

from cardsharp.games.deadmansdraw.cards import Card
from cardsharp.pages.board_renderer import EMPTY_MARKUP, render_part, render_symbol


def render_pile(title: str, cards: Iterable[Card]) -> Markup:
    """Render the cards of a pile, grouped by suit and in no particular order."""
    values_by_suit: dict[str, list[str]] = {}
    for card in cards:
        values_by_suit.setdefault(card.suit, []).append(str(card.value))
    lines = EMPTY_MARKUP.join(
        _render_suit_line(suit, " ".join(values)) for suit, values in values_by_suit.items()
    )
    card_count = sum(map(len, values_by_suit.values()))
    return render_part(title, Markup('<ul class="suits">{}</ul>').format(lines), card_count)


@lru_cache(maxsize=4096)
def _render_suit_line(suit: str, values: str) -> Markup:
    return Markup("<li>{}<span>{}</span></li>").format(render_symbol(suit.lower(), suit), values)
