"""A decision that may be sent: in time, legal, not refused before; else a safe one says why not."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from math import isfinite
from numbers import Real
from textwrap import shorten
from typing import Any, Generic, NamedTuple, TypeVar

from cardsharp.strategy import Decision, Option, Strategy
from cardsharp.trying import Unfit, tried

P = TypeVar("P")
A = TypeVar("A")
D_co = TypeVar("D_co", covariant=True)
DA = TypeVar("DA", bound=Decision[Any])

_MAX_LEGAL = 8  # so many legal actions are named where another one was chosen
_MAX_NAME = 60  # characters of a thing that is named in a fault


class Decided(NamedTuple, Generic[D_co]):
    """A decision, how long it took, and what went wrong where a safe one replaced it.

    `trace` are the strategy's lines that led to an error, `printed` is what it printed.
    """

    decision: D_co
    took: timedelta = timedelta(0)
    fault: str | None = None
    trace: str = ""
    printed: str = ""


class Decider(NamedTuple, Generic[P, A, DA]):
    """What a game knows of decisions: which it refuses, and which is safe when none is left.

    `refusal` says why the rules refuse an action in a position, None where they do not; `safe`
    is the action that risks least, those that were refused before coming last; `make` is the
    game's `Decision`, and `kinds` are the types of its actions; `legal` are the actions that the
    rules allow in a position.
    """

    refusal: Callable[[P, A], str | None]
    safe: Callable[[P, frozenset[A]], A]
    make: type[DA]
    kinds: tuple[type, ...]
    legal: Callable[[P], Sequence[A]] | None = None

    def decide(
        self,
        strategy: Strategy[P, DA],
        position: P,
        limit: timedelta | None,
        monotonic: Callable[[], float],
        refused: frozenset[A] = frozenset(),
    ) -> Decided[DA]:
        """The strategy's decision, or the safe one where it is late, fails or would be refused.

        `refused` are the actions that were already turned down in this position. Without a
        `limit` the strategy keeps its own time, and no thread is started for it.
        """

        def work() -> DA:
            return self.fit(position, strategy.decide(position), refused)

        began = monotonic()
        found = tried(work, strategy, limit)
        decision = found.result
        if decision is None:
            decision = self.make(self.safe(position, refused), f"Safe action: {found.fault}.")
        took = timedelta(seconds=monotonic() - began)
        return Decided(decision, took, found.fault, found.trace, found.printed)

    def fit(self, position: P, decision: object, refused: frozenset[A] = frozenset()) -> DA:
        """The decision, if it is one that may be sent; raises `Unfit` with what is wrong."""
        try:
            fit = shaped(decision, self.make, self.kinds)
            fault = self.fault_of(position, fit.action, refused)
        except Unfit as unfit:
            unfit.position = position
            raise
        if fault is not None:
            raise Unfit(fault, position=position)
        return fit

    def fault_of(self, position: P, action: A, refused: frozenset[A] = frozenset()) -> str | None:
        """Return what is wrong with an action and what is legal instead; None for a legal one."""
        if type(action) not in self.kinds:
            return f"the strategy chose {_named(action)}, which is no action{self._legal(position)}"
        if action in refused:
            return f"the server refused '{action}'"
        refusal = self.refusal(position, action)
        return None if refusal is None else f"{refusal}{self._legal(position)}"

    def _legal(self, position: P) -> str:
        names = [] if self.legal is None else list(map(str, self.legal(position)))
        more = ["..."] if len(names) > _MAX_LEGAL else []
        return f"; legal here: {', '.join(names[:_MAX_LEGAL] + more)}" if names else ""


def shaped(decision: object, make: type[DA], kinds: tuple[type, ...] = ()) -> DA:
    """The decision, if it is a `make` that a log can hold, whatever its action; raises `Unfit`.

    `kinds` are the types of the game's actions: one of these alone is a beginner's answer.
    """
    if type(decision) in kinds:
        raise Unfit(
            f"the strategy returned the bare action '{decision}'; let decide end with "
            '`return Decision(action, "why")`'
        )
    if not isinstance(decision, make):
        raise Unfit(
            f"the strategy returned {_named(decision)}, which is no Decision; let decide end "
            'with `return Decision(action, "why")`'
        )
    if not isinstance(decision.reason, str):
        raise Unfit(f"the reason of its decision is {_named(decision.reason)}, no text")
    if not isinstance(decision.options, tuple):
        told = _named(decision.options)
        raise Unfit(f"the options of its decision are {told}, no tuple of Option")
    for option in decision.options:
        if not isinstance(option, Option):
            raise Unfit(f"an option of its decision is {_named(option)}, which is no Option")
        value = option.value
        if value is not None and not (isinstance(value, Real) and isfinite(value)):
            raise Unfit(f"the value of an option is {_named(value)}, no finite number")
    return decision


def _named(thing: object) -> str:
    """A thing and its type, such as `5 (int)`; None and what has no text are named alone."""
    kind, text = type(thing).__name__, "" if thing is None else repr(thing)
    if thing is None or " at 0x" in text:  # an address is another one each time
        return "None" if thing is None else f"a {kind}"
    cut = shorten(text, _MAX_NAME, placeholder=" ...")
    return f"{text[:_MAX_NAME] if cut == ' ...' else cut} ({kind})"


def intent_body(
    decided: Decided[Decision[A]],
    at: datetime,
    worker: str,
    strategy: str,
    named: Callable[[A], str] = str,
) -> dict[str, object]:
    """What a game's log says of a decision before it is sent; `named` names its actions."""
    decision = decided.decision
    heard = {"trace": decided.trace, "printed": decided.printed}
    return {
        "action": named(decision.action),
        "reason": decision.reason,
        "options": [
            {
                "action": named(option.action),
                "value": option.value,
                "note": option.note,
                **({"unit": option.unit} if option.unit else {}),
            }
            for option in decision.options
        ],
        "strategy": strategy,
        "fault": decided.fault,
        "decidedAt": at.isoformat(),
        "decisionMs": round(decided.took / timedelta(milliseconds=1), 3),
        "worker": worker,
        **{name: text for name, text in heard.items() if text},
    }
