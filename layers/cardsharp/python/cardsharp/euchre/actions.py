"""What a player may be asked, and what may be answered."""

from dataclasses import dataclass
from enum import StrEnum

from cardsharp.euchre.cards import SUIT_NAMES, Card, Suit, name

_DEALERS = 3  # the number of the dealer's first bid


class Question(StrEnum):
    """The four decisions of the game."""

    BID = "bid"
    DISCARD = "discard"
    DEFEND = "defend"
    PLAY = "play"


@dataclass(frozen=True, slots=True)
class Bid:
    """Trumps named, or a pass where `suit` is None."""

    suit: Suit | None = None
    alone: bool = False

    def __str__(self) -> str:
        if self.suit is None:
            return "pass"
        return SUIT_NAMES[self.suit] + (" alone" if self.alone else "")

    def spoken(self, number: int) -> str:
        """What is said at a table for it, as the bid of that number of a deal, from 0.

        In the first round, of four bids, the turned suit is called, by the dealer at last.
        """
        if self.suit is None:
            return str(self)
        named = f"name {SUIT_NAMES[self.suit]}"
        called = named if number > _DEALERS else "pick up" if number == _DEALERS else "order up"
        return called + (" and go alone" if self.alone else "")


PASS = Bid()


@dataclass(frozen=True, slots=True)
class Discard:
    """The dealer's card that is laid aside for the turn card; it may be the turn card itself."""

    card: Card

    def __str__(self) -> str:
        return f"discard {name(self.card)}"


@dataclass(frozen=True, slots=True)
class Defend:
    """Whether to defend alone against a caller who plays alone."""

    alone: bool

    def __str__(self) -> str:
        return "defend alone" if self.alone else "defend together"


@dataclass(frozen=True, slots=True)
class Play:
    """A card played to the trick."""

    card: Card

    def __str__(self) -> str:
        return f"play {name(self.card)}"


Action = Bid | Discard | Defend | Play
