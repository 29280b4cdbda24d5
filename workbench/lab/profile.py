"""What a decision costs: processor time and nodes over real positions."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from statistics import fmean
from time import process_time

from workbench.lab.extras import extras_of
from workbench.lab.plan import Plan
from workbench.lab.players import strategy_of
from workbench.lab.positions import met_states


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
    """Milliseconds and nodes a decision, over all of them and by what had to be decided.

    `nodes` is empty but where a strategy's search can be counted.
    """

    milliseconds: dict[str, DecisionTimes]
    nodes: dict[str, DecisionTimes]


ALL = "all"


def profile(plan: Plan, tell: Callable[[], None] = lambda: None) -> Profile:
    """The profile of `plan.first` over `plan.pairs` positions that it meets against the second.

    Each decision is timed on a strategy made anew, as a worker makes it for every turn; what a
    strategy loads once is loaded before.
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
        for kind in filter(None, (ALL, extras.kind(position))):
            times.setdefault(kind, []).append(spent)
            if counted is not None:
                nodes.setdefault(kind, []).append(counted)
        tell()
    figures = ({k: DecisionTimes.of(v) for k, v in sample.items()} for sample in (times, nodes))
    return Profile(*figures)
