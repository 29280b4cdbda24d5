"""`cardsharp research rule`: the numbers of a rule that a person can play by, by seeded search."""

from ctypes import Structure, byref
from dataclasses import dataclass
from itertools import product
from random import Random
from statistics import fmean
from typing import Annotated

from cyclopts import Parameter

from research.compiling import declare, members
from research.deadmansdraw.engine import Engine, Twin, needed
from workbench.lab.duel import LessLuck, Luck, Result
from workbench.lab.interval import interval
from workbench.lab.options import Positive, Seed
from workbench.show.options import CommandOptions, Json
from workbench.show.output import print_json, results
from workbench.show.progress import Bar

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

    All rules meet on few decks, and the better half of them again on twice as many.
    """
    engine = needed(options.opponent)
    search = Search(engine, engine.twin(options.opponent), options)
    rules = list(product(*_CHOICES.values()))
    with Bar(len(rules) * 2, "rules") as bar:
        while len(rules) > 1:
            bar.advance(len(rules))
            rules = search.better_half(rules)
    search.tell(rules[0])


class Search:
    """The rules against an opponent; each round has fresh decks."""

    def __init__(self, engine: Engine, opponent: Twin, options: RuleOptions) -> None:
        self.engine, self.opponent, self.options = engine, opponent, options
        self.decks, self.dice = 200, Random(options.seed)
        declare(engine.library.rule_new, "P", "P")

    def player(self, numbers: tuple[int, ...]) -> Twin:
        """Who plays by these numbers."""
        return Twin(self.engine.library.rule_new(byref(Numbers(*numbers))))

    def better_half(self, rules: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Half of the rules by what they make on the same decks, twice as many each time."""
        seed, made = self.dice.getrandbits(32), dict[tuple[int, ...], float]()
        for numbers in rules:
            pairs = self.engine.play((self.player(numbers), self.opponent), seed, range(self.decks))
            made[numbers] = fmean(match.points for pair in pairs for match in pair)
        self.decks = min(2 * self.decks, self.options.pairs)
        return sorted(rules, key=made.__getitem__, reverse=True)[: -(-len(rules) // 2)]

    def tell(self, numbers: tuple[int, ...]) -> None:
        """The rule that is left, and its points in 100 on decks that it was not found on."""
        players, pairs = (self.player(numbers), self.opponent), range(self.options.pairs)
        seed, less = self.dice.getrandbits(32), LessLuck()
        shares = [
            less.share(
                tuple(Result(one.points, {}, luck=Luck(one.again, one.luck)) for one in pair)
            )
            for pair in self.engine.play(players, seed, pairs, less_luck=True)
        ]
        points, bounds = 100 * fmean(shares), interval(shares, matches=2).scaled(100)
        named = dict(zip(_CHOICES, numbers, strict=True))
        if self.options.as_json:
            print_json({**named, "points": points, "lower": bounds.low, "upper": bounds.high})
            return
        told = ", ".join(f"{name} {number}" for name, number in named.items())
        within = f"(95 %: {bounds.low:.1f} to {bounds.high:.1f})"
        results().print(f"{told}: {points:.1f} % {within} against {self.options.opponent}")
