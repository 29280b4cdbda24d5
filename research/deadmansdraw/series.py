"""Series of matches by the compiled engine: what `play_series` of the lab is in plain Python."""

from collections.abc import Sequence

from research.deadmansdraw.engine import Result as Compiled
from research.deadmansdraw.engine import load, twin
from workbench.lab.plan import Plan
from workbench.lab.results import Pair, Result


def play_compiled(plan: Plan, numbers: Sequence[int]) -> list[Pair]:
    """The consecutive pairs of one series, in whichever process it is called."""
    engine, first, second = load(), twin(plan.first), twin(plan.second)
    if engine is None or first is None or second is None:
        raise RuntimeError("The compiled engine is there no more; use --plain.")
    played = engine.play((first, second), plan.seed, numbers, len(numbers))
    return [(_result(there), _result(back)) for there, back in played]


def _result(match: Compiled) -> Result:
    counts = ("scores", "turns", "actions", "busts")
    return Result(match.points, {name: tuple(getattr(match, name)) for name in counts})
