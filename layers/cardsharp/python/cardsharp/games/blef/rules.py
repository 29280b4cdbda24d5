"""Rules of Blef: pure functions over `Round` (docs/spec/blef.md section 2).

The only random part is dealing; it is an argument of type `DealHand`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import NamedTuple

from cardsharp.errors import IllegalAction
from cardsharp.games.blef.actions import BETS, CHECK, LOST_MARKER
from cardsharp.games.blef.cards import DECK, Hand, sort_hand

DealHand = Callable[[int], Hand]
"""Function that deals a number of different cards; all choices and orders are equally likely."""


class RoundMove(NamedTuple):
    """An action by the player at a seat; `LOST_MARKER` as the action marks the round's loser."""

    seat: int
    action: int


@dataclass(frozen=True, slots=True)
class Round:
    """Round of a game that has begun: the live round, or one that is over.

    Everything by seat is in seating order. A player who is out keeps the seat and has 0 cards.
    `turn` is None once the round is over. A round that is over still has the numbers of cards that
    it was played with. The only exception is the last round of a finished game, whose loser has 0.
    """

    number: int
    max_cards: int
    n_cards: tuple[int, ...]
    # Hidden in the `repr`, so that no log and no traceback discloses a hand.
    hands: tuple[Hand, ...] = field(repr=False)
    turn: int | None
    history: tuple[RoundMove, ...] = ()

    @property
    def active_seats(self) -> tuple[int, ...]:
        """Seats of the players who are still in the game."""
        return tuple(seat for seat, cards in enumerate(self.n_cards) if cards)

    @property
    def winner(self) -> int | None:
        """Seat of the only player left, None while there are more."""
        active = self.active_seats
        return active[0] if len(active) == 1 else None

    @property
    def is_over(self) -> bool:
        """True if the round was checked and lost, so that its hands are open."""
        return bool(self.history) and self.history[-1].action == LOST_MARKER

    @property
    def last_bet(self) -> int | None:
        """Bet that must be beaten, None if any bet is legal or the round is over."""
        return self.history[-1].action if self.history and not self.is_over else None


MIN_PLAYERS = 2
MAX_PLAYERS = 8


@dataclass(frozen=True, slots=True)
class ActionResult:
    """Result of an action: the current round, and the round that the action ended, if any.

    `closed_round` has open hands. In a finished game `current_round` is that last round, with the
    loser's cards removed.
    """

    current_round: Round
    closed_round: Round | None = None


def max_cards(players: int) -> int:
    """Return the maximum number of cards of a player; a player who would get more is out.

    With two players it is 11, not 12: with all 24 cards dealt the starting player would surely
    win.
    """
    return 11 if players == MIN_PLAYERS else len(DECK) // players


def start(players: int, deal: DealHand) -> Round:
    """Deal and return the first round: one card for each player, and the first seat begins."""
    first_round = Round(1, max_cards(players), (1,) * players, (), 0)
    return _deal_hands(first_round, deal)


def legal_actions(round_: Round) -> tuple[int, ...]:
    """Return the actions of the player to move, the check last; none once the round is over."""
    if round_.turn is None:
        return ()
    if round_.last_bet is None:
        return tuple(range(len(BETS)))
    return (*range(round_.last_bet + 1, len(BETS)), CHECK)


def apply(round_: Round, action: int, deal: DealHand) -> ActionResult:
    """Return the result of an action of the player to move.

    Raises `IllegalAction` if the rules forbid the action.
    """
    if round_.turn is None or action not in legal_actions(round_):
        raise IllegalAction("This action not allowed right now")
    if action == CHECK:
        return _resolve_check(round_, round_.turn, deal)
    history = (*round_.history, RoundMove(round_.turn, action))
    return ActionResult(
        replace(round_, turn=_find_next_active_seat(round_.turn, round_.n_cards), history=history)
    )


def _resolve_check(live: Round, checker: int, deal: DealHand) -> ActionResult:
    """Open all hands: the checker loses the round if the last bet holds, else its bettor."""
    bettor, bet = live.history[-1]
    loser = checker if BETS[bet].holds(tuple(chain(*live.hands))) else bettor
    history = (*live.history, RoundMove(checker, CHECK), RoundMove(loser, LOST_MARKER))
    closed = replace(live, turn=None, history=history)
    cards = live.n_cards[loser] + 1
    new_count = cards if cards <= live.max_cards else 0
    n_cards = tuple(new_count if seat == loser else n for seat, n in enumerate(live.n_cards))
    resolved = replace(closed, n_cards=n_cards)
    if resolved.winner is not None:
        return ActionResult(resolved, closed)
    starter = loser if new_count else _find_next_active_seat(loser, n_cards)
    following = replace(resolved, number=live.number + 1, turn=starter, history=())
    return ActionResult(_deal_hands(following, deal), closed)


def _find_next_active_seat(seat: int, n_cards: tuple[int, ...]) -> int:
    """Return the next seat in the circle whose player is still in the game."""
    circle = chain(range(seat + 1, len(n_cards)), range(seat))
    return next(candidate for candidate in circle if n_cards[candidate])


def _deal_hands(live: Round, deal: DealHand) -> Round:
    cards = deal(sum(live.n_cards))
    ends = [sum(live.n_cards[:seat]) for seat in range(len(live.n_cards) + 1)]
    hands: tuple[Hand, ...] = tuple(sort_hand(cards[begin:two]) for begin, two in pairwise(ends))
    return replace(live, hands=hands)
