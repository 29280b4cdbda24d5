"""Decisions of a player in Euchre, and their possible actions."""

from dataclasses import dataclass
from enum import StrEnum

from cardsharp.games.euchre.cards import SUIT_NAMES, Card, Suit, card_name

_DEALERS = 3  # the number of the dealer's first bid


class DecisionType(StrEnum):
    """The four decisions of the game."""

    BID = "bid"
    DISCARD = "discard"
    DEFEND = "defend"
    PLAY = "play"


@dataclass(frozen=True, slots=True)
class Bid:
    """Trumps named, or a pass where `suit` is None."""

    suit: Suit | None = None
    goes_alone: bool = False

    def __str__(self) -> str:
        if self.suit is None:
            return "pass"
        return SUIT_NAMES[self.suit] + (" alone" if self.goes_alone else "")

    def describe(self, bid_index: int) -> str:
        """Return the spoken form of the bid with this index in a deal, from 0.

        In the first round, of four bids, a call names the turned suit: the dealer picks up, any
        other seat orders up.
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
    """The dealer's card that is laid aside for the turn card; it may be the turn card itself."""

    card: Card

    def __str__(self) -> str:
        return f"discard {card_name(self.card)}"


@dataclass(frozen=True, slots=True)
class Defend:
    """Answer whether to defend alone against a lone caller."""

    goes_alone: bool

    def __str__(self) -> str:
        return "defend alone" if self.goes_alone else "defend together"


@dataclass(frozen=True, slots=True)
class Play:
    """A card played to the trick."""

    card: Card

    def __str__(self) -> str:
        return f"play {card_name(self.card)}"


Action = Bid | Discard | Defend | Play
