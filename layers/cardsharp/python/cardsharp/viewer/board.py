"""How a table is drawn: what a game brings to the page of its matches, and what drawings share."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

from markupsafe import Markup

from cardsharp.replay import Header, Step

Parts = Mapping[str, Markup | None]
"""The parts of a drawn table by name, each time the same names in the same order.

None leaves a part as it was. What players have is called `seat0`, `seat1` and so on.
"""

NOTHING = Markup("")

_DRAWN = 4096  # pieces that are kept, as all tables are drawn of the same few: more than a game has


class Board(NamedTuple):
    """How a game's table is drawn after a step, from public facts and our own decision in it.

    `symbols` are SVG elements in a square of 24 by name: `shape` shows them. A drawing has
    neither script nor style of its own; `page/viewer.css` has the classes that there are.
    """

    symbols: Mapping[str, str]
    parts: Callable[[Header, Step], Parts]
    seen: Callable[[Sequence[str], int, Any], Parts] | None = None
    """The table as a seat sees it: the players' names by seat, whose eyes, and its position."""
    face: Callable[[Any], Markup] = lambda _: NOTHING
    """What is drawn on the button of an action beside its name, such as a card."""
    place: Callable[[Any], str] = lambda _: ""
    """The part that makes an action when it is clicked: for one whose `face` is no card."""
    recap: str = ""  # the part that stays when a round is over, such as everybody's hands


@lru_cache(maxsize=_DRAWN)
def shape(name: str, label: str = "") -> Markup:
    """One of the game's symbols; a screen reader says its label where no text beside it does."""
    told = Markup(' role="img" aria-label="{}"').format(label) if label else NOTHING
    return Markup('<svg{}><use href="#{}"/></svg>').format(told, name)


@lru_cache(maxsize=_DRAWN)
def card(rank: object, suit: str, name: str = "", kind: str = "") -> Markup:
    """An open card: its rank, the shape of its suit, and what the suit is called."""
    shown = Markup("<i>{}</i>").format(name) if name else NOTHING
    text = Markup('<span class="card {}"><b>{}</b>{}{}</span>')
    return text.format(f"{suit} {kind}".strip(), rank, shape(suit, "" if name else suit), shown)


def row(cards: Iterable[Markup], otherwise: str = "") -> Markup:
    """Cards beside each other; words where there are none."""
    found = NOTHING.join(cards)
    if found:
        return Markup('<div class="row">{}</div>').format(found)
    return Markup('<p class="quiet">{}</p>').format(otherwise)


def titled(title: str, content: Markup, figure: object = "") -> Markup:
    """A part with a title above it, and a figure beside the title."""
    told = Markup("<b>{}</b>").format(figure) if figure != "" else NOTHING
    return Markup("<h2><span>{}</span>{}</h2>{}").format(title, told, content)


def texts(found: object) -> list[str]:
    """A list of texts out of a step's state; empty where it is none."""
    return [str(one) for one in found] if isinstance(found, list | tuple) else []


def symbols_in(file: Traversable) -> dict[str, str]:
    """What is drawn in each symbol of an SVG file, by its id."""
    text = file.read_text("utf-8")
    return dict(re.findall(r'<symbol id="(\w+)" viewBox="0 0 24 24">(.+)</symbol>', text))


SYMBOLS = symbols_in(files("cardsharp.viewer") / "page" / "french.svg")
_LETTERS = {name[0].upper(): name for name in SYMBOLS}


def french(text: str) -> Markup:
    """The card that "J of clubs" or "JC" names."""
    rank, _, suit = text.partition(" of ")
    if not suit:
        rank, suit = text[:-1], _LETTERS.get(text[-1:].upper(), "")
    return card(rank, suit)
