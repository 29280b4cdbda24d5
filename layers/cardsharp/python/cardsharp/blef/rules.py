"""The rules of Blef: pure functions over `Round` (docs/spec/blef.md section 2).

Chance, the only thing that the rules do not decide, is an argument: see `Deal`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import NamedTuple

from cardsharp.blef.actions import BETS, CHECK, LOST
from cardsharp.blef.cards import DECK, Hand, sort_hand
from cardsharp.errors import Illegal

Deal = Callable[[int], Hand]  # so many different cards, each choice and order equally likely


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


MIN_PLAYERS = 2
MAX_PLAYERS = 8


@dataclass(frozen=True, slots=True)
class Applied:
    """What an action leads to; `closed` is the round that it ended, hands open, if it did.

    In a finished game `live` is that last round with the loser's cards taken away.
    """

    live: Round
    closed: Round | None = None


def max_cards(players: int) -> int:
    """How many cards a player can hold; one more and the player is out.

    With two players 11, not 12: who begins with all 24 cards dealt would be sure to win.
    """
    return 11 if players == MIN_PLAYERS else len(DECK) // players


def start(players: int, deal: Deal) -> Round:
    """The first round: one card each, the first seat to move."""
    first = Round(1, max_cards(players), (1,) * players, (), 0)
    return _dealt(first, deal)


def legal_actions(live: Round) -> tuple[int, ...]:
    """The actions of the player to move, the check last; none once the round is over."""
    if live.turn is None:
        return ()
    if live.last_bet is None:
        return tuple(range(len(BETS)))
    return (*range(live.last_bet + 1, len(BETS)), CHECK)


def apply(live: Round, action: int, deal: Deal) -> Applied:
    """What follows from the action of the player to move; raises `Illegal`."""
    if live.turn is None or action not in legal_actions(live):
        raise Illegal("This action not allowed right now")
    if action == CHECK:
        return _resolve(live, live.turn, deal)
    history = (*live.history, Move(live.turn, action))
    return Applied(replace(live, turn=_after(live.turn, live.n_cards), history=history))


def _resolve(live: Round, checker: int, deal: Deal) -> Applied:
    """Open all hands: the checker loses the round if the last bet holds, else its bettor."""
    bettor, bet = live.history[-1]
    loser = checker if BETS[bet].holds(tuple(chain(*live.hands))) else bettor
    history = (*live.history, Move(checker, CHECK), Move(loser, LOST))
    closed = replace(live, turn=None, history=history)
    cards = live.n_cards[loser] + 1
    kept = cards if cards <= live.max_cards else 0
    n_cards = tuple(kept if seat == loser else n for seat, n in enumerate(live.n_cards))
    after = replace(closed, n_cards=n_cards)
    if after.winner is not None:
        return Applied(after, closed)
    starter = loser if kept else _after(loser, n_cards)
    following = replace(after, number=live.number + 1, turn=starter, history=())
    return Applied(_dealt(following, deal), closed)


def _after(seat: int, n_cards: tuple[int, ...]) -> int:
    """The next seat in the circle whose player is still in the game."""
    circle = chain(range(seat + 1, len(n_cards)), range(seat))
    return next(other for other in circle if n_cards[other])


def _dealt(live: Round, deal: Deal) -> Round:
    cards = deal(sum(live.n_cards))
    ends = [sum(live.n_cards[:seat]) for seat in range(len(live.n_cards) + 1)]
    hands: tuple[Hand, ...] = tuple(sort_hand(cards[one:two]) for one, two in pairwise(ends))
    return replace(live, hands=hands)
