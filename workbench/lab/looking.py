"""A strategy looked at closely, over positions of real matches: is it right, fair, quick?"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from random import Random
from statistics import fmean
from time import process_time
from typing import Any

from workbench.lab.extras import ProbeAnswer, extras_of
from workbench.lab.plan import Plan
from workbench.lab.players import strategy_of


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


@dataclass(frozen=True, slots=True)
class LabProbed:
    """Answers to hand-made positions, and how many `changed` when nothing was known anew."""

    answers: tuple[ProbeAnswer, ...]
    asked: int
    changed: int

    @property
    def is_right(self) -> bool:
        """Whether nothing was found."""
        return all(one.is_right for one in self.answers) and not self.changed


def probe(plan: Plan) -> LabProbed:
    """What is found of `plan.first` in the hand-made positions and in `plan.pairs` real ones."""
    simulation, extras = plan.simulation, extras_of(plan.game)
    answers = tuple(extras.answers(strategy_of(plan, plan.first, extras.dice(1, 0).first)))
    asked = changed = 0
    for state in islice(met_states(plan), plan.pairs):
        other = simulation.disguised(state, Random(asked))
        answered = []
        for seen in (state, other):
            player = strategy_of(plan, plan.first, extras.dice(plan.seed, asked).first)
            answered.append(player.decide(simulation.position(seen)).action)
        asked += 1
        changed += answered[0] != answered[1]
    return LabProbed(answers, asked, changed)


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


ALL = "all"


def profile(plan: Plan, tell: Callable[[], None] = lambda: None) -> Profile:
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
        for kind in filter(None, (ALL, extras.kind(position))):
            times.setdefault(kind, []).append(spent)
            if counted is not None:
                nodes.setdefault(kind, []).append(counted)
        tell()
    figures = ({k: DecisionTimes.of(v) for k, v in sample.items()} for sample in (times, nodes))
    return Profile(*figures)
