"""Command `research bounds`: what captain loses to best play, as a lower and an upper bound."""

import json
from collections.abc import Sequence
from ctypes import Structure, byref, c_int8, c_uint64
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from math import ceil, log10
from pathlib import Path
from statistics import fmean, pstdev
from typing import Annotated

from cyclopts import Parameter, validators

from cardsharp.analysis.judged_match import SIDE_COUNT
from cardsharp.analysis.ratings import Z_95
from cardsharp.games.deadmansdraw.cards import Card
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies.captain import WEIGHT_FILE
from cardsharp.games.deadmansdraw.strategies.search.card_sets import CARD_NUMBER
from cardsharp.games.deadmansdraw.strategies.search.leaf_evaluator import (
    SHORT_LIMITS,
    SearchLimits,
)
from cardsharp.games.deadmansdraw.strategies.search.search_budget import lab_limits
from cardsharp.games.deadmansdraw.strategies.search.value_model import ValueModel
from cardsharp.games.deadmansdraw.strategies.search.weights import load_model
from cardsharp_tools.cli.console import print_json, result_console
from cardsharp_tools.cli.options import CommandOptions, Json, Positive
from cardsharp_tools.lab.options import Seed
from cardsharp_tools.research.c_library import struct_fields
from cardsharp_tools.research.deadmansdraw.exact_solver import ExactSolver, to_native_position
from cardsharp_tools.research.deadmansdraw.native import NativeEngine, NativePlayer, require_engine
from cardsharp_tools.research.deadmansdraw.network_training import read_network
from cardsharp_tools.research.deadmansdraw.run_files import MatchRow, compute_rows

_NON_NEGATIVE_VALIDATOR = validators.Number(gte=0)
_NODE_FACTOR_VALIDATOR = validators.Number(gte=1, lte=1000)  # the maximum takes 1.9 GB


class _BoundsConfig(Structure):
    """ctypes structure for `BoundsConfig` of reply_bounds.h."""

    _fields_ = struct_fields(
        "PPPPiiq", "player judge stronger exact exact_cards has_upper_bound max_positions"
    )


class NativeSideValues(Structure):
    """ctypes structure for `SideValues` of reply_bounds.h: luck-adjusted values of a deal."""

    _fields_ = struct_fields("dddq", "player_share stronger_share clairvoyant_share position_count")


@dataclass(frozen=True)
class BestReplyBounds:
    """Calculator of bounds on what best replies to captain gain.

    The replies are by a stronger player, and by one that sees the pile. Captain's short
    search with `luck_model` measures the luck, and from `exact_from_cards` unseen cards on
    `solver` does; it must not give up. The second reply is given up if it has more than
    `max_positions` positions.
    """

    engine: NativeEngine
    solver: ExactSolver
    player: NativePlayer
    stronger: NativePlayer
    exact_from_cards: int
    max_positions: int = 1_000_000
    luck_model: ValueModel = field(default_factory=lambda: load_model(WEIGHT_FILE))

    def bounds_from_position(
        self, position: DeadMansDrawPosition, pile_order: Sequence[Card], seed: int
    ) -> list[NativeSideValues]:
        """Return the values that bound a best reply from a position on.

        The first are those of the player to act, the second those of the other. `pile_order` is
        the order of the draw pile.
        """
        values, card_numbers = (
            (NativeSideValues * SIDE_COUNT)(),
            (c_int8 * len(pile_order))(*(CARD_NUMBER[card] for card in pile_order)),
        )
        table, dice = byref(to_native_position(position)), (c_uint64(seed), c_uint64(0))
        self.engine.library.bounds_from_position(
            byref(self._native_config), table, card_numbers, *dice, values
        )
        return list(values)

    def values_in_new_match(
        self, seed: int, pair_number: int, unseen_card_count: int
    ) -> list[NativeSideValues]:
        """Return the values of a new match from the point with `unseen_card_count` unseen cards on.

        The list is empty if the match was over before.
        """
        values, dice = (NativeSideValues * SIDE_COUNT)(), (c_uint64(seed), c_uint64(pair_number))
        remaining = self.engine.library.bounds_in_new_match(
            byref(self._native_config), *dice, unseen_card_count, values
        )
        return list(values) if remaining else []

    @cached_property
    def _native_config(self) -> _BoundsConfig:
        judge = self.engine.captain_player(self.luck_model, SHORT_LIMITS)
        policies = (self.player.policy, judge.policy, self.stronger.policy)
        return _BoundsConfig(
            *policies,
            self.solver.address,
            self.exact_from_cards,
            self.max_positions > 0,
            self.max_positions,
        )


class BestReplyGainBounds(MatchRow):
    """Win probability that best replies gain against captain; `above` is the upper bound."""

    below: float
    above: float | None
    nodes: int


@dataclass(frozen=True, kw_only=True)
class BoundsOptions(CommandOptions):
    """Options for the positions and the amount of computation."""

    cards: Annotated[int, Parameter(validator=Positive, help="Unseen cards, at most.")] = 4
    exact_cards: Annotated[int, Parameter(validator=_NON_NEGATIVE_VALIDATOR)] = 4
    """The last so many are played nearly perfectly from below, and so judged from above."""
    node_factor: Annotated[
        int, Parameter(validator=_NODE_FACTOR_VALIDATOR, help="So many times captain's nodes.")
    ] = 10
    matches: Annotated[int, Parameter(alias="-n", validator=Positive)] = 100
    nodes: Annotated[int, Parameter(validator=_NON_NEGATIVE_VALIDATOR)] = 1_000_000
    """Positions of a deal above which the upper bound is given up; 0: only the lower bound."""
    seed: Seed = 1
    network: Path | None = None
    """A network to play beside the stronger player's tables, as `train-network` writes it."""
    out: Path | None = None
    """File in which each match is recorded; the same command resumes from it."""
    as_json: Json = False

    @property
    def document(self) -> dict[str, object]:
        """Return the options as a JSON document."""
        return asdict(self)

    @property
    def run_key(self) -> str:
        """First line of the result file: all options on which the results depend."""
        field_names = ("cards", "exact_cards", "node_factor", "nodes", "seed")
        head = {name: self.document[name] for name in field_names}
        if self.network is not None:
            head["network"] = sha256(self.network.read_bytes()).hexdigest()
        return json.dumps(head)

    def stronger_player_limits(self) -> SearchLimits:
        """Return the limits of a stronger player: more nodes, endgame cards and effects."""
        usual = lab_limits()
        if self.node_factor == 1:
            return usual
        return replace(
            usual,
            max_depth=usual.max_depth + 1,
            endgame_cards=usual.endgame_cards + ceil(log10(self.node_factor)),
            max_leaves=usual.max_leaves * self.node_factor,
        )


def bounds(*, options: BoundsOptions = BoundsOptions()) -> None:
    """Bound what the best reply gains against captain from so many unseen cards on.

    The lower bound is the gain of a captain that searches further. The upper bound is that of a
    player that knows the draw pile and pays for its luck. Both play either side of each deal.
    """
    engine = require_engine()
    trial = _build_reply_bounds(engine, options)

    def gained(match_index: int) -> list[BestReplyGainBounds]:
        return [
            _combine_sides(
                trial.values_in_new_match(options.seed, match_index, options.cards), match_index
            )
        ]

    _print_bounds(
        compute_rows(options.out, options.run_key, BestReplyGainBounds, options.matches, gained),
        options,
    )


def _build_reply_bounds(engine: NativeEngine, options: BoundsOptions) -> BestReplyBounds:
    captain = engine.captain_player(load_model(WEIGHT_FILE))
    learned = load_model(WEIGHT_FILE)
    if options.network is not None:
        learned = ValueModel(learned.numbers, read_network(options.network))
    stronger = engine.captain_player(learned, options.stronger_player_limits())
    # As player and judge: nearly exact, and the bounds are bounds; it never gives up.
    solver = ExactSolver(engine, nodes=1 << 60, picks=1, groups=True)
    player = solver.perfect_endgame_player(stronger, options.exact_cards)
    return BestReplyBounds(
        engine, solver, captain, player, options.exact_cards, options.nodes, learned
    )


def _combine_sides(sides: Sequence[NativeSideValues], match_index: int) -> BestReplyGainBounds:
    """Return the bounds on the gain, as means over the sides; zero if the match was over."""
    if not sides:
        return BestReplyGainBounds(match=match_index, below=0.0, above=0.0, nodes=0)
    is_complete = all(side.position_count > 0 for side in sides)
    return BestReplyGainBounds(
        match=match_index,
        below=fmean(side.stronger_share - side.player_share for side in sides),
        above=(
            fmean(side.clairvoyant_share - side.player_share for side in sides)
            if is_complete
            else None
        ),
        nodes=max(side.position_count for side in sides),
    )


def _print_bounds(rows: Sequence[BestReplyGainBounds], options: BoundsOptions) -> None:
    below = _compute_mean_points([row.below for row in rows])
    upper_bounds = [row.above for row in rows if row.above is not None]
    above = _compute_mean_points(upper_bounds) if len(upper_bounds) == len(rows) else None
    if options.as_json:
        max_nodes = max(row.nodes for row in rows)
        print_json({**options.document, "below": below, "above": above, "mostNodes": max_nodes})
        return
    text = (
        f"From {options.cards} unseen cards on captain lacks at least "
        f"{_format_points(below)} points"
    )
    if above is not None:
        text += f" and at most {_format_points(above)}"
    elif options.nodes:
        text += (
            f"; there is no bound from above: {len(rows) - len(upper_bounds)} deals were given up"
        )
    result_console().print(f"{text} ({len(rows)} matches).")


def _compute_mean_points(gained: Sequence[float]) -> dict[str, float]:
    """Return the mean gain in points of 100, with its margin."""
    margin = Z_95 * pstdev(gained) / len(gained) ** 0.5
    return {"points": 100 * fmean(gained), "margin": 100 * margin}


def _format_points(points: dict[str, float]) -> str:
    return f"{points['points']:.2f} ± {points['margin']:.2f}"
