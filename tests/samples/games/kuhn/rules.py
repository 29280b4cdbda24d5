"""Kuhn poker (Kuhn 1950): two players, three cards (J, Q, K), an ante of 1 and one bet of 1 chip.

The first player may check or bet; after a check the second may do either. A player who faces a
bet calls or folds. At a showdown the higher card wins.
"""

from dataclasses import dataclass
from enum import StrEnum

CARDS = ("Jack", "Queen", "King")  # from the lowest to the highest


class Action(StrEnum):
    """Action of a player."""

    CHECK = "check"
    BET = "bet"
    CALL = "call"
    FOLD = "fold"


PastActions = tuple[Action, ...]  # what was said so far, both players in turn

OPENING = (Action.CHECK, Action.BET)
ANSWER = (Action.CALL, Action.FOLD)


@dataclass(frozen=True, slots=True)
class State:
    """The card of each seat as an index of `CARDS`, and the actions so far."""

    cards: tuple[int, int]
    past_actions: PastActions = ()


@dataclass(frozen=True, slots=True)
class Position:
    """Position of a seat: its card, and the actions so far."""

    card: int
    past_actions: PastActions = ()


def options(past_actions: PastActions) -> tuple[Action, ...]:
    """Return the legal actions; none when the hand is over."""
    if past_actions[-1:] == (Action.BET,):
        return ANSWER
    return () if len(past_actions) > 1 or past_actions[-1:] == (Action.FOLD,) else OPENING


def gains(state: State) -> tuple[float, float]:
    """Return the chips that each seat has won when the hand is over."""
    *_, last = past_actions = state.past_actions
    if last is Action.FOLD:
        first = 1.0 if len(past_actions) % 2 == 0 else -1.0
    else:
        stake = 2.0 if last is Action.CALL else 1.0
        first = stake if state.cards[0] > state.cards[1] else -stake
    return first, -first
