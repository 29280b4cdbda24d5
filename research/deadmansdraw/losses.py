"""`cardsharp research losses`: what a player loses against perfect play of the last cards."""

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

from cardsharp.analysis import SIDES
from cardsharp.ratings import NORMAL_95
from research.deadmansdraw.engine import Engine, needed
from research.deadmansdraw.exact import Solver
from research.deadmansdraw.kept import OfMatch, filled
from workbench.lab.options import Positive, Seed
from workbench.show.options import CommandOptions, Json
from workbench.show.output import plain_table, print_json, results

_WORST = 8


class LostHere(OfMatch):
    """A decision with a choice: what it lost as a chance to win, None where that is not known."""

    left: int
    kind: str
    loss: float | None
    exact: bool
    nodes: int


@dataclass(frozen=True, kw_only=True)
class LossesOptions(CommandOptions):
    """Which positions, and how much is worked out."""

    player: Annotated[str, Parameter(help="Who plays itself.")] = "captain"
    cards: Annotated[int, Parameter(validator=Positive, help="Unseen cards, at most.")] = 6
    matches: Annotated[int, Parameter(alias="-n", validator=Positive)] = 100
    nodes: Annotated[int, Parameter(validator=Positive, help="Where it gives up.")] = 1_000_000
    picks: Annotated[int, Parameter(validator=Positive)] = 64
    """Of a bonus that may turn out in more ways, so many are tried; then it is not exact."""
    seed: Seed = 1
    out: Path | None = None
    """Keeps each match; the same command goes on with what is there."""
    as_json: Json = False

    @property
    def head(self) -> str:
        """The first line of the file: what the losses hang on."""
        names = ("player", "cards", "nodes", "picks", "seed")
        return json.dumps({name: getattr(self, name) for name in names})


def losses(*, options: LossesOptions = LossesOptions()) -> None:
    """Hold each choice with few unseen cards against perfect play, and name the worst kinds."""
    lost = partial(_lost, needed(options.player), options)
    _tell(filled(options.out, options.head, LostHere, options.matches, lost), options)


def _lost(engine: Engine, options: LossesOptions, number: int) -> list[LostHere]:
    """By a solver that remembers nothing, so that a match hangs on no other."""
    solver = Solver(engine, nodes=options.nodes, picks=options.picks)
    player = engine.twin(options.player)
    return [
        LostHere(
            match=number,
            left=one.left,
            kind=one.kind,
            loss=one.loss if one.loss >= 0 else None,
            exact=one.loss >= 0 and not one.sampled,
            nodes=one.nodes,
        )
        for one in solver.losses(player, options.seed, number, options.cards)
    ]


def summed(found: Sequence[LostHere], matches: int) -> dict[str, float]:
    """How many positions were solved, and exactly; the mean loss in per cent, with its margin.

    The `points` are what a player lost a match in those that were solved: what perfect play there
    would gain it.
    """
    known = [one.loss for one in found if one.loss is not None] or [0.0]
    return {
        "positions": len(found),
        "solved": sum(one.loss is not None for one in found),
        "exact": sum(one.exact for one in found),
        "loss": 100 * fmean(known),
        "margin": 100 * NORMAL_95 * pstdev(known) / len(known) ** 0.5,
        "points": 100 * fsum(known) / SIDES / matches,
        "nodes": max(one.nodes for one in found),
    }


def _tell(found: Sequence[LostHere], options: LossesOptions) -> None:
    groups = {"all": found} if found else {}
    for left in sorted({one.left for one in found}):
        groups[str(left)] = [one for one in found if one.left == left]
    by_left = {name: summed(group, options.matches) for name, group in groups.items()}
    by_kind = {name: summed(group, options.matches) for name, group in _worst(found)}
    if options.as_json:
        print_json({**asdict(options), "byLeft": by_left, "worst": by_kind})
        return
    columns = ("positions", "solved", "exact", "loss in %", "points", "most nodes")
    for title, rows in (("unseen", by_left), ("worst kinds", by_kind)):
        table = plain_table(title, *columns, right=columns)
        for name, row in rows.items():
            figures = [f"{row[of]:.0f}" for of in ("positions", "solved", "exact")]
            lost = f"{row['loss']:.3f} ± {row['margin']:.3f}"
            table.add_row(name, *figures, lost, f"{row['points']:.2f}", f"{row['nodes']:,.0f}")
        results().print(table)


def _worst(found: Sequence[LostHere]) -> list[tuple[str, list[LostHere]]]:
    """The kinds of decision in which most is lost, in all."""
    groups = defaultdict[str, list[LostHere]](list)
    for one in found:
        groups[f"{one.left} left, {one.kind}"].append(one)
    worst = sorted(groups, key=lambda kind: -sum(one.loss or 0 for one in groups[kind]))
    return [(kind, groups[kind]) for kind in worst[:_WORST]]
