"""Whether a strategy's win probability means what it says, on games that it has not seen."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from statistics import fmean

from cardsharp.errors import ConfigError
from research.pictures import Picture
from workbench.lab.extras import extras_of
from workbench.lab.interval import score_interval
from workbench.lab.plan import Plan
from workbench.lab.players import strategy_of

BINS = 10

Said = tuple[float, float]
"""A win probability that was given, and the points that the match brought: 1, a half, or 0."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The turns in which about the same was said."""

    number: int
    said: float
    came: float

    @property
    def margin(self) -> float:
        """Half the 95 % interval of `came`, were the turns independent."""
        return score_interval(self.came, self.number).margin


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was said and what came, in bins of a tenth."""

    matches: int
    bins: tuple[Bin, ...]

    @property
    def error(self) -> float:
        """The expected calibration error: the mean distance of the bins, by their turns."""
        turns = sum(one.number for one in self.bins)
        return sum(one.number * abs(one.said - one.came) for one in self.bins) / turns

    def document(self) -> dict[str, object]:
        """The figures for programs."""
        return {
            "matches": self.matches,
            "error": round(self.error, 4),
            "bins": [[one.number, round(one.said, 4), round(one.came, 4)] for one in self.bins],
        }

    def picture(self, name: str) -> Picture:
        """The reliability diagram."""
        bins = ((one.said, one.came, one.margin) for one in self.bins)
        return Picture(
            title=f"{name}: expected calibration error {self.error:.3f}",
            x="win probability said",
            y="points that came",
            points=tuple((said, came, came - off, came + off) for said, came, off in bins),
            diagonal=True,
        )


def calibrate(first: str, second: str, matches: int, seed: int, workers: int) -> Calibration:
    """The calibration of `first` over its turns in matches against `second`.

    Raises:
        ConfigError: the strategy's values are no probabilities.
    """
    play = partial(_play, first, second, seed)
    if workers == 1:
        said = [one for number in range(matches) for one in play(number)]
    else:
        with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
            played = pool.map(play, range(matches), chunksize=4)
            said = [one for several in played for one in several]
    if not said or not all(0 <= chance <= 1 for chance, _ in said):
        raise ConfigError(f"'{first}' gives its decisions no win probability; nothing to compare.")
    return Calibration(matches, tuple(_bins(said)))


def _play(first: str, second: str, seed: int, number: int) -> list[Said]:
    """What `first` said in one match, at the first choice of each of its turns."""
    plan = Plan(first=first, second=second, pairs=1, seed=seed)
    game, rolls = plan.simulation, extras_of(plan.game).dice(seed, number)
    players = strategy_of(plan, first, rolls.first), strategy_of(plan, second, rolls.second)
    match = game.deal(rolls.deal)
    said: dict[int, float] = {}
    while (seat := game.to_act(match)) is not None:
        position = game.position(match)
        decision = players[seat].decide(position)
        if seat == 0 and len(decision.options) > 1:
            said.setdefault(position.turn, max(option.value for option in decision.options))
        match = game.act(match, decision.action, rolls.chance)
    return [(chance, game.points(match)[0]) for chance in said.values()]


def _bins(said: Sequence[Said]) -> Iterator[Bin]:
    for tenth in range(BINS):
        inside = [one for one in said if min(int(one[0] * BINS), BINS - 1) == tenth]
        if inside:
            yield Bin(len(inside), fmean(one[0] for one in inside), fmean(one[1] for one in inside))
