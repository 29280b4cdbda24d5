"""Cards of Euchre: 24 integers, `rank * 4 + suit`, as in the protocol.

Source: docs/spec/euchre.md section 2. Cards and suits are plain integers, because engines compare
millions of them a second.
"""

from cardsharp.errors import InvalidInput

Card = int  # 0 to 23
Suit = int  # 0 clubs, 1 diamonds, 2 hearts, 3 spades
SUITS: tuple[Suit, ...] = (0, 1, 2, 3)
DECK: tuple[Card, ...] = tuple(range(24))
NINE, TEN, JACK, QUEEN, KING, ACE = range(6)

RANK_NAMES = ("9", "10", "J", "Q", "K", "A")
SUIT_LETTERS = "CDHS"
SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")
SUIT_SYMBOLS = "♣♦♥♠"

_TRUMP = 10
_LEFT_BOWER = 16
_RIGHT_BOWER = 17


def rank_of(card: Card) -> int:
    """Return the rank of a card, from 0 for a nine to 5 for an ace."""
    return card >> 2


def suit_of(card: Card, trump_suit: Suit | None) -> Suit:
    """Return the effective suit of a card.

    The left bower, the other jack of the colour, is a trump.
    """
    suit = card & 3
    if trump_suit is not None and card >> 2 == JACK and suit == 3 - trump_suit:
        return trump_suit
    return suit


def trick_strength(card: Card, trump: Suit, suit_led: Suit) -> int:
    """Return the strength of a card in a trick. The strongest card wins; 0 cannot win.

    It is 17 for the right bower, 16 for the left bower, down to 10 for the nine of trumps; then 6
    to 1 for the suit that was led. `suit_led` is an effective suit, see `suit_of`.
    """
    suit, rank = card & 3, card >> 2
    if suit == trump:
        return _RIGHT_BOWER if rank == JACK else _TRUMP + rank
    if rank == JACK and suit == 3 - trump:
        return _LEFT_BOWER
    return rank + 1 if suit == suit_led else 0


def card_name(card: Card) -> str:
    """Return a card as text, e.g. "JH" for the jack of hearts."""
    return RANK_NAMES[card >> 2] + SUIT_LETTERS[card & 3]


def parse_card(text: str) -> Card:
    """Parse the text of `card_name`, in either case; raise `InvalidInput`."""
    upper = text.strip().upper()
    if upper[:-1] not in RANK_NAMES or upper[-1:] not in SUIT_LETTERS:
        raise InvalidInput(f"'{text}' is not a card; write e.g. JH for the jack of hearts.")
    return RANK_NAMES.index(upper[:-1]) * 4 + SUIT_LETTERS.index(upper[-1])
