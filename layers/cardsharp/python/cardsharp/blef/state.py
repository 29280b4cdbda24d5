"""One round of Blef as an immutable value, all hands included."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from cardsharp.blef.actions import LOST
from cardsharp.blef.cards import Hand

Deal = Callable[[int], Hand]
"""Picks so many different cards of the deck, each choice and order equally likely."""


class Move(NamedTuple):
    """What the player at a seat did; `LOST` as an action marks who lost the round."""

    seat: int
    action: int


@dataclass(frozen=True, slots=True)
class Round:
    """A round of a game that has begun: the live one, or one that is over.

    Everything by seat is in seating order, and a player who is out keeps the seat with 0 cards.
    `turn` is None once the round is over. A round that is over still has the numbers of cards
    that it was played with, except the last of a finished game, whose loser has 0.
    """

    number: int
    max_cards: int
    n_cards: tuple[int, ...]
    # Whatever shows a round by accident, a log or a traceback, shows no card.
    hands: tuple[Hand, ...] = field(repr=False)
    turn: int | None
    history: tuple[Move, ...] = ()

    @property
    def active(self) -> tuple[int, ...]:
        """The seats of those who are still in the game."""
        return tuple(seat for seat, cards in enumerate(self.n_cards) if cards)

    @property
    def winner(self) -> int | None:
        """The seat of the only player left, None while there are more."""
        active = self.active
        return active[0] if len(active) == 1 else None

    @property
    def is_over(self) -> bool:
        """Whether the round was checked and lost, so that its hands are open."""
        return bool(self.history) and self.history[-1].action == LOST

    @property
    def last_bet(self) -> int | None:
        """The bet to beat, None where anything may be bet or the round is over."""
        return self.history[-1].action if self.history and not self.is_over else None
