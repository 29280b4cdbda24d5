"""Series of matches by the compiled engine: what `play_series` of the lab is in plain Python."""

from collections.abc import Sequence

from research.deadmansdraw.engine import Result as Compiled
from research.deadmansdraw.engine import load, twin
from workbench.lab.plan import Plan
from workbench.lab.results import Luck, Pair, Result


def play_compiled(plan: Plan, numbers: Sequence[int]) -> list[Pair]:
    """The consecutive pairs of one series, in whichever process it is called."""
    engine, first, second = load(), twin(plan.first), twin(plan.second)
    if engine is None or first is None or second is None:
        raise RuntimeError("The compiled engine is there no more; use --plain.")
    played = engine.play((first, second), plan.seed, numbers, less_luck=plan.less_luck)
    told = plan.less_luck
    return [(_result(there, told=told), _result(back, told=told)) for there, back in played]


def _result(match: Compiled, *, told: bool) -> Result:
    counts = ("scores", "turns", "actions", "busts")
    luck = Luck(match.again, match.luck) if told else None
    return Result(match.points, {name: tuple(getattr(match, name)) for name in counts}, luck=luck)
