"""Command `research search-limits`: what captain gains with other limits of its search."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated

from cyclopts import Parameter

from cardsharp.games.deadmansdraw.strategies.captain import WEIGHT_FILE
from cardsharp.games.deadmansdraw.strategies.search.leaf_evaluator import SearchLimits
from cardsharp.games.deadmansdraw.strategies.search.search_budget import (
    DEEP_LIMITS,
    PLAIN_LIMITS,
)
from cardsharp.games.deadmansdraw.strategies.search.value_model import ValueModel
from cardsharp.games.deadmansdraw.strategies.search.weights import load_model
from cardsharp_tools.cli.console import print_json, result_console
from cardsharp_tools.cli.options import CommandOptions, Json, Positive
from cardsharp_tools.lab.confidence_interval import mean_interval
from cardsharp_tools.lab.duel_result import FirstPlayerLuck, FirstPlayerMatchResult, LuckAdjuster
from cardsharp_tools.lab.options import Seed
from cardsharp_tools.research.deadmansdraw.native import NO_REPLAYS, require_engine
from cardsharp_tools.research.deadmansdraw.run_files import MatchRow, compute_rows
from cardsharp_tools.research.deadmansdraw.weight_files import read_network_weights

_SEATS = 2


class PairRow(MatchRow):
    """Result of the searching captain in both matches of a deal; `match` numbers the deals."""

    points: tuple[float, float]
    luck: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class SearchLimitsOptions(CommandOptions):
    """Limits of the search, and the amount of work."""

    max_depth: int = DEEP_LIMITS.max_depth
    """Effects within effects that are searched."""
    max_second_draws: int = DEEP_LIMITS.max_second_draws
    """Level to which a second draw is searched."""
    endgame_cards: int = DEEP_LIMITS.endgame_cards
    """Cards of the draw pile from which the match is searched to its end."""
    max_leaves: int = DEEP_LIMITS.max_leaves
    """Ends of turns above which that is given up."""
    pairs: Annotated[int, Parameter(validator=Positive, help="Deals, each played twice.")] = 500
    opponent_network: Annotated[
        Path | None, Parameter(help="Weight file of the opponent's network, else the shipped one.")
    ] = None
    seed: Seed = 1
    out: Path | None = None
    """File in which each deal is recorded; the same command resumes from it."""
    as_json: Json = False

    @property
    def limits(self) -> SearchLimits:
        """Limits of the captain that is measured."""
        return SearchLimits(
            max_depth=self.max_depth,
            max_second_draws=self.max_second_draws,
            endgame_cards=self.endgame_cards,
            max_leaves=self.max_leaves,
        )

    @property
    def run_key(self) -> str:
        """First line of the result file: all options on which the results depend."""
        opponent = {"opponent": self.opponent_network.name} if self.opponent_network else {}
        return json.dumps({**asdict(self.limits), "seed": self.seed, **opponent})

    @property
    def opponent_model(self) -> ValueModel:
        """Tables and network of the captain that is played against."""
        model = load_model(WEIGHT_FILE)
        if self.opponent_network is None:
            return model
        return ValueModel(model.numbers, read_network_weights(self.opponent_network))


def search_limits(*, options: SearchLimitsOptions = SearchLimitsOptions()) -> None:
    """Play captain with these limits against captain with the limits of plain Python.

    The luck of all cards is removed. The last cards are not replayed, as `lab duel` does, because a
    deep search takes most of its time there.
    """
    engine = require_engine()
    players = (
        engine.captain_player(load_model(WEIGHT_FILE), options.limits),
        engine.captain_player(options.opponent_model, PLAIN_LIMITS),
    )

    def play_pair(pair_number: int) -> list[PairRow]:
        [pair] = engine.play_pairs(
            players,
            options.seed,
            [pair_number],
            luck_replays=NO_REPLAYS,
        )
        first, second = pair
        points, luck = (first.points, second.points), (first.luck, second.luck)
        return [PairRow(match=pair_number, points=points, luck=luck)]

    _print_points(
        compute_rows(options.out, options.run_key, PairRow, options.pairs, play_pair), options
    )


def adjusted_shares(rows: Sequence[PairRow]) -> list[float]:
    """Return the share of each pair without the luck of its cards."""
    adjuster = LuckAdjuster()
    return [
        adjuster.adjusted_share(
            tuple(
                FirstPlayerMatchResult(points, {}, luck=FirstPlayerLuck(points, luck))
                for points, luck in zip(row.points, row.luck, strict=True)
            )
        )
        for row in rows
    ]


def _print_points(rows: Sequence[PairRow], options: SearchLimitsOptions) -> None:
    shares = adjusted_shares(rows)
    points, bounds = 100 * fmean(shares), mean_interval(shares, _SEATS).scaled(100)
    if options.as_json:
        document = {"points": points, "lower": bounds.low, "upper": bounds.high}
        print_json({**asdict(options.limits), "matches": _SEATS * len(rows), **document})
        return
    result_console().print(
        f"{points:.2f} % of the points without luck in {_SEATS * len(rows)} matches "
        f"(95 %: {bounds.low:.2f} to {bounds.high:.2f})."
    )
