"""Running a strategy's decision: in time and legal, else replaced by a fallback action."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from math import isfinite
from numbers import Real
from textwrap import shorten
from typing import Any, Generic, NamedTuple, TypeVar

from cardsharp.play.guarded_call import InvalidDecision, call_guarded
from cardsharp.play.strategy import Decision, Option, Strategy

P = TypeVar("P")
A = TypeVar("A")
D_co = TypeVar("D_co", covariant=True)
DA = TypeVar("DA", bound=Decision[Any])

_MAX_LISTED_ACTIONS = 8  # legal actions that an error message lists at most
_MAX_VALUE_CHARS = 60  # characters of a returned value that an error message shows


class DecisionResult(NamedTuple, Generic[D_co]):
    """Result of running a decision, with its duration and the error if a fallback replaced it.

    `traceback` has the strategy's lines that led to the error. `stdout` is what the strategy
    printed.
    """

    decision: D_co
    duration: timedelta = timedelta(0)
    error: str | None = None
    traceback: str = ""
    stdout: str = ""


class DecisionRunner(NamedTuple, Generic[P, A, DA]):
    """Runner of a game's decisions: it replaces a late, failed or illegal one by a fallback.

    `illegal_reason` returns why an action is illegal in a position, None if it is legal.
    `fallback_action` returns the least risky action; rejected actions come last. `decision_type` is
    the game's `Decision`, and `action_types` are the types of its actions. `legal` returns the
    legal actions of a position.
    """

    illegal_reason: Callable[[P, A], str | None]
    fallback_action: Callable[[P, frozenset[A]], A]
    decision_type: type[DA]
    action_types: tuple[type, ...]
    legal: Callable[[P], Sequence[A]] | None = None

    def decide(
        self,
        strategy: Strategy[P, DA],
        position: P,
        timeout: timedelta | None,
        monotonic: Callable[[], float],
        rejected_actions: frozenset[A] = frozenset(),
    ) -> DecisionResult[DA]:
        """Return the strategy's decision, or a fallback if it is late, fails or is illegal.

        `rejected_actions` are the actions that were already rejected in this position. Without
        a `timeout` the strategy is called directly, without a thread.
        """

        def work() -> DA:
            return self.validate(position, strategy.decide(position), rejected_actions)

        # The check of the result runs inside the guarded call: an object that a strategy returns
        # may run its own code when it is compared or printed, and that code may fail or hang, too.
        began = monotonic()
        call_result = call_guarded(work, strategy, timeout)
        decision = call_result.result
        if decision is None:
            decision = self.decision_type(
                self.fallback_action(position, rejected_actions),
                f"Safe action: {call_result.error}.",
            )
        took = timedelta(seconds=monotonic() - began)
        return DecisionResult(
            decision, took, call_result.error, call_result.traceback, call_result.stdout
        )

    def validate(
        self, position: P, decision: object, rejected_actions: frozenset[A] = frozenset()
    ) -> DA:
        """Return the decision if it may be sent; raise `InvalidDecision` otherwise."""
        try:
            fit = validate_decision_type(decision, self.decision_type, self.action_types)
            fault = self.fault_of(position, fit.action, rejected_actions)
        except InvalidDecision as unfit:
            unfit.position = position
            raise
        if fault is not None:
            raise InvalidDecision(fault, position=position)
        return fit

    def fault_of(
        self, position: P, action: A, rejected_actions: frozenset[A] = frozenset()
    ) -> str | None:
        """Return why an action cannot be sent and what is legal instead.

        None for a legal action.
        """
        if type(action) not in self.action_types:
            return (
                f"the strategy chose {_describe_value(action)}, which is no "
                f"action{self._legal_hint(position)}"
            )
        if action in rejected_actions:
            return f"the server refused '{action}'"
        refusal = self.illegal_reason(position, action)
        return None if refusal is None else f"{refusal}{self._legal_hint(position)}"

    def _legal_hint(self, position: P) -> str:
        names = [] if self.legal is None else list(map(str, self.legal(position)))
        more = ["..."] if len(names) > _MAX_LISTED_ACTIONS else []
        return f"; legal here: {', '.join(names[:_MAX_LISTED_ACTIONS] + more)}" if names else ""


def validate_decision_type(
    decision: object, decision_type: type[DA], kinds: tuple[type, ...] = ()
) -> DA:
    """Return the decision if it is a `decision_type` that a log can store.

    The action itself is not checked. `kinds` are the types of the game's actions: beginners often
    return a bare action, and that error has its own message. Raises `InvalidDecision` if the
    decision cannot be stored.
    """
    if type(decision) in kinds:
        raise InvalidDecision(
            f"the strategy returned the bare action '{decision}'; let decide end with "
            '`return Decision(action, "why")`'
        )
    if not isinstance(decision, decision_type):
        raise InvalidDecision(
            f"the strategy returned {_describe_value(decision)}, which is no Decision; "
            "let decide end "
            'with `return Decision(action, "why")`'
        )
    if not isinstance(decision.reason, str):
        raise InvalidDecision(
            f"the reason of its decision is {_describe_value(decision.reason)}, no text"
        )
    if not isinstance(decision.options, tuple):
        description = _describe_value(decision.options)
        raise InvalidDecision(f"the options of its decision are {description}, no tuple of Option")
    for option in decision.options:
        if not isinstance(option, Option):
            raise InvalidDecision(
                f"an option of its decision is {_describe_value(option)}, which is no Option"
            )
        value = option.value
        if value is not None and not (isinstance(value, Real) and isfinite(value)):
            raise InvalidDecision(
                f"the value of an option is {_describe_value(value)}, no finite number"
            )
    return decision


def _describe_value(value: object) -> str:
    """Return a value and its type, such as `5 (int)`.

    For None it is only "None". A value whose text is only an address in memory is described
    by its type.
    """
    kind, value_repr = type(value).__name__, "" if value is None else repr(value)
    if value is None or " at 0x" in value_repr:  # an address differs in each run
        return "None" if value is None else f"a {kind}"
    cut = shorten(value_repr, _MAX_VALUE_CHARS, placeholder=" ...")
    return f"{value_repr[:_MAX_VALUE_CHARS] if cut == ' ...' else cut} ({kind})"


def intent_body(
    result: DecisionResult[Decision[A]],
    decided_at: datetime,
    worker: str,
    strategy: str,
    action_name: Callable[[A], str] = str,
) -> dict[str, object]:
    """Return the log entry of a decision, written before the action is sent.

    `action_name` returns the log's text of an action.
    """
    decision = result.decision
    heard = {"trace": result.traceback, "printed": result.stdout}
    return {
        "action": action_name(decision.action),
        "reason": decision.reason,
        "options": [
            {
                "action": action_name(option.action),
                "value": option.value,
                "note": option.note,
                **({"unit": option.unit} if option.unit else {}),
            }
            for option in decision.options
        ],
        "strategy": strategy,
        "fault": result.error,
        "decidedAt": decided_at.isoformat(),
        "decisionMs": round(result.duration / timedelta(milliseconds=1), 3),
        "worker": worker,
        **{name: text for name, text in heard.items() if text},
    }
