"""Pieces of a table where a person plays: players, hands, cards, and buttons on them."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from markupsafe import Markup

from cardsharp.core.sentences import capitalise, count_text
from cardsharp.pages.board_renderer import EMPTY_MARKUP, render_symbol, split_french_card


class ActionButton(NamedTuple):
    """Button for an action: its key in the form, its name, and a note that is shown on request."""

    key: str
    name: str
    note: str = ""


class TableActions:
    """The actions that a person may take now, as buttons for the cards and piles of a table.

    Every button belongs to the form `moves` of the page, wherever the table puts it. With
    `has_digits` the buttons are numbered in the order in which they are placed, first those on the
    table and then those below it; else a person types the key of an action.

    >>> actions = TableActions({"draw": ActionButton("7", "draw")})
    >>> print(actions.place("stop", Markup("<i>bank</i>")))
    <i>bank</i>
    >>> "<kbd" in actions.place("draw", Markup("<i>deck</i>"))
    True
    >>> actions.is_placed("7"), actions.typed("7"), actions.typed("8")
    (True, '1', '2')
    """

    def __init__(
        self, buttons: Mapping[Any, ActionButton] = MappingProxyType({}), *, has_digits: bool = True
    ) -> None:
        self._buttons, self._has_digits = buttons, has_digits
        self._placed_keys: set[str] = set()
        self._digits: dict[str, str] = {}

    def __contains__(self, action: object) -> bool:
        """Return True if the person may take this action now."""
        return action in self._buttons

    def place(self, action: object, content: Markup, kind: str = "") -> Markup:
        """Return the content as the button of an action, or as it is if it cannot be taken."""
        button = self._buttons.get(action)
        if button is None:
            return content
        self._placed_keys.add(button.key)
        typed = self.typed(button.key)
        digits = (
            Markup('<kbd aria-hidden="true">{}</kbd>').format(typed)
            if self._has_digits
            else EMPTY_MARKUP
        )
        note = (
            Markup('<small class="aside">{}</small>').format(button.note)
            if button.note
            else EMPTY_MARKUP
        )
        label = capitalise(button.name)
        return _BUTTON.format(
            f"choice {kind}".strip(), button.key, typed, label, label, content, note, digits
        )

    def is_placed(self, key: str) -> bool:
        """Return True if the action with this key is on the table."""
        return key in self._placed_keys

    def typed(self, key: str) -> str:
        """Return what a person types for the action with this key."""
        if not self._has_digits:
            return key
        return self._digits.setdefault(key, str(len(self._digits) + 1))


_BUTTON = Markup(
    '<button class="{}" form="moves" name="key" value="{}" data-digits="{}" aria-label="{}" '
    'title="{}">{}{}{}</button>'
)
NO_ACTIONS = TableActions()
"""The actions of a person who has nothing to decide."""


@lru_cache(maxsize=4096)
def render_table_card(rank: object, suit: str, name: str = "", kind: str = "") -> Markup:
    """Render an open card of a table where a person plays: rank and suit in its corner too.

    So cards that lie over each other can be told apart. Without a suit any card of the rank is
    meant, and without a rank any card of the suit.
    """
    pip = Markup('<svg class="pip" aria-hidden="true"><use href="#{}"/></svg>').format(suit)
    label = Markup("<i>{}</i>").format(name) if name else EMPTY_MARKUP
    return Markup('<span class="card {}" data-card="{}"><b>{}</b>{}{}{}</span>').format(
        f"{suit or 'any'} {kind}".strip(),
        f"{rank}{suit}",
        rank,
        pip if suit else EMPTY_MARKUP,
        render_symbol(suit, "" if name.lower() == suit else suit) if suit else EMPTY_MARKUP,
        label,
    )


def render_french_table_card(text: str, kind: str = "", name: str = "") -> Markup:
    """Render the card that "J of clubs" or "JC" names, for a table where a person plays."""
    rank, suit = split_french_card(text)
    return render_table_card(rank, suit, name, kind)


def render_card_backs(card_count: int) -> Markup:
    """Render the backs of the cards that a player holds; the number is read by screen readers."""
    label = count_text(card_count, "card")
    return Markup('<span class="backs" role="img" aria-label="{}">{}</span>').format(
        label, Markup('<span class="back"></span>') * card_count
    )


def render_plate(name: str, facts: Iterable[Markup | str] = (), bubble: str = "") -> Markup:
    """Render a player at the table: the initials, the name, facts, and the player's last words."""
    initials = "".join(word[0] for word in name.split()[:2]).upper()
    fact_items = EMPTY_MARKUP.join(
        Markup('<div class="fact">{}</div>').format(fact) for fact in facts if fact
    )
    words = Markup('<p class="bubble">{}</p>').format(bubble) if bubble else EMPTY_MARKUP
    return Markup(
        '<div class="plate"><span class="face" aria-hidden="true">{}</span>'
        '<h2><span class="name">{}</span></h2><div class="facts">{}</div></div>{}'
    ).format(initials, capitalise(name), fact_items, words)


def render_hand(cards: Iterable[Markup]) -> Markup:
    """Render cards in one row; where they have no room they lie over each other."""
    items = EMPTY_MARKUP.join(Markup("<li>{}</li>").format(card) for card in cards)
    return Markup('<ul class="fan">{}</ul>').format(items)
