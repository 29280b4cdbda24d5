"""`cardsharp research blef gate` and `reliability`: the default against players unknown to it."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import count, islice
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Annotated, NamedTuple

from cyclopts import Parameter, validators

from cardsharp.blef.actions import BETS, CHECK
from cardsharp.blef.game import GAME
from cardsharp.blef.rules import MAX_PLAYERS
from cardsharp.blef.simulation import SETUPS, Blef, Match
from cardsharp.blef.strategies import build
from cardsharp.blef.strategies.bayes import foresee, weighed
from cardsharp.blef.strategies.greedy import own_odds
from cardsharp.blef.strategies.reading import readings
from cardsharp.errors import ConfigError
from research.blef.strangers import RULES, STEPS
from workbench.lab.duel import Duel
from workbench.lab.interval import score_interval
from workbench.lab.ledger import watched
from workbench.lab.options import Positive, Seed
from workbench.lab.plan import Plan
from workbench.show.exits import Exit
from workbench.show.options import CommandOptions, Json
from workbench.show.output import print_json, results
from workbench.show.progress import each


class Aim(NamedTuple):
    """What the points in 100 and the lower end of their interval are to be, at least."""

    points: float
    low: float


_LEVELS = 10
_ALONE, _AGAINST_COPIES = Aim(90, 86), Aim(75, 0)


@dataclass(frozen=True, kw_only=True)
class GateOptions(CommandOptions):
    """Who meets whom, and how often."""

    player: Annotated[str, Parameter(help="Who is measured.")] = GAME.default_strategy
    only: Annotated[
        tuple[str, ...],
        Parameter(negative=(), help="These strangers, one-step or two-step; else all strangers."),
    ] = ()
    pairs: Annotated[int, Parameter(alias="-n", validator=Positive)] = 200
    """Deals, each played from every side."""
    copies: Annotated[int, Parameter(validator=Positive)] = 1
    """How many of the stranger sit there."""
    seed: Seed = 1
    out: Path | None = None
    """A folder that keeps each pair; the same command goes on with what is there."""
    as_json: Json = False

    def plans(self) -> Iterator[Plan]:
        """The duels; raises `ConfigError` where there is no such stranger."""
        there = (*RULES, *STEPS)
        for name in self.only or RULES:
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
        duels.append(watched(plan, None, options.kept(plan)))
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
    """A duel in a line, with how many of 100 rounds were lost, by the cards in play."""
    bounds, missed = duel.interval, short(duel)
    won = f"{duel.points:.1f} ({bounds.low:.1f} to {bounds.high:.1f})"
    counted = ((cards, f"lost with {cards}") for cards in SETUPS)
    sums = [(cards, duel.total(name, 0), duel.total(name, 1)) for cards, name in counted]
    shares = ((cards, 100 * own / (own + other)) for cards, own, other in sums if own + other)
    lost = "; ".join(f"{cards} cards {share:.0f}" for cards, share in shares)
    verdict = f"falls short by {missed}" if missed else "meets the aim"
    return f"{duel.plan.title}: {won} of {len(duel.matches)} games, {verdict}; lost {lost}"


class Told(NamedTuple):
    """A chance that was told of a bet, and whether the bet held."""

    chance: float
    held: bool


class Level(NamedTuple):
    """Bets of which about as much was told: in per cent the mean, what held, and its bounds."""

    bets: int
    told: float
    held: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class ReliabilityOptions(CommandOptions):
    """How many bets, at how large tables."""

    bets: Annotated[int, Parameter(alias="-n", validator=Positive)] = 10_000
    players: Annotated[int, Parameter(validator=validators.Number(gte=3, lte=MAX_PLAYERS))] = 3
    seed: Seed = 1
    as_json: Json = False


def reliability(*, options: ReliabilityOptions = ReliabilityOptions()) -> None:
    """Hold what the default says of bets against what lay there, by tenths of what it said.

    It plays whole games against the strangers of `gate` in turn, and tells at each
    of its decisions how likely the last bet is and, where it bets, its own one;
    what is certain by its own cards does not count.
    """
    played = islice(bets(options.players, options.seed), options.bets)
    told = list(each(played, "bets", options.bets))
    found = curve(told)
    error = fmean((one.chance - one.held) ** 2 for one in told)
    if options.as_json:
        print_json({**asdict(options), "error": error, "levels": [one._asdict() for one in found]})
        return
    for level in found:
        held = f"held {level.held:.1f} % ({level.low:.1f} to {level.high:.1f})"
        results().print(f"said {level.told:.1f} %, {held} of {level.bets:,} bets")
    results().print(f"mean squared error {error:.4f}")


def curve(told: Sequence[Told]) -> list[Level]:
    """What held, by tenths of what was told; those of which nothing was told are left out."""
    levels: list[list[Told]] = [[] for _ in range(_LEVELS)]
    for one in told:
        levels[min(int(one.chance * _LEVELS), _LEVELS - 1)].append(one)
    return [_level(level) for level in levels if level]


def _level(level: Sequence[Told]) -> Level:
    share = fmean(one.held for one in level)
    bounds = score_interval(share, len(level)).scaled(100)
    return Level(len(level), 100 * fmean(one.chance for one in level), 100 * share, *bounds)


def bets(players: int, seed: int) -> Iterator[Told]:
    """What is told of bets, game after game without an end."""
    names = [*RULES]
    for number in count():
        others = [names[(number + seat) % len(names)] for seat in range(players - 1)]
        yield from _told(Blef(players), others, Random(f"{seed} {number}"))


def _told(simulation: Blef, others: Sequence[str], dice: Random) -> Iterator[Told]:
    """What the first seat is told in a game against these others, until it is out."""
    players = [build(name, dice) for name in others]
    state: Match = simulation.deal(dice)
    while state.live.n_cards[0] and (seat := simulation.to_act(state)) is not None:
        position = simulation.position(state)
        if seat:
            action = players[seat - 1].decide(position).action
        else:
            seen, own = foresee(position, readings(position)), own_odds(position)
            action = weighed(position, seen).action
            pool = [card for hand in state.live.hands for card in hand]
            for bet in (position.last_bet, action):
                if bet is not None and bet != CHECK and 0 < own[bet] < 1:
                    yield Told(seen.chances[bet], BETS[bet].holds(pool))
        state = simulation.act(state, action, dice)
