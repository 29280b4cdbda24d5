"""Decision types of Euchre, and the actions that answer them."""

from dataclasses import dataclass
from enum import StrEnum

from cardsharp.games.euchre.cards import SUIT_NAMES, Card, Suit, card_name

_DEALERS = 3  # index of the dealer's first bid


class DecisionType(StrEnum):
    """Types of decisions that a player makes."""

    BID = "bid"
    DISCARD = "discard"
    DEFEND = "defend"
    PLAY = "play"


@dataclass(frozen=True, slots=True)
class Bid:
    """Bid: a call of trumps, or a pass if `suit` is None."""

    suit: Suit | None = None
    goes_alone: bool = False

    def __str__(self) -> str:
        if self.suit is None:
            return "pass"
        return SUIT_NAMES[self.suit] + (" alone" if self.goes_alone else "")

    def describe(self, bid_index: int) -> str:
        """Return the spoken form of the bid with this index in a deal, from 0.

        A call among the first four bids names the suit of the turn card: the dealer picks it up,
        any other seat orders it up.
        """
        if self.suit is None:
            return str(self)
        name_text = f"name {SUIT_NAMES[self.suit]}"
        call_text = (
            name_text
            if bid_index > _DEALERS
            else "pick up"
            if bid_index == _DEALERS
            else "order up"
        )
        return call_text + (" and go alone" if self.goes_alone else "")


PASS = Bid()


@dataclass(frozen=True, slots=True)
class Discard:
    """Discard of the dealer, who has taken the turn card; it may be the turn card itself."""

    card: Card

    def __str__(self) -> str:
        return f"discard {card_name(self.card)}"


@dataclass(frozen=True, slots=True)
class Defend:
    """Answer of a defender: whether to play alone against a lone caller."""

    goes_alone: bool

    def __str__(self) -> str:
        return "defend alone" if self.goes_alone else "defend together"


@dataclass(frozen=True, slots=True)
class Play:
    """Card played to the trick."""

    card: Card

    def __str__(self) -> str:
        return f"play {card_name(self.card)}"


Action = Bid | Discard | Defend | Play
