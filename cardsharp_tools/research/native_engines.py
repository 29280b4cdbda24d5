"""Compiled twins of strategies for `cardsharp_tools`, each None if it is not available.

`cardsharp_tools/lab/native_engines.py` looks these functions up by name; no module imports this
module.
"""

from collections.abc import Mapping, Sequence
from ctypes import CDLL
from functools import cache, partial

from cardsharp.games.euchre.strategies import Strategy
from cardsharp.games.euchre.strategies.pimc import SearchBudget
from cardsharp_tools.executors import hang_monitor
from cardsharp_tools.executors.strategy_reference import StrategyReference
from cardsharp_tools.lab.duel_result import FirstPlayerLuck, FirstPlayerMatchResult, Pair
from cardsharp_tools.lab.game_adapter import SeriesPlayer
from cardsharp_tools.lab.plan import DuelPlan
from cardsharp_tools.research.blef import native as blef
from cardsharp_tools.research.c_library import unavailable_reason
from cardsharp_tools.research.deadmansdraw.native import (
    LAB_REPLAYS,
    load_engine,
    native_player,
    require_engine,
)
from cardsharp_tools.research.deadmansdraw.native import NativeMatchResult as Compiled
from cardsharp_tools.research.euchre import native as euchre
from cardsharp_tools.research.native_stepper import NativeStepper


def series_player(first: StrategyReference, second: StrategyReference) -> SeriesPlayer | None:
    """Return a compiled player of Dead Man's Draw series between two strategies, or None.

    Its results equal those of the lab in plain Python.
    """
    if native_player(first) is None or native_player(second) is None:
        return None
    return play_compiled_pairs


def play_compiled_pairs(plan: DuelPlan, pair_numbers: Sequence[int]) -> list[Pair]:
    """Play the consecutive pairs of one series in this process."""
    engine, first_player, second_player = (
        load_engine(),
        native_player(plan.first),
        native_player(plan.second),
    )
    if engine is None or first_player is None or second_player is None:
        raise RuntimeError("The compiled engine is there no more; use --pure-python.")
    played = engine.play_pairs(
        (first_player, second_player),
        plan.seed,
        pair_numbers,
        luck_replays=LAB_REPLAYS if plan.luck_adjusted else None,
    )
    return [tuple(_to_match_result(result, plan) for result in pair) for pair in played]


def _to_match_result(match: Compiled, plan: DuelPlan) -> FirstPlayerMatchResult:
    counts = ("scores", "turns", "actions", "busts")
    luck = FirstPlayerLuck(match.replay_points, match.luck) if plan.luck_adjusted else None
    return FirstPlayerMatchResult(
        match.points, {name: tuple(getattr(match, name)) for name in counts}, luck=luck
    )


def euchre_player(effort: SearchBudget) -> Strategy | None:
    """Return the compiled Euchre engine with that budget, or None."""
    return euchre.NativePimcStrategy(effort) if euchre.native_library() else None


def native_stepper(
    game: str, lane_count: int, seats: int, opponents: Mapping[int, StrategyReference]
) -> NativeStepper | None:
    """Return a compiled stepper of matches, equal to `PythonStepper`.

    None if nothing is compiled, or if an opponent has no native version that decides from the
    public table alone.
    """
    library = _load_library(game)
    if library is None:
        return None
    policies = {seat: _find_policy_address(game, opponent) for seat, opponent in opponents.items()}
    for seat, policy in policies.items():
        if policy is None:
            _warn_no_native_player(opponents[seat])
            return None
    native_policies = {seat: policy for seat, policy in policies.items() if policy is not None}
    reopen = partial(native_stepper, game, lane_count, seats, dict(opponents))
    return NativeStepper(library, (lane_count, seats), native_policies, reopen)


def _find_policy_address(game: str, opponent: StrategyReference) -> int | None:
    """Return the address of the policy of the opponent's compiled twin; None without a twin."""
    player = native_player(opponent) if game == "deadmansdraw" else None
    return None if player is None or player.adaptive_config is not None else player.policy


@cache
def _warn_no_native_player(opponent: StrategyReference) -> None:
    hang_monitor.write_unbuffered(
        f"No compiled player is {opponent.display_name}; plain Python steps its lanes, slower."
    )


@cache
def _load_library(game: str) -> CDLL | None:
    reason = unavailable_reason()
    if reason is not None:
        hang_monitor.write_unbuffered(reason)
        return None
    if game == "deadmansdraw":
        return require_engine().library
    libraries = {"blef": blef.native_library, "euchre": euchre.native_library}
    return libraries[game]() if game in libraries else None
