"""Command `research losses`: what a player loses against perfect play of the last cards."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import fsum
from pathlib import Path
from statistics import fmean, pstdev
from typing import Annotated

from cyclopts import Parameter

from cardsharp.analysis.judged_match import SIDE_COUNT
from cardsharp.analysis.ratings import Z_95
from cardsharp_tools.cli.console import borderless_table, print_json, result_console
from cardsharp_tools.cli.options import CommandOptions, Json, Positive
from cardsharp_tools.cli.strategy_option import StrategyArgument
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.lab.options import Seed
from cardsharp_tools.research.deadmansdraw.exact_solver import ExactSolver
from cardsharp_tools.research.deadmansdraw.native import NativeEngine, require_engine
from cardsharp_tools.research.deadmansdraw.run_files import MatchRow, compute_rows

_MAX_WORST_KINDS = 8


class DecisionLossRow(MatchRow):
    """Row for a decision: its loss in win probability, or None if unknown."""

    left: int
    kind: str
    loss: float | None
    exact: bool
    nodes: int


@dataclass(frozen=True, kw_only=True)
class LossesOptions(CommandOptions):
    """Options that select the positions, and the amount of work."""

    player: Annotated[StrategyArgument, Parameter(help="Who plays itself.")] = BuiltIn("captain")
    cards: Annotated[int, Parameter(validator=Positive, help="Unseen cards, at most.")] = 6
    matches: Annotated[int, Parameter(alias="-n", validator=Positive)] = 100
    nodes: Annotated[int, Parameter(validator=Positive, help="Where it gives up.")] = 1_000_000
    picks: Annotated[int, Parameter(validator=Positive)] = 64
    """Ways of a bonus above which only this many are sampled; the result is then not exact."""
    seed: Seed = 1
    out: Path | None = None
    """File in which each match is recorded; the same command resumes from it."""
    as_json: Json = False

    @property
    def run_key(self) -> str:
        """First line of the result file: all options on which the losses depend."""
        field_names = ("player", "cards", "nodes", "picks", "seed")
        return json.dumps({name: getattr(self, name) for name in field_names}, default=str)


def losses(*, options: LossesOptions = LossesOptions()) -> None:
    """Compare each choice with few unseen cards with perfect play, and list the worst kinds."""
    compute_losses = partial(_measure_match_losses, require_engine(options.player), options)
    _print_losses(
        compute_rows(
            options.out, options.run_key, DecisionLossRow, options.matches, compute_losses
        ),
        options,
    )


def _measure_match_losses(
    engine: NativeEngine, options: LossesOptions, match_index: int
) -> list[DecisionLossRow]:
    """Return the losses of a match.

    The solver has no cache of earlier matches, so that matches are independent.
    """
    solver = ExactSolver(engine, nodes=options.nodes, picks=options.picks)
    player = engine.player_for_strategy(options.player)
    return [
        DecisionLossRow(
            match=match_index,
            left=loss.unseen_count,
            kind=loss.decision_kind,
            loss=loss.loss if loss.loss >= 0 else None,
            exact=loss.loss >= 0 and not loss.is_sampled,
            nodes=loss.nodes,
        )
        for loss in solver.measure_decision_losses(player, options.seed, match_index, options.cards)
    ]


def summarise_losses(rows: Sequence[DecisionLossRow], matches: int) -> dict[str, float]:
    """Summarise the losses: positions, solved and exact ones, mean loss in per cent and margin.

    `points` is the player's loss per match in the solved positions: what perfect play there would
    gain.
    """
    solved_losses = [row.loss for row in rows if row.loss is not None] or [0.0]
    return {
        "positions": len(rows),
        "solved": sum(row.loss is not None for row in rows),
        "exact": sum(row.exact for row in rows),
        "loss": 100 * fmean(solved_losses),
        "margin": 100 * Z_95 * pstdev(solved_losses) / len(solved_losses) ** 0.5,
        "points": 100 * fsum(solved_losses) / SIDE_COUNT / matches,
        "nodes": max(row.nodes for row in rows),
    }


def _print_losses(loss_rows: Sequence[DecisionLossRow], options: LossesOptions) -> None:
    groups = {"all": loss_rows} if loss_rows else {}
    for unseen_count in sorted({row.left for row in loss_rows}):
        groups[str(unseen_count)] = [row for row in loss_rows if row.left == unseen_count]
    by_unseen = {name: summarise_losses(group, options.matches) for name, group in groups.items()}
    by_kind = {
        name: summarise_losses(group, options.matches)
        for name, group in _select_worst_kinds(loss_rows)
    }
    if options.as_json:
        print_json({**asdict(options), "byLeft": by_unseen, "worst": by_kind})
        return
    columns = ("positions", "solved", "exact", "loss in %", "points", "most nodes")
    for title, rows in (("unseen", by_unseen), ("worst kinds", by_kind)):
        table = borderless_table(title, *columns, right_aligned=columns)
        for name, row in rows.items():
            count_cells = [f"{row[of]:.0f}" for of in ("positions", "solved", "exact")]
            loss_text = f"{row['loss']:.3f} ± {row['margin']:.3f}"
            table.add_row(
                name, *count_cells, loss_text, f"{row['points']:.2f}", f"{row['nodes']:,.0f}"
            )
        result_console().print(table)


def _select_worst_kinds(
    loss_rows: Sequence[DecisionLossRow],
) -> list[tuple[str, list[DecisionLossRow]]]:
    """Return the kinds of decisions with the largest total loss, and their rows."""
    groups = defaultdict[str, list[DecisionLossRow]](list)
    for row in loss_rows:
        groups[f"{row.left} left, {row.kind}"].append(row)
    worst = sorted(groups, key=lambda kind: -sum(row.loss or 0 for row in groups[kind]))
    return [(kind, groups[kind]) for kind in worst[:_MAX_WORST_KINDS]]
