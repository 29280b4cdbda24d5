"""One decision: the strategy's, or a safe one that says why it is not."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from cardsharp.euchre.fallback import safe_choice
from cardsharp.euchre.strategies import Decision, Strategy
from cardsharp.euchre.view import View


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision, how long it took, and what went wrong where a safe answer replaced it."""

    decision: Decision
    took: timedelta = timedelta(0)
    fault: str | None = None


def decide(strategy: Strategy, view: View, monotonic: Callable[[], float]) -> Decided:
    """The strategy's decision, or the safe answer where it fails or is not allowed."""
    began = monotonic()
    try:
        decision, fault = strategy.decide(view), None
    except Exception as error:  # noqa: BLE001 - a strategy is anybody's code; the deal must go on
        fault = f"the strategy failed: {type(error).__name__}: {error}"
    else:
        if decision.action not in view.choices:
            fault = f"the strategy may not {decision.action}"
    if fault is not None:
        decision = Decision(safe_choice(view), f"Safe answer: {fault}.")
    return Decided(decision, timedelta(seconds=monotonic() - began), fault)
