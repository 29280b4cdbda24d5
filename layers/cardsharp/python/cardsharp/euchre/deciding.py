"""One decision: the strategy's, or a safe one that says why it is not."""

from collections.abc import Callable
from datetime import timedelta

from cardsharp.euchre.fallback import safe_choice
from cardsharp.euchre.strategies import Decision, Strategy
from cardsharp.euchre.view import View
from cardsharp.promptly import Decided, broken


def decide(strategy: Strategy, view: View, monotonic: Callable[[], float]) -> Decided[Decision]:
    """The strategy's decision, or the safe answer where it fails or is not allowed."""
    began = monotonic()
    try:
        decision, fault = strategy.decide(view), None
    except Exception as error:  # noqa: BLE001 - a strategy is anybody's code; the deal must go on
        fault = broken(error)
    else:
        if decision.action not in view.choices:
            fault = f"the strategy may not {decision.action}"
    if fault is not None:
        decision = Decision(safe_choice(view), f"Safe answer: {fault}.")
    return Decided(decision, timedelta(seconds=monotonic() - began), fault)
