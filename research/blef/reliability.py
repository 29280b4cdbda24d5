"""`cardsharp research blef reliability`: whether bets hold as often as the default says."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import count, islice
from random import Random
from statistics import fmean
from typing import Annotated, NamedTuple

from cyclopts import Parameter, validators

from cardsharp.blef.actions import BETS, CHECK
from cardsharp.blef.rules import MAX_PLAYERS
from cardsharp.blef.simulation import Blef, Match
from cardsharp.blef.strategies import build
from cardsharp.blef.strategies.bayes import foresee, weighed
from cardsharp.blef.strategies.greedy import own_odds
from cardsharp.blef.strategies.reading import readings
from research.blef.strangers import RULES
from workbench.lab.interval import score_interval
from workbench.lab.options import Seed
from workbench.show.options import Json
from workbench.show.output import print_json, results
from workbench.show.progress import Bar

_LEVELS = 10


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


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ReliabilityOptions:
    """How many bets, at how large tables."""

    bets: Annotated[int, Parameter(alias="-n", validator=validators.Number(gte=1))] = 10_000
    players: Annotated[int, Parameter(validator=validators.Number(gte=3, lte=MAX_PLAYERS))] = 3
    seed: Seed = 1
    as_json: Json = False


def reliability(*, options: ReliabilityOptions = ReliabilityOptions()) -> None:
    """Hold what the default says of bets against what lay there, by tenths of what it said.

    It plays whole games against the strangers of `gate` in turn, and tells at each
    of its decisions how likely the last bet is and, where it bets, its own one;
    what is certain by its own cards does not count.
    """
    told: list[Told] = []
    with Bar(options.bets, "bets") as bar:
        for one in islice(bets(options.players, options.seed), options.bets):
            told.append(one)
            bar.advance()
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
