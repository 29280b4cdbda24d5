"""Cards on the command line: "Key3,Map5"."""

import re

from cardsharp.deadmansdraw.cards import Card, Suit
from cardsharp.errors import ConfigError

_CARD = re.compile(r"([A-Za-z]+)([0-9]+)")
_SUITS = {suit.value.lower(): suit for suit in Suit}


def parse_cards(text: str) -> list[Card]:
    """The cards of a comma list, in its order; an empty text is no card.

    Raises:
        ConfigError: something in it is no card.
    """
    return [_parse(part.strip()) for part in text.split(",") if part.strip()]


def _parse(text: str) -> Card:
    found = _CARD.fullmatch(text)
    suit = _SUITS.get(found[1].lower()) if found else None
    if found is None or suit is None:
        suits = ", ".join(Suit)
        raise ConfigError(f"'{text}' is no card; write e.g. Key3, with one of {suits}.")
    return Card(suit, int(found[2]))
