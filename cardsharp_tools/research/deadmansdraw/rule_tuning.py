"""`cardsharp research tune-rule`: search the best numbers of a rule that a person can play by."""

from collections.abc import Iterable
from ctypes import Structure, byref
from dataclasses import dataclass
from itertools import product
from random import Random
from statistics import fmean
from typing import Annotated

from cyclopts import Parameter

from cardsharp_tools.cli.console import print_json, result_console
from cardsharp_tools.cli.options import CommandOptions, Json, Positive
from cardsharp_tools.cli.strategy_option import StrategyArgument
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.lab.confidence_interval import mean_interval
from cardsharp_tools.lab.duel_result import FirstPlayerLuck, FirstPlayerMatchResult, LuckAdjuster
from cardsharp_tools.lab.options import Seed
from cardsharp_tools.research.c_library import declare_function, struct_fields
from cardsharp_tools.research.deadmansdraw.native import (
    LAB_REPLAYS,
    NativePlayer,
    first_player_points_share,
    require_engine,
)
from cardsharp_tools.research.deadmansdraw.native import NativeMatchResult as Played
from cardsharp_tools.terminal.progress import ProgressBar

_TUNING_DECKS = 200  # decks on which all rules are compared
_PARAMETER_RANGES = {"draw": range(2, 10), "treasure": range(0, 21, 2), "sword": range(7)}


class RuleParameters(Structure):
    """ctypes structure for `RuleParameters` of rule.c."""

    _fields_ = struct_fields("iii", " ".join(_PARAMETER_RANGES))


@dataclass(frozen=True, kw_only=True)
class RuleOptions(CommandOptions):
    """Options of the tuning: the opponent and the number of decks."""

    opponent: Annotated[StrategyArgument, Parameter(help="Whom it is to beat.")] = BuiltIn(
        "champion"
    )
    pairs: Annotated[int, Parameter(validator=Positive, help="Decks of the last round.")] = 20_000
    seed: Seed = 1
    as_json: Json = False


def tune_rule(*, options: RuleOptions = RuleOptions()) -> None:
    """Find the best numbers of the rule, and measure them with luck adjustment.

    All rules play on few decks, and the better half of them again on twice as many, and so on. Each
    round has new decks, and so does the final measurement of the remaining rule.
    """
    engine, dice = require_engine(options.opponent), Random(options.seed)
    opponent, decks = engine.player_for_strategy(options.opponent), _TUNING_DECKS
    create_rule = declare_function(engine.library.rule_new, "P", "P")
    rules = [
        (parameters, NativePlayer(create_rule(byref(RuleParameters(*parameters)))))
        for parameters in product(*_PARAMETER_RANGES.values())
    ]
    with ProgressBar(len(rules) * 2, "rules") as bar:
        while len(rules) > 1:
            bar.advance(len(rules))
            seed, pair_numbers = dice.getrandbits(32), range(decks)
            scores = [
                fmean(
                    map(
                        first_player_points_share,
                        engine.play_pairs((player, opponent), seed, pair_numbers),
                    )
                )
                for _, player in rules
            ]
            best = sorted(range(len(rules)), key=scores.__getitem__, reverse=True)
            rules = [rules[rule_index] for rule_index in best[: -(-len(rules) // 2)]]
            decks = min(2 * decks, options.pairs)
    [(best_parameters, player)] = rules
    pairs = engine.play_pairs(
        (player, opponent), dice.getrandbits(32), range(options.pairs), luck_replays=LAB_REPLAYS
    )
    _print_best_rule(best_parameters, pairs, options)


def _print_best_rule(
    best_parameters: tuple[int, ...], pairs: Iterable[tuple[Played, Played]], options: RuleOptions
) -> None:
    """Print the selected rule and its points in 100.

    They are measured on decks that were not used to select it.
    """
    less = LuckAdjuster()
    shares = [
        less.adjusted_share(
            tuple(
                FirstPlayerMatchResult(
                    result.points, {}, luck=FirstPlayerLuck(result.replay_points, result.luck)
                )
                for result in pair
            )
        )
        for pair in pairs
    ]
    points, bounds = 100 * fmean(shares), mean_interval(shares, matches_per_share=2).scaled(100)
    values_by_name = dict(zip(_PARAMETER_RANGES, best_parameters, strict=True))
    if options.as_json:
        print_json({**values_by_name, "points": points, "lower": bounds.low, "upper": bounds.high})
        return
    rule_text = ", ".join(f"{name} {value}" for name, value in values_by_name.items())
    within = f"(95 %: {bounds.low:.1f} to {bounds.high:.1f})"
    result_console().print(f"{rule_text}: {points:.1f} % {within} against {options.opponent}")
