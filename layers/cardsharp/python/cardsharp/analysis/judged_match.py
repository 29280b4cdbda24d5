"""Records of a judged match: its decisions, its sides and the value over time."""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field

from cardsharp.analysis.replay import (
    StoredModel,
    StoredOption,
)

SIDE_COUNT = 2


class Severity(StrEnum):
    """Severity of a bad decision."""

    INACCURACY = "inaccuracy"
    MISTAKE = "mistake"
    BLUNDER = "blunder"


SEVERITY_THRESHOLDS = (
    (0.05, Severity.BLUNDER),
    (0.02, Severity.MISTAKE),
    (0.005, Severity.INACCURACY),
)
"""Cost from which a decision has this severity, as a share of the judge's `value_range`.

For chances to win, these are 5, 2 and 0.5 of 100 matches. With these limits the marked decisions
add up to 90 % or more of all that a player lost (docs/analysis.md names the players that were
measured).
"""


LUCK_WEIGHT = 2 / 3
"""Weight of the luck estimate in a luck-adjusted result.

Players make mistakes, so luck changes a result by less than a judge assumes. This weight removes
most of the luck.
"""


class CurvePoint(StoredModel):
    """Value of the match for the first side after the step with this `sequence`."""

    sequence: int
    worth: float


class JudgedDecision(StoredModel):
    """Decision as the judge evaluates it. `options` are valued for its player, the best first.

    `before` and `after` are values for the first side: before the decision, and just before the
    next decision. `cost` is the deciding player's and never below 0. `luck` is what the events
    after the decision gave to the first side. So for a decision of the first side, `after = before
    - cost + luck`. `stake` is the difference between the best and the worst option. `reason` is the
    judge's reason for its own choice.
    """

    sequence: int
    turn: int
    seat: int
    happened: str
    action: str
    best: str
    reason: str
    options: tuple[StoredOption, ...]
    risk: float | None = None
    before: float
    after: float
    cost: float
    luck: float
    stake: float
    mark: Severity | None = None

    @property
    def value_change(self) -> float:
        """Change of the match's value with this decision and the events after it."""
        return self.after - self.before


class SideStats(StoredModel):
    """Statistics of one side. `accuracy` is in per cent, None if it had nothing to decide.

    `skill` is the negated cost of its decisions, so it is never above 0. `luck` is what the cards
    gave to the side.
    """

    accuracy: float | None
    skill: float
    luck: float
    decisions: int
    marks: Mapping[Severity, int]


class MatchAnalysis(StoredModel):
    """Judged match. `start`, `result` and the `curve` are values for the first side.

    `reasoned` are the sides for whose decisions the log has a strategy's reasons. `chance` is an
    unbiased estimate of what luck gave to the first side; None if there is none. `start + luck +
    unexplained + players[0].skill - players[1].skill` is `end`: the result, or the current value of
    a match that still runs (then `result` is None).
    """

    judge: str
    unit: str
    form: str
    total: float
    start: float
    end: float
    result: float | None
    luck: float
    unexplained: float = Field(default=0.0, alias="misjudged")
    chance: float | None = None
    players: tuple[SideStats, SideStats]
    counts: Mapping[str, tuple[int, int]]
    reasoned: tuple[int, ...]
    curve: tuple[CurvePoint, ...]
    decisions: tuple[JudgedDecision, ...]

    def value_for(self, side: int, value: float) -> float:
        """Convert a value for the first side into the value for `side`."""
        return value if side == 0 else self.total - value

    def luck_adjusted_result(self, side: int) -> float | None:
        """Return a side's luck-adjusted result, None without an estimate of luck.

        Over many matches its mean is the mean of the plain results.
        """
        # An unbiased estimate of luck has mean 0. Subtracting any fixed share of it leaves the mean
        # of the results as it is and only makes it less noisy.
        if self.result is None or self.chance is None:
            return None
        return self.value_for(side, self.result - LUCK_WEIGHT * self.chance)

    def chosen_and_best_value(self, decision: JudgedDecision) -> tuple[float, float]:
        """Return the values of the chosen and of the best option for the deciding player."""
        best = self.value_for(side_of(decision.seat), decision.before)
        return best - decision.cost, best

    def mistakes(self) -> tuple[JudgedDecision, ...]:
        """Return the decisions that have a mark, in order."""
        return tuple(decision for decision in self.decisions if decision.mark is not None)

    def largest_swings(self, count: int = 5) -> tuple[JudgedDecision, ...]:
        """Return the `count` decisions with the largest change of value, the largest first."""
        return tuple(
            sorted(self.decisions, key=lambda decision: -abs(decision.value_change))[:count]
        )


def side_of(seat: int) -> int:
    """Return the side of a seat, 0 or 1.

    Seats take turns, so the sides alternate; in Euchre partners sit opposite and share a side.
    """
    return seat % SIDE_COUNT


def severity_of(loss_share: float) -> Severity | None:
    """Return the severity of a loss, a share of `Judge.value_range`; None for a slight one."""
    return next(
        (severity for threshold, severity in SEVERITY_THRESHOLDS if loss_share >= threshold), None
    )


def accuracy(value_loss: float, value_range: float) -> float | None:
    """Return the accuracy in per cent: the retained share of the value at stake, squared.

    100 means always the best option, 0 always the worst. The share is squared because random
    decisions already retain half of the value. `value_range` is the sum of the differences
    between best and worst option, so a decision without a real choice does not count. None if
    it is 0.
    """
    return 100.0 * max(0.0, 1.0 - value_loss / value_range) ** 2 if value_range else None
