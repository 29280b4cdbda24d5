"""Rendering of a game's board: the functions a game supplies, and helpers that all share."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from cardsharp.analysis.replay import Header, ReplayStep

if TYPE_CHECKING:
    from cardsharp.pages.table_parts import TableActions

BoardParts = Mapping[str, Markup | None]
"""The parts of a drawn table by name, each time the same names in the same order.

None leaves a part as it was. What players have is called `seat0`, `seat1` and so on.
"""

EMPTY_MARKUP = Markup("")

_CACHE_SIZE = (
    4096  # pieces that are kept, as all tables are drawn of the same few: more than a game has
)


class BoardRenderer(NamedTuple):
    """Renderer of a game's board after a step, from public facts and our decision in it.

    `symbols` are SVG elements in a square of 24 by name: `symbol` refers to them. A board has
    neither script nor style; `page/pages.css` has the available classes.
    """

    symbols: Mapping[str, str]
    render_step: Callable[[Header, ReplayStep], BoardParts]
    render_position: Callable[[Sequence[str], int, Any, "TableActions"], BoardParts] | None = None
    """The table as a seat sees it: the players' names by seat, whose eyes, its position, and the
    actions that its player may take now, which the table puts on its cards and piles."""
    action_face: Callable[[Any], Markup] = lambda _: EMPTY_MARKUP
    """Returns the markup on the button of an action beside its name, such as a card."""
    action_part: Callable[[Any], str] = lambda _: ""
    """The part that makes an action when it is clicked: for one whose `face` is no card."""
    round_summary_part: str = (
        ""  # the part that stays when a round is over, such as everybody's hands
    )
    fact_parts: Collection[str] = ()
    """The parts with facts beside the table, such as the cards that nobody has seen yet."""


@lru_cache(maxsize=_CACHE_SIZE)
def render_symbol(name: str, label: str = "") -> Markup:
    """One of the game's symbols; a screen reader says its label where no text beside it does."""
    attributes = Markup(' role="img" aria-label="{}"').format(label) if label else EMPTY_MARKUP
    return Markup('<svg{}><use href="#{}"/></svg>').format(attributes, name)


@lru_cache(maxsize=_CACHE_SIZE)
def render_card(rank: object, suit: str, name: str = "", kind: str = "") -> Markup:
    """An open card: its rank, the shape of its suit, and what the suit is called."""
    label = Markup("<i>{}</i>").format(name) if name else EMPTY_MARKUP
    template = Markup('<span class="card {}"><b>{}</b>{}{}</span>')
    return template.format(
        f"{suit} {kind}".strip(), rank, render_symbol(suit, "" if name else suit), label
    )


def render_row(cards: Iterable[Markup], placeholder: str = "") -> Markup:
    """Render cards beside each other, or the placeholder text if there are none."""
    content = EMPTY_MARKUP.join(cards)
    if content:
        return Markup('<div class="row">{}</div>').format(content)
    return Markup('<p class="quiet">{}</p>').format(placeholder)


def render_part(title: str, content: Markup, value: object = "") -> Markup:
    """A part with a title above it, and a figure beside the title."""
    figure_html = Markup("<b>{}</b>").format(value) if value != "" else EMPTY_MARKUP
    return Markup("<h2><span>{}</span>{}</h2>{}").format(title, figure_html, content)


def to_text_list(value: object) -> list[str]:
    """A list of texts out of a step's state; empty where it is none."""
    return [str(item) for item in value] if isinstance(value, list | tuple) else []


def load_symbols(file: Traversable) -> dict[str, str]:
    """Return the content of each symbol in an SVG file by its id."""
    svg = file.read_text("utf-8")
    return dict(re.findall(r'<symbol id="(\w+)" viewBox="0 0 24 24">(.+)</symbol>', svg))


SYMBOLS = load_symbols(files("cardsharp.pages") / "page" / "french.svg")
_LETTERS = {name[0].upper(): name for name in SYMBOLS}


def split_french_card(text: str) -> tuple[str, str]:
    """Return the rank and the suit of a card that is written as "J of clubs" or "JC".

    >>> split_french_card("10H")
    ('10', 'hearts')
    """
    rank, _, suit = text.partition(" of ")
    return (rank, suit) if suit else (text[:-1], _LETTERS.get(text[-1:].upper(), ""))


def parse_french_card(text: str) -> Markup:
    """The card that "J of clubs" or "JC" names."""
    return render_card(*split_french_card(text))
