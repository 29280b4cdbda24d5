"""Analysis of a match: the value of every step, the luck, and the cost of each decision.

A game's `Judge` values the options of a decision for the deciding player, if possible as a
chance to win. The value of the match is given for the first of two sides:

    value before a decision - cost of the choice + luck after it = value before the next one

so the value at the start, all luck and all costs add up to the result. If the judge has an
unbiased estimate of luck, the rest of what the cards changed is reported as `unexplained`. The
judge sees only the player's position, never hidden information. Anything it cannot judge, such
as a decision whose position is not recorded, counts as luck.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from pydantic import Field

from cardsharp.analysis.judge import TIMED_OUT, Judge, analysis_sources
from cardsharp.analysis.replay import (
    DecisionPoint,
    Header,
    ReplayStep,
    StoredDecision,
    StoredModel,
    StoredOption,
)
from cardsharp.errors import ConfigError
from cardsharp.play.game import Game
from cardsharp.play.strategy import Decision, ranked
from cardsharp.store.match_log import MatchRecord, MoveRecord

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
"""From what cost on a decision is marked, in shares of all that is at stake in a match.

Where chances to win are told, 0.5, 2 and 5 of 100 matches, so that marks add up to 90 % or
more of all that a player lost (docs/analysis.md has the players it was measured with).
"""


LUCK_WEIGHT = 2 / 3
"""Weight of chance where it is estimated from results.

Players make mistakes, so chance matters less than a judge assumes. This weight removes most of it.
"""


class CurvePoint(StoredModel):
    """Value of the match for the first side after the step with this `sequence`."""

    sequence: int
    worth: float


class JudgedDecision(StoredModel):
    """A decision as the judge evaluates it; `options` are valued for its player, best first.

    `before` and `after` are values for the first side: before the decision, and just before the
    next decision. `cost` is the deciding player's and never below 0. `luck` is what the events
    after the decision gave to the first side, so that `after` is `before` with both. `stake` is
    the difference between the best and the worst option. `reason` is the judge's reason for its
    choice.
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
        """By how much the worth of the match changed with it."""
        return self.after - self.before


class SideStats(StoredModel):
    """Statistics of one side: `accuracy` in per cent, None if it had nothing to decide.

    `skill` is the negated cost of its decisions, so never above 0; `luck` is what the cards
    gave to the side.
    """

    accuracy: float | None
    skill: float
    luck: float
    decisions: int
    marks: Mapping[Severity, int]


class MatchAnalysis(StoredModel):
    """A judged match; `start`, `result` and the `curve` are values for the first side.

    `reasoned` are the sides for whose decisions the log has a strategy's reasons. `chance` is
    an unbiased estimate of what luck gave to the first side; None if there is none. `start +
    luck + unexplained + players[0].skill - players[1].skill` is `end`: the result, or the
    current value of a match that still runs (`result` is None).
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

        Its mean is that of the results.
        """
        if self.result is None or self.chance is None:
            return None
        return self.value_for(side, self.result - LUCK_WEIGHT * self.chance)

    def chosen_and_best_value(self, decision: JudgedDecision) -> tuple[float, float]:
        """Return the values of the chosen and of the best option for the deciding player."""
        best = self.value_for(side_of(decision.seat), decision.before)
        return best - decision.cost, best

    def mistakes(self) -> tuple[JudgedDecision, ...]:
        """The decisions that have a mark, in order."""
        return tuple(decision for decision in self.decisions if decision.mark is not None)

    def largest_swings(self, count: int = 5) -> tuple[JudgedDecision, ...]:
        """So many decisions with which the worth changed most, the biggest change first."""
        return tuple(
            sorted(self.decisions, key=lambda decision: -abs(decision.value_change))[:count]
        )


def side_of(seat: int) -> int:
    """The side of a seat: seats are taken in turn, in Euchre those of partners too."""
    return seat % SIDE_COUNT


def side_names(analysis: MatchAnalysis, header: Header) -> tuple[str, str]:
    """Return the names of the two sides.

    If our bot took a seat at a service, the header has only our name and not the seat, so the
    seat is inferred from the decisions that the log has reasons of.
    """
    if len(header.names or header.players) < SIDE_COUNT and len(analysis.reasoned) == 1:
        our_name, other = header.name(0), header.opponent or "opponent"
        return (our_name, other) if analysis.reasoned == (0,) else (other, our_name)
    names_by_side: list[list[str]] = [[], []]
    for seat in range(max(len(header.names), len(header.players), SIDE_COUNT)):
        names_by_side[side_of(seat)].append(header.display_name(seat))
    first_side, second_side = (" and ".join(dict.fromkeys(names)) for names in names_by_side)
    return first_side, second_side


def analyse(
    game: Game,
    record: MatchRecord,
    moves: Sequence[MoveRecord],
    progress: Callable[[list[DecisionPoint]], Iterable[DecisionPoint]] = iter,
) -> MatchAnalysis:
    """Return the analysis of a stored match.

    `progress` wraps the decisions to evaluate, for example to show a progress bar. Raises
    `ConfigError` if the game has no judge or the judge cannot judge this match, and
    `StoreError` if the log cannot be read.
    """
    judge, replay, decisions_of = analysis_sources(game)
    result = judge.result(record, moves)
    points = [*decisions_of(record, moves), *judge.timeouts(moves)]
    points.sort(key=lambda point: point.step.sequence)
    weighed = [_weighed(judge, point) for point in progress(points)]
    evaluations = [evaluation for evaluation in weighed if evaluation is not None]
    if not evaluations:
        raise ConfigError(f"Match {record.match_id} has no decision that {judge.name} can judge.")
    decisions = tuple(_judged(judge, evaluations, result))
    changed, chance = sum(decision.luck for decision in decisions), judge.luck(record, moves)
    luck = changed if chance is None or judge.luck_includes_deal else chance
    first, second = (_player(decisions, side, luck) for side in range(SIDE_COUNT))
    return MatchAnalysis(
        judge=judge.name,
        unit=judge.unit,
        form=judge.value_format,
        total=judge.value_sum,
        start=decisions[0].before,
        end=decisions[-1].after,
        result=result,
        luck=luck,
        unexplained=changed - luck,
        chance=chance,
        players=(first, second),
        counts=judge.match_counts(moves),
        reasoned=tuple(
            sorted(
                {side_of(evaluation.seat) for evaluation in evaluations if evaluation.done.strategy}
            )
        ),
        curve=tuple(_curve(replay(record, moves), decisions)),
        decisions=decisions,
    )


class _Weighed(NamedTuple):
    """An evaluated decision without what followed it; values belong to the deciding player.

    `chosen` is None for a timeout. `option_names` maps each action to its text in the log.
    """

    point: DecisionPoint
    done: StoredDecision
    seat: int
    decision: Decision[Any]
    option_names: Mapping[Any, str]
    best: float
    chosen: float | None

    def cost(self, next_value: float) -> float:
        """Return the cost of the choice for the deciding player.

        A timeout costs everything that was lost by the next decision: `best` less the value
        there.
        """
        return max(0.0, self.best - (next_value if self.chosen is None else self.chosen))


def _weighed(judge: Judge, point: DecisionPoint) -> _Weighed | None:
    """Return the judge's evaluation of a decision, None if it cannot value the chosen action."""
    done, seat = point.step.decision, point.step.seat
    if done is None or seat is None:
        return None
    logged_actions = [action for action, name in point.option_names.items() if name == done.action]
    lapse = done.action == TIMED_OUT
    decision = judge.evaluate(point.position, logged_actions) if logged_actions or lapse else None
    if decision is None:
        return None
    option_names = {
        option.action: point.option_names.get(option.action, str(option.action))
        for option in decision.options
    }
    values = {
        option_names[option.action]: option.value
        for option in decision.options
        if option.value is not None
    }
    best = values.get(option_names.get(decision.action, ""))
    chosen = None if lapse else values.get(done.action)
    if best is None or (chosen is None and not lapse):
        return None
    return _Weighed(
        point,
        done,
        seat,
        decision,
        option_names,
        best if chosen is None else max(best, chosen),
        chosen,
    )


def _judged(
    judge: Judge, evaluations: Sequence[_Weighed], end: float | None
) -> Iterator[JudgedDecision]:
    """The decisions, each with what followed it; nothing but itself follows a last one yet."""

    def turned(evaluation: _Weighed, worth: float) -> float:
        """From the decider's worth to the first side's, or back."""
        return worth if side_of(evaluation.seat) == 0 else judge.value_sum - worth

    *_, last = evaluations
    current_value = turned(last, last.best if last.chosen is None else last.chosen)
    afters = (
        *(turned(successor, successor.best) for successor in evaluations[1:]),
        current_value if end is None else end,
    )
    for evaluation, next_value in zip(evaluations, afters, strict=True):
        step, cost = evaluation.point.step, evaluation.cost(turned(evaluation, next_value))
        options = ranked(evaluation.decision.options)
        values = [option.value for option in options if option.value is not None]
        yield JudgedDecision(
            sequence=step.sequence,
            turn=step.turn,
            seat=evaluation.seat,
            happened=step.description,
            action=evaluation.done.action,
            best=evaluation.option_names[evaluation.decision.action]
            if cost
            else evaluation.done.action,
            reason=evaluation.decision.reason,
            options=tuple(
                StoredOption(
                    action=evaluation.option_names[it.action],
                    value=it.value,
                    note=it.note,
                    unit=it.unit,
                )
                for it in options
            ),
            risk=judge.bust_risk(evaluation.point.position),
            before=turned(evaluation, evaluation.best),
            after=next_value,
            cost=cost,
            luck=next_value - turned(evaluation, evaluation.best - cost),
            stake=max(*values, evaluation.best) - min(*values, evaluation.best - cost),
            mark=severity_of(cost / judge.value_range),
        )


def severity_of(loss_share: float) -> Severity | None:
    """The mark of a decision that costs this share of what is at stake in a match."""
    return next((mark for threshold, mark in SEVERITY_THRESHOLDS if loss_share >= threshold), None)


def _player(decisions: Sequence[JudgedDecision], side: int, luck: float) -> SideStats:
    side_decisions = [decision for decision in decisions if side_of(decision.seat) == side]
    return SideStats(
        accuracy=accuracy(
            sum(decision.cost for decision in side_decisions),
            sum(decision.stake for decision in side_decisions),
        ),
        skill=0.0 - sum(decision.cost for decision in side_decisions),
        luck=luck if side == 0 else -luck,
        decisions=len(side_decisions),
        marks={
            mark: sum(decision.mark is mark for decision in side_decisions) for mark in Severity
        },
    )


def accuracy(value_loss: float, value_range: float) -> float | None:
    """Return the accuracy in per cent: the retained share of the value at stake, squared.

    100 means always the best option, 0 always the worst. The share is squared because random
    decisions already retain half of the value. `value_range` is the sum of the differences
    between best and worst option, so a decision without a real choice does not count. None if
    it is 0.
    """
    return 100.0 * max(0.0, 1.0 - value_loss / value_range) ** 2 if value_range else None


def _curve(
    steps: Iterable[ReplayStep], decisions: Sequence[JudgedDecision]
) -> Iterator[CurvePoint]:
    """Yield the value of the match after each step; without a decision it stays the same."""
    worth, judged = decisions[0].before, {decision.sequence: decision for decision in decisions}
    for step in steps:
        if step.sequence in judged:
            worth = judged[step.sequence].after
        yield CurvePoint(sequence=step.sequence, worth=worth)
