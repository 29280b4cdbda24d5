"""A strategy looked at closely, over positions of real matches: is it right, fair, quick?"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import count, islice
from random import Random
from statistics import fmean
from time import process_time
from typing import Annotated, Any

from cyclopts import Parameter

from workbench.lab.extras import ProbeAnswer, extras_of
from workbench.lab.options import GameName, Player, Positive, Seed
from workbench.lab.plan import DEFAULT_GAME, Plan
from workbench.lab.players import strategy_of
from workbench.lab.runs import hosted, pool_of
from workbench.show.exits import Exit
from workbench.show.options import CommandOptions, Json
from workbench.show.output import plain_table, print_json, results, tell
from workbench.show.progress import Bar
from workbench.strategy_file import is_file


@dataclass(frozen=True, kw_only=True)
class LookOptions(CommandOptions):
    """Over which positions a strategy is looked at."""

    game: GameName = DEFAULT_GAME
    positions: Annotated[int | None, Parameter(alias="-n", validator=Positive)] = None
    """Number of positions with more than one legal action."""
    opponent: str | None = None
    """The opponent in those matches."""
    seed: Seed = 1
    as_json: Json = False

    def plan(self, strategy: str, positions: int) -> Plan:
        """Where the positions come from; `positions` of them where no number was given."""
        second = self.opponent or extras_of(self.game).opponent or strategy
        number = self.positions or positions
        return Plan(game=self.game, first=strategy, second=second, pairs=number, seed=self.seed)


_LOOK = LookOptions()


def met_states(plan: Plan) -> Iterator[Any]:
    """States in which `first` has a choice to make, of one match after the other."""
    simulation = plan.simulation
    own = simulation.sides[0]
    for number in count():
        dice = extras_of(plan.game).dice(plan.seed, number)
        first = strategy_of(plan, plan.first, dice.first)
        second = strategy_of(plan, plan.second, dice.second)
        state = simulation.deal(dice.deal)
        while (seat := simulation.to_act(state)) is not None:
            if seat in own and len(simulation.actions(state)) > 1:
                yield state
            player = first if seat in own else second
            action = player.decide(simulation.position(state)).action
            state = simulation.act(state, action, dice.chance)


def probe(strategy: Player, *, options: LookOptions = _LOOK) -> int:
    """Test positions with a known answer, and positions where hidden cards must not matter.

    Hand-made positions have one right answer each (not every game has such). In
    positions of real matches a new strategy with the same dice must answer alike
    when hidden cards are dealt anew. Exits with 1 where an answer is wrong or
    changes.
    """
    plan = options.plan(strategy, 40)
    simulation, extras = plan.simulation, extras_of(plan.game)
    answers = list(extras.answers(strategy_of(plan, plan.first, extras.dice(1, 0).first)))
    asked = changed = 0
    for state in islice(met_states(plan), plan.pairs):
        other = simulation.disguised(state, Random(asked))
        answered = []
        for seen in (state, other):
            player = strategy_of(plan, plan.first, extras.dice(plan.seed, asked).first)
            answered.append(player.decide(simulation.position(seen)).action)
        asked += 1
        changed += answered[0] != answered[1]
    if options.as_json:
        told = [
            {"name": a.name, "action": a.action, "right": a.is_right, "reason": a.reason}
            for a in answers
        ]
        print_json({"answers": told, "askedTwice": asked, "changed": changed})
    else:
        _print_answers(answers)
        results().print(
            f"{changed} of {asked} answers changed when the same was asked again "
            "with what is hidden dealt anew"
        )
    return Exit.FAILED if changed or not all(one.is_right for one in answers) else Exit.OK


def _print_answers(answers: Sequence[ProbeAnswer]) -> None:
    console = results()
    for answer in answers:
        if not answer.is_right:
            right = " or ".join(answer.right)
            console.print(f"wrong: {answer.name}: {answer.action}, not {right}")
            console.print(f"       {answer.reason}", style="dim")
    if answers:
        right_ones = sum(answer.is_right for answer in answers)
        console.print(f"{right_ones} of {len(answers)} answers are right")


@dataclass(frozen=True, slots=True)
class DecisionTimes:
    """Mean, 95th percentile and maximum of a sample."""

    number: int
    mean: float
    p95: float
    max: float

    @staticmethod
    def of(sample: list[float]) -> "DecisionTimes":
        """The figures of a sample that is not empty."""
        ordered = sorted(sample)
        at = min(len(ordered) - 1, int(0.95 * len(ordered)))
        return DecisionTimes(len(ordered), fmean(ordered), ordered[at], ordered[-1])


@dataclass(frozen=True, slots=True)
class Profile:
    """Milliseconds and, where they can be counted, nodes a decision: of all, and by kind."""

    milliseconds: dict[str, DecisionTimes]
    nodes: dict[str, DecisionTimes]


def profile(strategy: Player, *, options: LookOptions = _LOOK) -> None:
    """Measure processor time and nodes a decision, in one process."""
    plan = options.plan(strategy, 500)
    with Bar(plan.pairs, "deciding") as bar, pool_of(1, apart=is_file(strategy)) as pool:
        alone = None if pool is None else pool.submit(hosted, profiled, plan)
        found = profiled(plan, bar.advance) if alone is None else alone.result()
    headings = ("number", "mean ms", "p95 ms", "max ms", "mean nodes", "max")
    shown = plain_table("decisions", *headings, right=headings)
    for kind, times in found.milliseconds.items():
        nodes = found.nodes.get(kind)
        counts = ("-", "-") if nodes is None else (f"{nodes.mean:,.0f}", f"{nodes.max:,.0f}")
        spent = (f"{figure:.2f}" for figure in (times.mean, times.p95, times.max))
        shown.add_row(kind, str(times.number), *spent, *counts)
    tell(asdict(found), shown, as_json=options.as_json)


def profiled(plan: Plan, tell: Callable[[], None] = lambda: None) -> Profile:
    """The profile of `plan.first` over `plan.pairs` positions that it meets against the second.

    Each is decided by a strategy made anew, as workers do; what it loads once is loaded before.
    """
    extras = extras_of(plan.game)
    strategy_of(plan, plan.first, extras.dice(plan.seed, 0).first)
    times: dict[str, list[float]] = {}
    nodes: dict[str, list[float]] = {}
    for state in islice(met_states(plan), plan.pairs):
        position = plan.simulation.position(state)
        strategy = strategy_of(plan, plan.first, extras.dice(plan.seed, 0).first)
        before = process_time()
        strategy.decide(position)
        spent = 1000 * (process_time() - before)
        counted = extras.nodes(plan.first, position)
        for kind in filter(None, ("all", extras.kind(position))):
            times.setdefault(kind, []).append(spent)
            if counted is not None:
                nodes.setdefault(kind, []).append(counted)
        tell()
    figures = ({k: DecisionTimes.of(v) for k, v in sample.items()} for sample in (times, nodes))
    return Profile(*figures)
