"""What a decision costs: processor time and nodes over real positions."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from statistics import fmean
from time import process_time

from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies.captain import WEIGHTS
from workbench.lab import native
from workbench.lab.dice import Dice
from workbench.lab.players import player
from workbench.lab.positions import met_positions


@dataclass(frozen=True, slots=True)
class Figures:
    """Mean, 95th percentile and maximum of a sample."""

    number: int
    mean: float
    p95: float
    most: float

    @staticmethod
    def of(sample: list[float]) -> "Figures":
        """The figures of a sample that is not empty."""
        ordered = sorted(sample)
        at = min(len(ordered) - 1, int(0.95 * len(ordered)))
        return Figures(len(ordered), fmean(ordered), ordered[at], ordered[-1])


@dataclass(frozen=True, slots=True)
class Profile:
    """Milliseconds and nodes a decision, over all of them and by what had to be decided.

    `nodes` is empty but for the captain.
    """

    milliseconds: dict[str, Figures]
    nodes: dict[str, Figures]


ALL = "all"


def profile(name: str, opponent: str, number: int, seed: int, tell: Callable[[], None]) -> Profile:
    """The profile of `name` over so many of the positions that it meets against `opponent`.

    Each decision is timed on a strategy made anew, as a worker makes it for every turn; the
    weights are loaded before.
    """
    make = player(name)
    make(Dice(seed))
    times: dict[str, list[float]] = {}
    nodes: dict[str, list[float]] = {}
    for position in islice(met_positions(name, opponent, seed), number):
        strategy = make(Dice(seed))
        before = process_time()
        strategy.decide(position)
        spent = 1000 * (process_time() - before)
        counted = nodes_of(name, position)
        for kind in (ALL, _kind(position)):
            times.setdefault(kind, []).append(spent)
            if counted is not None:
                nodes.setdefault(kind, []).append(counted)
        tell()
    figures = ({k: Figures.of(v) for k, v in sample.items()} for sample in (times, nodes))
    return Profile(*figures)


def nodes_of(name: str, position: Position) -> int | None:
    """The leaves that the captain values there, by its compiled twin; None for anybody else."""
    engine = native.load()
    if engine is None or name != WEIGHTS:
        return None
    return engine.weigh(engine.policy(name), position)[1]


def _kind(position: Position) -> str:
    return "draw or stop" if position.pending is None else position.pending.effect_type.value
