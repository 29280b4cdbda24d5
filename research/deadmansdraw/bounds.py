"""`cardsharp research bounds`: what captain lacks against itself, from below and from above."""

import json
from collections.abc import Sequence
from ctypes import Structure, byref, c_int8, c_uint64
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import sha256
from math import ceil, log10
from pathlib import Path
from statistics import fmean, pstdev
from typing import Annotated

from cyclopts import Parameter, validators

from cardsharp.analysis import SIDES
from cardsharp.deadmansdraw.cards import Card
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies.captain import WEIGHTS
from cardsharp.deadmansdraw.strategies.search.leaves import SHORT, SearchLimits
from cardsharp.deadmansdraw.strategies.search.model import Model
from cardsharp.deadmansdraw.strategies.search.sets import NUMBER
from cardsharp.deadmansdraw.strategies.search.weights import model
from cardsharp.ratings import NORMAL_95
from research.compiling import members
from research.deadmansdraw.engine import Engine, Twin, needed
from research.deadmansdraw.exact import Solver, table_of
from research.deadmansdraw.kept import OfMatch, filled
from research.deadmansdraw.network import read_network
from workbench.lab.options import Positive, Seed
from workbench.show.options import CommandOptions, Json
from workbench.show.output import print_json, results

_NOT_NEGATIVE = validators.Number(gte=0)
_TIMES = validators.Number(gte=1, lte=1000)  # which takes 1.9 GB


class _Trial(Structure):
    """`Trial` of bound.h."""

    _fields_ = members("PPPPiiq", "player judge stronger exact last clairvoyant most")


class Bounds(Structure):
    """`Bounds` of bound.h: what a side makes of a deal, its luck paid for."""

    _fields_ = members("dddq", "itself stronger best nodes")


@dataclass(frozen=True)
class Trial:
    """Replies to `player`: by `stronger`, and by who knows the pile but pays for the luck.

    What came by luck, captain's short search says by what was `learned`, and from `last` unseen
    cards on `solver`; it must not give up. Where the second met more than `most` positions, it is
    given up.
    """

    engine: Engine
    solver: Solver
    player: Twin
    stronger: Twin
    last: int
    most: int = 1_000_000
    learned: Model = field(default_factory=lambda: model(WEIGHTS))

    def at(self, position: Position, order: Sequence[Card], seed: int) -> list[Bounds]:
        """From a position on with this order of the pile, for who is to act and for the other."""
        found, numbers = (Bounds * SIDES)(), (c_int8 * len(order))(*(NUMBER[one] for one in order))
        table, dice = byref(table_of(position)), (c_uint64(seed), c_uint64(0))
        self.engine.library.bounds_at(byref(self._trial), table, numbers, *dice, found)
        return list(found)

    def of(self, seed: int, number: int, cards: int) -> list[Bounds]:
        """From where so many cards are unseen in a match of its own; empty where it was over."""
        found, dice = (Bounds * SIDES)(), (c_uint64(seed), c_uint64(number))
        left = self.engine.library.bounds_of(byref(self._trial), *dice, cards, found)
        return list(found) if left else []

    @cached_property
    def _trial(self) -> _Trial:
        judge = self.engine.captain(self.learned, SHORT)
        policies = (self.player.policy, judge.policy, self.stronger.policy)
        return _Trial(*policies, self.solver.address, self.last, self.most > 0, self.most)


class Gained(OfMatch):
    """What replies gain against captain in a deal, as a chance to win; `above` at the most."""

    below: float
    above: float | None
    nodes: int


@dataclass(frozen=True, kw_only=True)
class BoundsOptions(CommandOptions):
    """From where on, and how much is worked out."""

    cards: Annotated[int, Parameter(validator=Positive, help="Unseen cards, at most.")] = 4
    perfect: Annotated[int, Parameter(validator=_NOT_NEGATIVE)] = 4
    """The last so many are played nearly perfectly from below, and so judged from above."""
    times: Annotated[int, Parameter(validator=_TIMES, help="So many times captain's nodes.")] = 10
    matches: Annotated[int, Parameter(alias="-n", validator=Positive)] = 100
    nodes: Annotated[int, Parameter(validator=_NOT_NEGATIVE)] = 1_000_000
    """Positions of a deal above which the bound from above is given up; 0: only from below."""
    seed: Seed = 1
    network: Path | None = None
    """Beside the stronger one's tables in place of captain's, as `research network` keeps it."""
    out: Path | None = None
    """Keeps each match; the same command goes on with what is there."""
    as_json: Json = False

    @property
    def head(self) -> str:
        """The first line of the file: what the gains hang on."""
        names = ("cards", "perfect", "times", "nodes", "seed")
        head = {name: getattr(self, name) for name in names}
        if self.network is not None:
            head["network"] = sha256(self.network.read_bytes()).hexdigest()
        return json.dumps(head)

    def stronger(self) -> SearchLimits:
        """Of who has so many times the nodes, and for them a longer endgame and more effects."""
        usual = SearchLimits()
        if self.times == 1:
            return usual
        last = usual.endgame + ceil(log10(self.times))
        return SearchLimits(levels=3, endgame=last, most_ends=usual.most_ends * self.times)


def bounds(*, options: BoundsOptions = BoundsOptions()) -> None:
    """Bound what the best reply gains against captain from so many unseen cards on.

    From below by a captain that searches further, from above by one who knows the pile and pays
    for it; both take either side of each deal.
    """
    engine = needed()
    trial = _trial(engine, options)

    def gained(number: int) -> list[Gained]:
        return [_gained(trial.of(options.seed, number, options.cards), number)]

    _tell(filled(options.out, options.head, Gained, options.matches, gained), options)


def _trial(engine: Engine, options: BoundsOptions) -> Trial:
    captain = engine.captain(model(WEIGHTS))
    learned = model(WEIGHTS)
    if options.network is not None:
        learned = Model(learned.numbers, read_network(options.network))
    stronger = engine.captain(learned, options.stronger())
    # As player and judge: nearly exact, and the bounds are bounds; it never gives up.
    solver = Solver(engine, nodes=1 << 60, picks=1, groups=True)
    player = solver.player(stronger, options.perfect)
    return Trial(engine, solver, captain, player, options.perfect, options.nodes, learned)


def _gained(found: Sequence[Bounds], number: int) -> Gained:
    """Of both sides; nothing can be gained where the match was over."""
    if not found:
        return Gained(match=number, below=0.0, above=0.0, nodes=0)
    known = all(one.nodes > 0 for one in found)
    return Gained(
        match=number,
        below=fmean(one.stronger - one.itself for one in found),
        above=fmean(one.best - one.itself for one in found) if known else None,
        nodes=max(one.nodes for one in found),
    )


def _tell(found: Sequence[Gained], options: BoundsOptions) -> None:
    below = _points([one.below for one in found])
    known = [one.above for one in found if one.above is not None]
    above = _points(known) if len(known) == len(found) else None
    if options.as_json:
        most = max(one.nodes for one in found)
        print_json({**asdict(options), "below": below, "above": above, "mostNodes": most})
        return
    told = f"From {options.cards} unseen cards on captain lacks at least {_text(below)} points"
    if above is not None:
        told += f" and at most {_text(above)}"
    elif options.nodes:
        told += f"; there is no bound from above: {len(found) - len(known)} deals were given up"
    results().print(f"{told} ({len(found)} matches).")


def _points(gained: Sequence[float]) -> dict[str, float]:
    """The mean in points of 100, with its margin."""
    margin = NORMAL_95 * pstdev(gained) / len(gained) ** 0.5
    return {"points": 100 * fmean(gained), "margin": 100 * margin}


def _text(points: dict[str, float]) -> str:
    return f"{points['points']:.2f} ± {points['margin']:.2f}"
