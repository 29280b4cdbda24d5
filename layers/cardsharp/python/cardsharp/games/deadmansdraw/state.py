"""The table of Dead Man's Draw as an immutable value, hidden cards included."""

from collections.abc import Callable
from dataclasses import dataclass

from cardsharp.games.deadmansdraw.actions import PendingEffect
from cardsharp.games.deadmansdraw.cards import Bank, Card
from cardsharp.games.deadmansdraw.events import MatchEnded, TurnDelta

CardPicker = Callable[[tuple[Card, ...], int], tuple[Card, ...]]
"""Picks `n` different cards of a discard pile, in the order in which they are picked.

Called for the cards that a Map offers and for the bonus of Chest and Key, never with more cards
than the pile holds.
"""


@dataclass(frozen=True, slots=True)
class TurnStartPiles:
    """The piles as they were when the turn began; a turn's delta is counted from here."""

    draw_pile: tuple[Card, ...]
    discard_pile: tuple[Card, ...]
    banks: tuple[Bank, Bank]


@dataclass(frozen=True, slots=True)
class State:
    """Everything on the table, hidden cards included.

    `player` is whose turn is running or, `between_turns`, whose turn has just ended: like the
    server's `currentPlayerIndex` it stays until the next action opens the next turn. Use
    `active` for who is to act. Between turns nothing is pending and nothing lies in the play area.
    """

    banks: tuple[Bank, Bank]
    draw_pile: tuple[Card, ...]
    discard_pile: tuple[Card, ...]
    turn_player: int
    turn_start: TurnStartPiles
    play_area: tuple[Card, ...] = ()
    pending_effect: PendingEffect | None = None
    is_between_turns: bool = False
    last_delta: TurnDelta | None = None
    timeout_count: int = 0
    outcome: MatchEnded | None = None

    @property
    def active_player(self) -> int | None:
        """Index of the player who is to act, None once the match has ended."""
        if self.outcome is not None:
            return None
        return 1 - self.turn_player if self.is_between_turns else self.turn_player

    @property
    def scores(self) -> tuple[int, int]:
        """Points banked by player 0 and player 1."""
        return self.banks[0].score, self.banks[1].score
