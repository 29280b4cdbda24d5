"""Games and strategies: how a game describes itself, and how a strategy decides in time.

Look first at `Game`, the description of a game, `get_game`, which finds it by its name, and
`Strategy` with its `Decision`. `DecisionRunner` has a strategy decide within a time limit and
supplies the fallback action if it fails. `Simulation` plays a whole match in one process.
"""

from typing import TYPE_CHECKING

from cardsharp.core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from cardsharp.play.catalog import all_games, get_game, invocation_context
    from cardsharp.play.decision_runner import DecisionResult, DecisionRunner, intent_body
    from cardsharp.play.encoding import Encoding
    from cardsharp.play.game import Game, InvocationContext, JoinableMatch, LazyImport
    from cardsharp.play.guarded_call import GuardedResult, InvalidDecision, call_guarded
    from cardsharp.play.hosted_rules import HostedRules, TextRenderer
    from cardsharp.play.simulation import RatioStat, Simulation
    from cardsharp.play.strategy import Decision, Option, Strategy, format_percent, ranked
    from cardsharp.play.strategy_registry import StrategyRegistry, registry_for

__all__ = (
    "Decision",
    "DecisionResult",
    "DecisionRunner",
    "Encoding",
    "Game",
    "GuardedResult",
    "HostedRules",
    "InvalidDecision",
    "InvocationContext",
    "JoinableMatch",
    "LazyImport",
    "Option",
    "RatioStat",
    "Simulation",
    "Strategy",
    "StrategyRegistry",
    "TextRenderer",
    "all_games",
    "call_guarded",
    "format_percent",
    "get_game",
    "intent_body",
    "invocation_context",
    "ranked",
    "registry_for",
)

__getattr__ = lazy_exports(
    __name__,
    {
        "Decision": "strategy",
        "DecisionResult": "decision_runner",
        "DecisionRunner": "decision_runner",
        "Encoding": "encoding",
        "Game": "game",
        "GuardedResult": "guarded_call",
        "HostedRules": "hosted_rules",
        "InvalidDecision": "guarded_call",
        "InvocationContext": "game",
        "LazyImport": "game",
        "JoinableMatch": "game",
        "Option": "strategy",
        "RatioStat": "simulation",
        "Simulation": "simulation",
        "Strategy": "strategy",
        "StrategyRegistry": "strategy_registry",
        "TextRenderer": "hosted_rules",
        "all_games": "catalog",
        "call_guarded": "guarded_call",
        "format_percent": "strategy",
        "get_game": "catalog",
        "intent_body": "decision_runner",
        "invocation_context": "catalog",
        "ranked": "strategy",
        "registry_for": "strategy_registry",
    },
)
