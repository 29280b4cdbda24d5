"""Kuhn poker (Kuhn 1950): two players, a Jack, a Queen and a King, a chip each, one bet of a chip.

The first may check or bet; after a check the second may do either. Whoever is bet at calls or
folds. At a showdown the higher card wins.
"""

from dataclasses import dataclass
from enum import StrEnum

CARDS = ("Jack", "Queen", "King")  # from the lowest to the highest


class Action(StrEnum):
    """What is said."""

    CHECK = "check"
    BET = "bet"
    CALL = "call"
    FOLD = "fold"


Said = tuple[Action, ...]  # what was said so far, both players in turn

OPENING = (Action.CHECK, Action.BET)
ANSWER = (Action.CALL, Action.FOLD)


@dataclass(frozen=True, slots=True)
class State:
    """The card of each seat as an index of `CARDS`, and what was said."""

    cards: tuple[int, int]
    said: Said = ()


@dataclass(frozen=True, slots=True)
class Position:
    """What a seat knows: its own card, and what was said."""

    card: int
    said: Said = ()


def options(said: Said) -> tuple[Action, ...]:
    """What may be said now; nothing when the hand is over."""
    if said[-1:] == (Action.BET,):
        return ANSWER
    return () if len(said) > 1 or said[-1:] == (Action.FOLD,) else OPENING


def gains(state: State) -> tuple[float, float]:
    """The chips that each seat has won when the hand is over."""
    *_, last = said = state.said
    if last is Action.FOLD:
        first = 1.0 if len(said) % 2 == 0 else -1.0
    else:
        stake = 2.0 if last is Action.CALL else 1.0
        first = stake if state.cards[0] > state.cards[1] else -stake
    return first, -first
