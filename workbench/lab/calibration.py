"""Whether a strategy's win probability means what it says, on games that it has not seen."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import sqrt
from multiprocessing import get_context
from statistics import fmean

from cardsharp.errors import ConfigError
from workbench.lab.dice import Purpose, dice
from workbench.lab.players import player
from workbench.lab.selfplay import NORMAL_95, Match, deal, fair_chance
from workbench.lab.svg import Axis, Picture

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
        return NORMAL_95 * sqrt(max(self.came * (1 - self.came), 0.01) / self.number)


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

    def picture(self, name: str) -> str:
        """The reliability diagram as SVG."""
        tenths = tuple(mark / BINS for mark in range(BINS + 1))
        axes = Axis("win probability said", 0, 1, tenths), Axis("points that came", 0, 1, tenths)
        title = f"{name}: expected calibration error {self.error:.3f}"
        picture = Picture(title, *axes)
        return picture.draw(
            picture.line(((0, 0), (1, 1)), "#999", dashed=True),
            picture.line([(one.said, one.came) for one in self.bins], "#1f77b4"),
            *(picture.dot((one.said, one.came), "#1f77b4", one.margin) for one in self.bins),
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
    makers = (first, Purpose.FIRST), (second, Purpose.SECOND)
    players = [player(name)(dice(seed, number, purpose)) for name, purpose in makers]
    match = Match(
        deal(dice(seed, number, Purpose.DECK)), fair_chance(dice(seed, number, Purpose.CHANCE))
    )
    said: dict[int, float] = {}
    while match.state.active is not None:
        position = match.position()
        decision = players[position.me].decide(position)
        if position.me == 0 and len(decision.options) > 1:
            said.setdefault(position.turn, max(option.value for option in decision.options))
        match.play(decision.action)
    ended = match.state.outcome
    winner = None if ended is None else ended.winner
    points = 0.5 if winner is None else float(winner == 0)
    return [(chance, points) for chance in said.values()]


def _bins(said: Sequence[Said]) -> Iterator[Bin]:
    for tenth in range(BINS):
        inside = [one for one in said if min(int(one[0] * BINS), BINS - 1) == tenth]
        if inside:
            yield Bin(len(inside), fmean(one[0] for one in inside), fmean(one[1] for one in inside))
