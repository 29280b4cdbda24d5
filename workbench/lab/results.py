"""How the matches of a duel ended, and what is left of that without luck."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

Counts = Mapping[str, tuple[float, ...]]  # by name: both players', or one for the match


class Luck(NamedTuple):
    """What tells the luck of a match, for the first player.

    `again` is its mean share over all ends played, the real one too; `cards` what came before them.
    """

    again: float
    cards: float


@dataclass(frozen=True, slots=True)
class Result:
    """How a match ended for the first player."""

    points: float
    counts: Counts
    luck: Luck | None = None


Pair = tuple[Result, ...]  # of one deal, one match for each side that the first player can have
_PRIOR = 0.3  # a sum of squared luck, some ten pairs', over which the judge is believed beforehand


class LessLuck:
    """The first player's shares of pairs without the luck that is known, in the pairs' order.

    Nothing is shifted, and fewer matches tell the same. Two parts of the luck are known. What the
    cards brought before the last ones, a judge tells, as the worth of what came less the mean worth
    of what could have come: its mean is 0 whatever the judge thinks, so a wrong judge takes out
    less and shifts nothing. The last cards, of which judges know least, are played again a few
    times by the players themselves, and the mean of all these ends counts. How far the judge is
    believed follows from the pairs before, never from the pair itself.
    """

    def __init__(self) -> None:
        self._products = self._squares = _PRIOR
        self._number, self._sum = 1.0, 0.5

    def share(self, pair: Pair) -> float:
        """The share of the next pair; the plain one where nothing is known of its luck."""
        known = [match.luck for match in pair if match.luck is not None]
        if len(known) < len(pair):
            return fmean(match.points for match in pair)
        again, cards = fmean(one.again for one in known), fmean(one.cards for one in known)
        less = again - self._products / self._squares * cards
        self._products += (again - self._sum / self._number) * cards
        self._squares += cards * cards
        self._number += 1
        self._sum += again
        return less
