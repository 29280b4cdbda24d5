"""The equilibrium of a round of two with few cards, by CFR+ (Tammelin, arXiv:1407.5042).

A hand that has no regrets checks. Any choice would do there by the theory, and this one keeps the
tree small: what nobody reaches is never visited, and nothing is lost by that, for there all
regrets are zero. So three cards are solved in a minute without anything compiled.
"""

from collections.abc import Sequence

from cardsharp.blef.actions import CHECK
from research.blef.small_round import SEATS, STARTER, Plan, Play, Profile, Row, SmallRound, mover


class Solver:
    """Improves a profile step by step; `average` is what nears the equilibrium."""

    def __init__(self, small: SmallRound) -> None:
        self.small = small
        self.iterations = 0
        self._regrets: tuple[dict[int, Play], dict[int, Play]] = ({}, {})
        self._now: Profile = ({}, {})
        self._sums: Profile = ({}, {})
        self._seat = STARTER

    @property
    def average(self) -> Profile:
        """The average of all profiles so far, later ones counting more."""
        first, second = ({said: _normal(p) for said, p in plan.items()} for plan in self._sums)
        return first, second

    def iterate(self, times: int) -> None:
        """Improve so many times: first who begins learns, then the other."""
        for _ in range(times):
            self.iterations += 1
            for self._seat in SEATS:
                everything = [1.0] * len(self.small.hands[1 - self._seat])
                (self._own if self._seat == STARTER else self._others)(0, everything)

    def _own(self, said: int, reach: Row) -> Row:
        """What the learner's hands are worth here; `reach` is of the other's hands."""
        seat = self._seat
        options = {bet: self._others(said | 1 << bet, reach) for bet in self.small.raises(said)}
        if said:
            options[CHECK] = self.small.checked(seat, said, reach)
        worth = [0.0] * len(self.small.hands[seat])
        for action, chances in self._play(seat, said).items():
            values = options[action]
            worth = [w + p * v for w, p, v in zip(worth, chances, values, strict=True)]
        old = self._regrets[seat].get(said)
        self._regrets[seat][said] = {
            action: _added(old[action] if old else [0.0] * len(worth), values, worth)
            for action, values in options.items()
        }
        self._now[seat].pop(said, None)
        return worth

    def _others(self, said: int, reach: Row) -> Row:
        """The same where the other is to move, whose play here counts into the average."""
        seat = self._seat
        sums = self._sums[1 - seat].setdefault(said, {})
        worth = [0.0] * len(self.small.hands[seat])
        for action, chances in self._play(1 - seat, said).items():
            left = [r * p for r, p in zip(reach, chances, strict=True)]
            if not any(left):
                continue
            before = sums.get(action) or [0.0] * len(left)
            sums[action] = [s + self.iterations * r for s, r in zip(before, left, strict=True)]
            if action == CHECK:
                values = self.small.believed(seat, said, left)
            else:
                values = self._own(said | 1 << action, left)
            worth = [w + v for w, v in zip(worth, values, strict=True)]
        return worth

    def _play(self, seat: int, said: int) -> Play:
        """How a seat plays now: each action as often as it is regretted."""
        known = self._now[seat].get(said)
        if known is None:
            known = self.small.default(seat, said)
            regrets = self._regrets[seat].get(said)
            if regrets is not None:
                known = _matched(regrets, known)
            self._now[seat][said] = known
        return known


def _added(regrets: Row, values: Row, worth: Row) -> Row:
    """The regrets with those of this iteration; in CFR+ they never fall below zero."""
    return [max(0.0, r + v - w) for r, v, w in zip(regrets, values, worth, strict=True)]


def _matched(regrets: Play, default: Play) -> Play:
    """The regrets made chances; a hand without regrets plays the default."""
    totals = [sum(column) for column in zip(*regrets.values(), strict=True)]
    nothing = [0.0] * len(totals)
    play = {
        action: [
            regret / total if total > 0 else given
            for regret, total, given in zip(row, totals, default.get(action, nothing), strict=True)
        ]
        for action, row in regrets.items()
    }
    return {action: row for action, row in play.items() if any(row)}


def _normal(weights: Play) -> Play:
    """Weights made chances; a hand that never comes here has none."""
    totals = [sum(column) for column in zip(*weights.values(), strict=True)]
    return {
        action: [
            weight / total if total > 0 else 0.0 for weight, total in zip(row, totals, strict=True)
        ]
        for action, row in weights.items()
    }


def best_response(small: SmallRound, profile: Profile, seat: int) -> float:
    """What the best answer of a seat to the other's plan wins, exactly."""
    answer = _Answer(small, profile[1 - seat], seat)
    everything = [1.0] * len(small.hands[1 - seat])
    return sum((answer.own if seat == STARTER else answer.others)(0, everything))


def exploitability(small: SmallRound, profile: Profile) -> float:
    """What a best answer wins above an equal share, mean of both seats; 0 in equilibrium."""
    return (sum(best_response(small, profile, seat) for seat in SEATS) - 1) / 2


class _Answer:
    """The best answer of `seat` to a plan of the other's."""

    def __init__(self, small: SmallRound, plan: Plan, seat: int) -> None:
        self._small = small
        self._plan = plan
        self._seat = seat

    def own(self, said: int, reach: Row) -> Row:
        """By hand, what the best action is worth."""
        options = [self.others(said | 1 << bet, reach) for bet in self._small.raises(said)]
        if said:
            options.append(self._small.checked(self._seat, said, reach))
        return [max(column) for column in zip(*options, strict=True)]

    def others(self, said: int, reach: Row) -> Row:
        """By hand, what is won against the plan."""
        worth = [0.0] * len(self._small.hands[self._seat])
        for action, left in self._moves(said, reach):
            if action == CHECK:
                values = self._small.believed(self._seat, said, left)
            else:
                values = self.own(said | 1 << action, left)
            worth = [w + v for w, v in zip(worth, values, strict=True)]
        return worth

    def _moves(self, said: int, reach: Row) -> Sequence[tuple[int, Row]]:
        """What the other does, and how likely each of its hands comes there."""
        play = self._plan.get(said) or self._small.default(mover(said), said)
        totals = [sum(column) for column in zip(*play.values(), strict=True)]
        moves = dict(play)
        if said:
            checks = play.get(CHECK, [0.0] * len(reach))
            moves[CHECK] = [c if t > 0 else 1.0 for c, t in zip(checks, totals, strict=True)]
        led = [
            (action, [r * p for r, p in zip(reach, row, strict=True)])
            for action, row in moves.items()
        ]
        return [(action, left) for action, left in led if any(left)]
