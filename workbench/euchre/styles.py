"""Players who call in a style of their own, so that calls are not measured against one way only.

They stand in for strong bidders: each plays its cards as the engine does, and calls as `rules`
reckons, but for how much it wants. They are of the lab alone: one of them goes by the score, which
no strategy is told.
"""

from collections.abc import Callable
from dataclasses import dataclass

from cardsharp.euchre.actions import PASS, Action, Bid, Question
from cardsharp.euchre.position import Position, project
from cardsharp.euchre.simulation import Match
from cardsharp.euchre.strategies import Strategy
from cardsharp.euchre.strategies.bidding import ALONE, appraise, card_set
from cardsharp.euchre.table import turn

NEVER = 10_000
"""More than any hand is worth."""

_BEHIND = 4
"""Points behind from which playing alone is worth a risk."""

_NEAR_THE_END = 8
"""Points from which two more win, which five tricks make with the partner too."""

_MOST = 240


@dataclass(frozen=True, slots=True)
class CallWish:
    """What is wanted of a hand, in thousandths of tricks: to call, beyond `rules`; to be alone."""

    more: int
    alone: int


Style = Callable[[int, int], CallWish]
"""What is wanted at a score, our points first."""


def _timid(_ours: int, _theirs: int) -> CallWish:
    return CallWish(300, ALONE + 400)


def _bold(_ours: int, _theirs: int) -> CallWish:
    return CallWish(-300, ALONE - 400)


def _by_score(ours: int, theirs: int) -> CallWish:
    """Bolder when behind, more careful when ahead; alone only where four points are of use."""
    more = max(-_MOST, min(_MOST, 40 * (ours - theirs)))
    if ours >= _NEAR_THE_END:
        return CallWish(more, NEVER)
    return CallWish(more, ALONE - 300 if theirs - ours >= _BEHIND else ALONE)


STYLES: dict[str, Style] = {"timid": _timid, "bold": _bold, "by-score": _by_score}


@dataclass(frozen=True, slots=True)
class Stylist:
    """A player of a style, a guest of the lab; its cards are played by a strategy."""

    style: Style
    cards: Strategy

    def seated(self, chairs: tuple[int, ...]) -> "Stylist":
        """The same at any chair: it remembers nothing."""
        del chairs
        return self

    def close(self) -> None:
        """There is nothing to close."""

    def ended(self, match: Match) -> None:
        """Learn nothing."""

    def decide(self, match: Match) -> Action:
        """The answer of the chair that is asked, from what it sees and the score."""
        deal = match.now.deal
        now = turn(deal.table)
        if now is None:
            raise ValueError("Nobody is asked: the match has ended.")
        position = project(deal, now.seat)
        if position.question is not Question.BID:
            return self.cards.decide(position).action
        side = match.now.chair(now.seat) % 2
        return bid(self.style(match.points[side], match.points[1 - side]), position)


def bid(wanted: CallWish, position: Position) -> Action:
    """The bid of a hand of which so much is wanted."""
    table = position.table
    seen = appraise(card_set(position.hand), len(table.bids), table.turn_card)
    best = seen.best
    worth = seen.worth[best]
    if worth < seen.wanted + wanted.more:
        return PASS
    return Bid(best, worth >= wanted.alone)
