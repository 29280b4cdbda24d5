"""State of Dead Man's Draw: the table as an immutable value, with its hidden cards."""

from collections.abc import Callable
from dataclasses import dataclass

from cardsharp.games.deadmansdraw.actions import PendingEffect
from cardsharp.games.deadmansdraw.cards import Bank, Card
from cardsharp.games.deadmansdraw.events import MatchEnded, TurnDelta

CardPicker = Callable[[tuple[Card, ...], int], tuple[Card, ...]]
"""Function that picks `n` different cards of a discard pile, in the order of the picks.

It picks the cards that a Map offers, and the bonus of Chest and Key. It is never asked for more
cards than the pile holds.
"""


@dataclass(frozen=True, slots=True)
class TurnStartPiles:
    """Piles at the start of a turn, from which the turn's delta is computed."""

    draw_pile: tuple[Card, ...]
    discard_pile: tuple[Card, ...]
    banks: tuple[Bank, Bank]


@dataclass(frozen=True, slots=True)
class State:
    """State of the table, with its hidden cards.

    `turn_player` is the player whose turn is running. If `is_between_turns`, it is the player whose
    turn has just ended: like the server's `currentPlayerIndex`, it changes only when the next
    action opens the next turn. `active_player` is the player to act. Between turns no effect is
    pending and the play area is empty.
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
