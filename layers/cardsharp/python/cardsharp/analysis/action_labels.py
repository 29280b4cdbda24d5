"""Names of actions for people: those of the table in place of those in the log.

A log keeps an action by a fixed name, such as "EndTurn", by which programs find it again. A page
or a terminal shows the name that the action has at the table, such as "bank".
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from cardsharp.analysis.replay import StoredDecision, StoredOption
from cardsharp.play.game import Game

if TYPE_CHECKING:  # its models are slow to build, and a match is also shown without an analysis
    from cardsharp.analysis.judged_match import JudgedDecision, MatchAnalysis

LabelAction = Callable[[str], str]
"""Function that returns the name of an action at the table from its name in the log."""


def action_labels(game: Game) -> LabelAction:
    """Return the function that names the actions of a game for people."""
    return str if game.label_action is None else game.label_action.load()


def label_decision(decision: StoredDecision, label: LabelAction) -> StoredDecision:
    """Return a decision of the log with the names of the table, and its reason without them."""
    return decision.model_copy(
        update={
            "action": label(decision.action),
            "reason": decision.reason_without_action,
            "options": _label_options(decision.options, label),
        }
    )


def label_analysis(analysis: "MatchAnalysis", label: LabelAction) -> "MatchAnalysis":
    """Return an analysis whose decisions have the names of the table."""
    decisions = tuple(_label_judged(decision, label) for decision in analysis.decisions)
    return analysis.model_copy(update={"decisions": decisions})


def _label_judged(decision: "JudgedDecision", label: LabelAction) -> "JudgedDecision":
    return decision.model_copy(
        update={
            "action": label(decision.action),
            "best": label(decision.best),
            "options": _label_options(decision.options, label),
        }
    )


def _label_options(options: Iterable[StoredOption], label: LabelAction) -> tuple[StoredOption, ...]:
    return tuple(option.model_copy(update={"action": label(option.action)}) for option in options)
