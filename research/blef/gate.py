"""`cardsharp research blef gate`: the default against players that it does not know."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

from cyclopts import Parameter, validators

from cardsharp.blef.game import GAME
from cardsharp.blef.simulation import SETUPS
from cardsharp.errors import ConfigError
from research.blef import readers, strangers
from workbench.lab.duel import Duel
from workbench.lab.ledger import followed
from workbench.lab.options import Seed
from workbench.lab.plan import Plan
from workbench.show.exits import Exit
from workbench.show.options import Json
from workbench.show.output import print_json, results

_Positive = validators.Number(gte=1)


class Aim(NamedTuple):
    """What the points in 100 and the lower end of their interval are to be, at least."""

    points: float
    low: float


_ALONE, _AGAINST_COPIES = Aim(90, 86), Aim(75, 0)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class GateOptions:
    """Who meets whom, and how often."""

    player: Annotated[str, Parameter(help="Who is measured.")] = GAME.default_strategy
    only: Annotated[
        tuple[str, ...],
        Parameter(negative=(), help="These strangers, one-step or two-step; else all strangers."),
    ] = ()
    pairs: Annotated[int, Parameter(alias="-n", validator=_Positive)] = 200
    """Deals, each played from every side."""
    copies: Annotated[int, Parameter(validator=_Positive)] = 1
    """How many of the stranger sit there."""
    seed: Seed = 1
    out: Path | None = None
    """A folder that keeps each pair; the same command goes on with what is there."""
    as_json: Json = False

    def plans(self) -> Iterator[Plan]:
        """The duels; raises `ConfigError` where there is no such stranger."""
        there = (*strangers.RULES, *readers.STEPS)
        for name in self.only or strangers.RULES:
            if name not in there:
                raise ConfigError(f"There is no stranger '{name}'; there are {', '.join(there)}.")
            yield Plan(
                game=GAME.name,
                first=self.player,
                second=name,
                pairs=self.pairs,
                copies=self.copies,
                seed=self.seed,
            )

    def kept(self, plan: Plan) -> Path | None:
        """The file of a duel in the folder."""
        name = f"{plan.first}-{plan.copies}x{plan.second}.jsonl"
        return None if self.out is None else self.out / name


def gate(*, options: GateOptions = GateOptions()) -> int:
    """Measure the default against players that it does not know; exits with 1 below the aims.

    Each deal is played from every side. For each stranger: games won of 100, their
    95 % interval, and the share of the rounds that was lost, by cards in play; even
    are 50, or 25 of four.
    """
    duels: list[Duel] = []
    for plan in [*options.plans()]:
        duels.append(followed(plan, 1, out=options.kept(plan)))
        if options.as_json:
            print_json({**duels[-1].as_json(), "short": short(duels[-1])})
        else:
            results().print(told(duels[-1]), soft_wrap=True)
    return Exit.FAILED if any(map(short, duels)) else Exit.OK


def aim_of(duel: Duel) -> Aim:
    """What is wanted against one, or against more of the same."""
    return _ALONE if duel.plan.copies == 1 else _AGAINST_COPIES


def short(duel: Duel) -> float:
    """By how many points in 100 a duel falls short of its aim, 0 where it does not."""
    aim = aim_of(duel)
    return round(max(0.0, aim.points - duel.points, aim.low - duel.interval.low), 1)


def told(duel: Duel) -> str:
    """A duel in a line."""
    bounds, missed = duel.interval, short(duel)
    won = f"{duel.points:.1f} ({bounds.low:.1f} to {bounds.high:.1f})"
    lost = "; ".join(f"{cards} cards {share:.0f}" for cards, share in lost_shares(duel))
    verdict = f"falls short by {missed}" if missed else "meets the aim"
    return f"{duel.plan.title}: {won} of {len(duel.matches)} games, {verdict}; lost {lost}"


def lost_shares(duel: Duel) -> Sequence[tuple[str, float]]:
    """Of 100 rounds with so many cards in play, how many the first player lost."""
    counted = [(cards, f"lost with {cards}") for cards in SETUPS]
    sums = [(cards, duel.total(name, 0), duel.total(name, 1)) for cards, name in counted]
    return [(cards, 100 * own / (own + other)) for cards, own, other in sums if own + other]
