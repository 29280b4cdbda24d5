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
from typing import Any, NamedTuple

from cardsharp.analysis.judge import TIMED_OUT, Judge, load_analysis_functions
from cardsharp.analysis.judged_match import (
    SIDE_COUNT,
    CurvePoint,
    JudgedDecision,
    MatchAnalysis,
    Severity,
    SideStats,
    accuracy,
    severity_of,
    side_of,
)
from cardsharp.analysis.replay import (
    DecisionPoint,
    Header,
    ReplayStep,
    StoredDecision,
    StoredOption,
)
from cardsharp.errors import ConfigError
from cardsharp.play.game import Game
from cardsharp.play.strategy import Decision, ranked
from cardsharp.store.match_log import MatchRecord, MoveRecord


def side_names(analysis: MatchAnalysis, header: Header) -> tuple[str, str]:
    """Return the names of the two sides.

    If our bot took a seat at a service, the header has only our name and not the seat, so the
    seat is inferred from the decisions that the log has reasons of.
    """
    if len(header.names or header.players) < SIDE_COUNT and len(analysis.reasoned) == 1:
        our_name, opponent_name = header.player_name(0), header.opponent or "opponent"
        return (our_name, opponent_name) if analysis.reasoned == (0,) else (opponent_name, our_name)
    names_by_side: list[list[str]] = [[], []]
    for seat in range(max(len(header.names), len(header.players), SIDE_COUNT)):
        names_by_side[side_of(seat)].append(header.strategy_or_player_name(seat))
    first_side, second_side = (" and ".join(dict.fromkeys(names)) for names in names_by_side)
    return first_side, second_side


def our_sides(analysis: MatchAnalysis, header: Header) -> set[int]:
    """Return our sides: those of the header, else those whose reasons the log has."""
    return {side_of(seat) for seat in header.seats} or {*analysis.reasoned}


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
    judge, replay, decisions_of = load_analysis_functions(game)
    result = judge.first_side_result(record, moves)
    points = [*decisions_of(record, moves), *judge.timeout_positions(moves)]
    points.sort(key=lambda point: point.step.sequence)
    weighed = [_evaluate_decision_point(judge, point) for point in progress(points)]
    evaluations = [evaluation for evaluation in weighed if evaluation is not None]
    if not evaluations:
        raise ConfigError(f"Match {record.match_id} has no decision that {judge.name} can judge.")
    decisions = tuple(_judge_decisions(judge, evaluations, result))
    changed, estimated_luck = (
        sum(decision.luck for decision in decisions),
        judge.estimate_first_side_luck(record, moves),
    )
    luck = changed if estimated_luck is None or judge.luck_includes_deal else estimated_luck
    first_stats, second_stats = (
        _compute_side_stats(decisions, side, luck) for side in range(SIDE_COUNT)
    )
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
        chance=estimated_luck,
        players=(first_stats, second_stats),
        counts=judge.event_counts_by_side(moves),
        reasoned=tuple(
            sorted(
                {
                    side_of(evaluation.seat)
                    for evaluation in evaluations
                    if evaluation.logged_decision.strategy
                }
            )
        ),
        curve=tuple(_compute_value_curve(replay(record, moves), decisions)),
        decisions=decisions,
    )


class _EvaluatedDecision(NamedTuple):
    """Evaluated decision, before its consequences are known.

    Values belong to the deciding player. `chosen` is None for a timeout. `option_names` maps each
    action to its text in the log.
    """

    point: DecisionPoint
    logged_decision: StoredDecision
    seat: int
    decision: Decision[Any]
    option_names: Mapping[Any, str]
    best: float
    chosen: float | None

    def choice_cost(self, value_if_timed_out: float) -> float:
        """Return the cost of the choice for the deciding player.

        A timeout costs everything that was lost until the next decision: `best` less
        `value_if_timed_out`, the value at that decision.
        """
        return max(0.0, self.best - (value_if_timed_out if self.chosen is None else self.chosen))


def _evaluate_decision_point(judge: Judge, point: DecisionPoint) -> _EvaluatedDecision | None:
    """Return the judge's evaluation of a decision; None if it cannot value the chosen action."""
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
    return _EvaluatedDecision(
        point,
        done,
        seat,
        decision,
        option_names,
        best if chosen is None else max(best, chosen),
        chosen,
    )


def _judge_decisions(
    judge: Judge, evaluations: Sequence[_EvaluatedDecision], result: float | None
) -> Iterator[JudgedDecision]:
    """Yield each decision, judged by the value that follows it.

    The value after a decision is that before the next one. After the last decision it is
    `result`, or that decision's own value while the match still runs.
    """
    *_, last_evaluation = evaluations
    current_value = (
        last_evaluation.best if last_evaluation.chosen is None else last_evaluation.chosen
    )
    afters = (
        *(_to_first_side_value(judge, later, later.best) for later in evaluations[1:]),
        _to_first_side_value(judge, last_evaluation, current_value) if result is None else result,
    )
    for evaluation, next_value in zip(evaluations, afters, strict=True):
        yield _judge_decision(judge, evaluation, next_value)


def _to_first_side_value(judge: Judge, evaluation: _EvaluatedDecision, value: float) -> float:
    """Convert a value for the deciding player into one for the first side, or back."""
    return value if side_of(evaluation.seat) == 0 else judge.value_sum - value


def _judge_decision(
    judge: Judge, evaluation: _EvaluatedDecision, next_value: float
) -> JudgedDecision:
    """Return a decision with its cost and luck.

    `next_value` is the first side's value after the decision.
    """
    step, decision = evaluation.point.step, evaluation.decision
    cost = evaluation.choice_cost(_to_first_side_value(judge, evaluation, next_value))
    value_after_cost = _to_first_side_value(judge, evaluation, evaluation.best - cost)
    options = ranked(decision.options)
    values = [option.value for option in options if option.value is not None]
    best_name = evaluation.option_names[decision.action]
    return JudgedDecision(
        sequence=step.sequence,
        turn=step.turn,
        seat=evaluation.seat,
        happened=step.description,
        action=evaluation.logged_decision.action,
        best=best_name if cost else evaluation.logged_decision.action,
        reason=decision.reason,
        options=tuple(
            StoredOption(
                action=evaluation.option_names[option.action],
                value=option.value,
                note=option.note,
                unit=option.unit,
            )
            for option in options
        ),
        risk=judge.bust_risk(evaluation.point.position),
        before=_to_first_side_value(judge, evaluation, evaluation.best),
        after=next_value,
        cost=cost,
        # Costs and luck must add up to the result exactly. Therefore luck is defined as the rest:
        # the change of value that the cost of the decision does not explain.
        luck=next_value - value_after_cost,
        stake=max(*values, evaluation.best) - min(*values, evaluation.best - cost),
        mark=severity_of(cost / judge.value_range),
    )


def _compute_side_stats(decisions: Sequence[JudgedDecision], side: int, luck: float) -> SideStats:
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
            severity: sum(decision.mark is severity for decision in side_decisions)
            for severity in Severity
        },
    )


def _compute_value_curve(
    steps: Iterable[ReplayStep], decisions: Sequence[JudgedDecision]
) -> Iterator[CurvePoint]:
    """Yield the value of the match after each step; without a decision it stays the same."""
    worth, judged = decisions[0].before, {decision.sequence: decision for decision in decisions}
    for step in steps:
        if step.sequence in judged:
            worth = judged[step.sequence].after
        yield CurvePoint(sequence=step.sequence, worth=worth)
