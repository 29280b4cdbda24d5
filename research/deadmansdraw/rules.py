"""`cardsharp research rule`: the numbers of a rule that a person can play by, by seeded search."""

from collections.abc import Iterable
from ctypes import Structure, byref
from dataclasses import dataclass
from itertools import product
from random import Random
from statistics import fmean
from typing import Annotated

from cyclopts import Parameter

from research.compiling import declare, members
from research.deadmansdraw.engine import Result as Played
from research.deadmansdraw.engine import Twin, needed, share
from workbench.lab.duel import LessLuck, Luck, Result
from workbench.lab.interval import interval
from workbench.lab.options import Positive, Seed
from workbench.show.options import CommandOptions, Json
from workbench.show.output import print_json, results
from workbench.show.progress import Bar

_FIRST_DECKS = 200  # on which all rules meet
_CHOICES = {"draw": range(2, 10), "treasure": range(0, 21, 2), "sword": range(7)}


class Numbers(Structure):
    """`Rule` of rule.c."""

    _fields_ = members("iii", " ".join(_CHOICES))


@dataclass(frozen=True, kw_only=True)
class RuleOptions(CommandOptions):
    """Against whom, and on how many decks."""

    opponent: Annotated[str, Parameter(help="Whom it is to beat.")] = "champion"
    pairs: Annotated[int, Parameter(validator=Positive, help="Decks of the last round.")] = 20_000
    seed: Seed = 1
    as_json: Json = False


def rule(*, options: RuleOptions = RuleOptions()) -> None:
    """Find the numbers with which the rule does best, and measure them without luck.

    All rules meet on few decks, and the better half of them again on twice as many; each round has
    fresh decks, and so have the points of the rule that is left.
    """
    engine, dice = needed(options.opponent), Random(options.seed)
    opponent, decks = engine.twin(options.opponent), _FIRST_DECKS
    new = declare(engine.library.rule_new, "P", "P")
    rules = [(one, Twin(new(byref(Numbers(*one))))) for one in product(*_CHOICES.values())]
    with Bar(len(rules) * 2, "rules") as bar:
        while len(rules) > 1:
            bar.advance(len(rules))
            seed, numbers = dice.getrandbits(32), range(decks)
            made = [
                fmean(map(share, engine.play((player, opponent), seed, numbers)))
                for _, player in rules
            ]
            best = sorted(range(len(rules)), key=made.__getitem__, reverse=True)
            rules = [rules[place] for place in best[: -(-len(rules) // 2)]]
            decks = min(2 * decks, options.pairs)
    [(found, player)] = rules
    pairs = engine.play(
        (player, opponent), dice.getrandbits(32), range(options.pairs), less_luck=True
    )
    _tell(found, pairs, options)


def _tell(
    numbers: tuple[int, ...], pairs: Iterable[tuple[Played, Played]], options: RuleOptions
) -> None:
    """The rule that is left, and its points in 100 on decks that it was not found on."""
    less = LessLuck()
    shares = [
        less.share(tuple(Result(one.points, {}, luck=Luck(one.again, one.luck)) for one in pair))
        for pair in pairs
    ]
    points, bounds = 100 * fmean(shares), interval(shares, matches=2).scaled(100)
    named = dict(zip(_CHOICES, numbers, strict=True))
    if options.as_json:
        print_json({**named, "points": points, "lower": bounds.low, "upper": bounds.high})
        return
    told = ", ".join(f"{name} {number}" for name, number in named.items())
    within = f"(95 %: {bounds.low:.1f} to {bounds.high:.1f})"
    results().print(f"{told}: {points:.1f} % {within} against {options.opponent}")
