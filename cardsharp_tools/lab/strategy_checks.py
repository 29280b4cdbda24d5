"""Checks of one strategy over positions of real matches: correctness, fairness, speed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from random import Random
from statistics import fmean
from time import process_time
from typing import Annotated, Any

from cyclopts import Parameter

from cardsharp_tools.cli.console import (
    borderless_table,
    print_json,
    print_json_or_lines,
    result_console,
)
from cardsharp_tools.cli.exit_codes import ExitCode
from cardsharp_tools.cli.options import CommandOptions, GameName, Json, Positive
from cardsharp_tools.cli.strategy_option import OptionalStrategy, UserCodeOptions
from cardsharp_tools.executors.strategy_reference import BuiltIn, FileReference, StrategyReference
from cardsharp_tools.lab.game_adapter import ProbeAnswer, lab_adapter
from cardsharp_tools.lab.options import Player, Seed
from cardsharp_tools.lab.plan import DEFAULT_GAME, DuelPlan
from cardsharp_tools.lab.players import build_player
from cardsharp_tools.lab.runner import make_executor, submit_worker_task
from cardsharp_tools.terminal.progress import ProgressBar


@dataclass(frozen=True, kw_only=True)
class PositionOptions(CommandOptions):
    """Options that select the positions on which a strategy is examined."""

    game: GameName = DEFAULT_GAME
    positions: Annotated[int | None, Parameter(alias="-n", validator=Positive)] = None
    """Number of positions with more than one legal action."""
    opponent: OptionalStrategy = None
    """Opponent in the matches of the positions."""
    seed: Seed = 1
    user_code: UserCodeOptions = field(default_factory=UserCodeOptions)
    as_json: Json = False

    def build_duel_plan(self, strategy: StrategyReference, default_position_count: int) -> DuelPlan:
        """Return the plan of a duel whose matches yield the positions.

        `default_position_count` is the number of positions if the options name none.
        """
        default_name = lab_adapter(self.game).default_opponent
        default_opponent = strategy if default_name is None else BuiltIn(default_name)
        position_count = self.positions or default_position_count
        return DuelPlan(
            game=self.game,
            first=strategy,
            second=self.opponent or default_opponent,
            pairs=position_count,
            seed=self.seed,
        )


_DEFAULT_POSITION_OPTIONS = PositionOptions()


def states_with_choice(plan: DuelPlan) -> Iterator[Any]:
    """Yield the states in which `plan.first` has a choice to make, match by match."""
    simulation = plan.simulation
    seats = simulation.sides[0]
    for pair_number in count():
        dice = lab_adapter(plan.game).rngs_of_pair(plan.seed, pair_number)
        first_player = build_player(plan, plan.first, dice.first)
        second_player = build_player(plan, plan.second, dice.second)
        state = simulation.initial_state(dice.deal)
        while (seat := simulation.current_seat(state)) is not None:
            if seat in seats and len(simulation.legal_actions(state)) > 1:
                yield state
            player = first_player if seat in seats else second_player
            action = player.decide(simulation.current_position(state)).action
            state = simulation.apply_action(state, action, dice.chance)


def print_probe_results(
    strategy: Player, *, options: PositionOptions = _DEFAULT_POSITION_OPTIONS
) -> int:
    """Test positions with a known answer, and positions where hidden cards must not matter.

    Some games have hand-made positions, each with one correct answer. In
    positions of real matches the strategy must give the same answer when the
    hidden cards are dealt again; it is built anew with the same random numbers.
    Exits with 1 if an answer is wrong or changes.
    """
    plan = options.build_duel_plan(strategy, 40)
    simulation, extras = plan.simulation, lab_adapter(plan.game)
    answers = list(
        extras.probe_answers(build_player(plan, plan.first, extras.rngs_of_pair(1, 0).first))
    )
    position_count = changed = 0
    for state in islice(states_with_choice(plan), plan.pairs):
        resampled_state = simulation.resample_hidden(state, Random(position_count))
        answered = []
        for compared_state in (state, resampled_state):
            player = build_player(
                plan, plan.first, extras.rngs_of_pair(plan.seed, position_count).first
            )
            answered.append(player.decide(simulation.current_position(compared_state)).action)
        position_count += 1
        changed += answered[0] != answered[1]
    if options.as_json:
        documents = [
            {"name": a.name, "action": a.action, "right": a.is_correct, "reason": a.reason}
            for a in answers
        ]
        print_json({"answers": documents, "askedTwice": position_count, "changed": changed})
    else:
        _print_answers(answers)
        result_console().print(
            f"{changed} of {position_count} answers changed when the hidden cards were dealt again"
        )
    return (
        ExitCode.FAILED
        if changed or not all(answer.is_correct for answer in answers)
        else ExitCode.OK
    )


def _print_answers(answers: Sequence[ProbeAnswer]) -> None:
    console = result_console()
    for answer in answers:
        if not answer.is_correct:
            right = " or ".join(answer.correct_actions)
            console.print(f"wrong: {answer.name}: {answer.action}, not {right}")
            console.print(f"       {answer.reason}", style="dim")
    if answers:
        right_ones = sum(answer.is_correct for answer in answers)
        console.print(f"{right_ones} of {len(answers)} answers are right")


@dataclass(frozen=True, slots=True)
class DistributionSummary:
    """Mean, 95th percentile, maximum and number of the values of a sample."""

    count: int
    mean: float
    p95: float
    max: float

    @staticmethod
    def from_sample(sample: list[float]) -> "DistributionSummary":
        """Return the statistics of a sample, which must not be empty."""
        ordered = sorted(sample)
        at = min(len(ordered) - 1, int(0.95 * len(ordered)))
        return DistributionSummary(len(ordered), fmean(ordered), ordered[at], ordered[-1])


@dataclass(frozen=True, slots=True)
class DecisionProfile:
    """Milliseconds and, if countable, search nodes of decisions: overall and by kind."""

    milliseconds: dict[str, DistributionSummary]
    nodes: dict[str, DistributionSummary]


def print_decision_profile(
    strategy: Player, *, options: PositionOptions = _DEFAULT_POSITION_OPTIONS
) -> None:
    """Measure processor time and nodes of a decision, in one process."""
    plan = options.build_duel_plan(strategy, 500)
    with (
        ProgressBar(plan.pairs, "deciding") as bar,
        make_executor(1, isolate_strategies=isinstance(strategy, FileReference)) as pool,
    ):
        alone = (
            None
            if pool is None
            else submit_worker_task(pool, measure_decision_time_and_nodes, plan)
        )
        measured = (
            measure_decision_time_and_nodes(plan, bar.advance) if alone is None else alone.result()
        )
    headings = ("number", "mean ms", "p95 ms", "max ms", "mean nodes", "max")
    table = borderless_table("decisions", *headings, right_aligned=headings)
    for kind, times in measured.milliseconds.items():
        nodes = measured.nodes.get(kind)
        counts = ("-", "-") if nodes is None else (f"{nodes.mean:,.0f}", f"{nodes.max:,.0f}")
        spent = (f"{milliseconds:.2f}" for milliseconds in (times.mean, times.p95, times.max))
        table.add_row(kind, str(times.count), *spent, *counts)
    document = {
        measure: {
            kind: {"number": stats.count, "mean": stats.mean, "p95": stats.p95, "max": stats.max}
            for kind, stats in times.items()
        }
        for measure, times in (("milliseconds", measured.milliseconds), ("nodes", measured.nodes))
    }
    print_json_or_lines(document, table, as_json=options.as_json)


def measure_decision_time_and_nodes(
    plan: DuelPlan, on_progress: Callable[[], None] = lambda: None
) -> DecisionProfile:
    """Measure the decisions of `plan.first` in `plan.pairs` positions that it meets.

    Each decision is made by a strategy that is built anew, as workers do it. Whatever a strategy
    loads once per process is loaded before the measurement.
    """
    extras = lab_adapter(plan.game)
    build_player(plan, plan.first, extras.rngs_of_pair(plan.seed, 0).first)
    times: dict[str, list[float]] = {}
    nodes: dict[str, list[float]] = {}
    for state in islice(states_with_choice(plan), plan.pairs):
        position = plan.simulation.current_position(state)
        strategy = build_player(plan, plan.first, extras.rngs_of_pair(plan.seed, 0).first)
        start = process_time()
        strategy.decide(position)
        spent = 1000 * (process_time() - start)
        counted = extras.count_evaluated_leaves(plan.first, position)
        for kind in filter(None, ("all", extras.decision_kind(position))):
            times.setdefault(kind, []).append(spent)
            if counted is not None:
                nodes.setdefault(kind, []).append(counted)
        on_progress()
    summaries = (
        {k: DistributionSummary.from_sample(v) for k, v in sample.items()}
        for sample in (times, nodes)
    )
    return DecisionProfile(*summaries)
