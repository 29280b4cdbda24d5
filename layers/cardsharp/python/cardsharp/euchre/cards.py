"""The 24 cards as the protocol numbers them: `rank * 4 + suit` (docs/spec/euchre.md section 2).

Cards and suits are plain integers, for engines compare millions of them a second.
"""

from cardsharp.errors import Malformed

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
_LEFT = 16
_RIGHT = 17


def rank_of(card: Card) -> int:
    """0 for a nine to 5 for an ace."""
    return card >> 2


def suit_of(card: Card, trump: Suit | None) -> Suit:
    """The suit that a card counts as: the left bower (trumps' other jack) is one."""
    suit = card & 3
    if trump is not None and card >> 2 == JACK and suit == 3 - trump:
        return trump
    return suit


def strength(card: Card, trump: Suit, led: Suit) -> int:
    """How high a card is in a trick: the highest wins; 0 for one that cannot win.

    From 17 for the right bower and 16 for the left down to 10 for the nine of trumps, then from
    6 to 1 for the suit that was led. `led` is an effective suit, see `suit_of`.
    """
    suit, rank = card & 3, card >> 2
    if suit == trump:
        return _RIGHT if rank == JACK else _TRUMP + rank
    if rank == JACK and suit == 3 - trump:
        return _LEFT
    return rank + 1 if suit == led else 0


def name(card: Card) -> str:
    """A card as text, e.g. "JH" for the jack of hearts."""
    return RANK_NAMES[card >> 2] + SUIT_LETTERS[card & 3]


def parse(text: str) -> Card:
    """The card that `name` made this text from, in either case; raises `Malformed`."""
    upper = text.strip().upper()
    if upper[:-1] not in RANK_NAMES or upper[-1:] not in SUIT_LETTERS:
        raise Malformed(f"'{text}' is no card; write e.g. JH for the jack of hearts.")
    return RANK_NAMES.index(upper[:-1]) * 4 + SUIT_LETTERS.index(upper[-1])
