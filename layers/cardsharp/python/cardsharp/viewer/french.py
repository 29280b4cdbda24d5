"""French cards: their four suits as shapes, and a card by what the games' logs call it."""

from collections.abc import Mapping

from markupsafe import Markup

from cardsharp.viewer.board import card

SYMBOLS: Mapping[str, str] = {
    "clubs": '<path fill="currentColor" d="M12 2.5a4.4 4.4 0 0 1 3.5 7.1 4.4 4.4 0 1 1-2.4 7.4l1.4 '
    '4.5h-5l1.4-4.5a4.4 4.4 0 1 1-2.4-7.4A4.4 4.4 0 0 1 12 2.5z"/>',
    "diamonds": '<path fill="currentColor" d="M12 2l7.5 10L12 22 4.5 12z"/>',
    "hearts": '<path fill="currentColor" d="M12 21C4.5 15 2.5 11.5 2.5 8.3A5 5 0 0 1 12 6.2'
    ' 5 5 0 0 1 21.5 8.3C21.5 11.5 19.5 15 12 21z"/>',
    "spades": '<path fill="currentColor" d="M12 2.5C17 7.5 21 10.5 21 14.3a4.3 4.3 0 0 1-8 '
    '2.2l1.5 5h-5l1.5-5a4.3 4.3 0 0 1-8-2.2C3 10.5 7 7.5 12 2.5z"/>',
}

_LETTERS = {name[0].upper(): name for name in SYMBOLS}


def french(text: str) -> Markup:
    """The card that "J of clubs" or "JC" names."""
    rank, _, suit = text.partition(" of ")
    if not suit:
        rank, suit = text[:-1], _LETTERS.get(text[-1:].upper(), "")
    return card(rank, suit)
