"""Two players against each other over many games, with the figures that tell them apart.

Every shuffle is played twice with the seats exchanged, so luck of the cards cancels out. The
engine plays compiled where there is a compiler: the same games, many times as fast.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from random import Random
from statistics import fmean, stdev

from cardsharp.errors import ConfigError
from cardsharp.euchre.rules import Result
from cardsharp.euchre.state import Deal
from cardsharp.euchre.strategies import Strategy, build
from cardsharp.euchre.strategies.pimc import Effort, Pimc
from cardsharp.euchre.table import TRICKS
from workbench.euchre.coordinator import CHAIRS, Player, StrategyPlayer, play_game, shuffled
from workbench.euchre.native.compiled import PLAYERS, Compiled, Contender, available
from workbench.euchre.native.compiled import play_game as compiled_game
from workbench.euchre.remote import RemotePlayer

NORMAL_95 = 1.96
"""Standard errors to each side of a mean that hold 95 % of a normal distribution."""

SIDES = 2

ENGINE = "pimc"

YARDSTICK = "rules"
"""Whom the engine is measured against."""


@dataclass
class Side:
    """What one player did, over all games."""

    calls: int = 0
    first_round: int = 0
    alone: int = 0
    made: int = 0
    marches: int = 0
    lone_marches: int = 0
    euchred: int = 0
    points: int = 0

    def count(self, figures: Mapping[str, int]) -> None:
        """Add figures by name."""
        for name, figure in figures.items():
            setattr(self, name, getattr(self, name) + figure)

    def add(self, deal: Deal, result: Result, *, calls: bool, points: int) -> None:
        """Count a deal."""
        self.points += points
        call = deal.table.call
        if not calls or call is None:
            return
        self.calls += 1
        self.first_round += call.picks_up
        self.alone += result.alone
        self.euchred += result.euchred
        self.made += not result.euchred
        self.marches += result.tricks == TRICKS
        self.lone_marches += result.alone and result.tricks == TRICKS


@dataclass
class Report:
    """The outcome; `shares` holds the first player's share of each pair of games: 0, 0.5 or 1."""

    names: tuple[str, str]
    shares: list[float] = field(default_factory=list)
    deals: int = 0
    passed_out: int = 0
    sides: tuple[Side, Side] = field(default_factory=lambda: (Side(), Side()))

    @property
    def games(self) -> int:
        """Games played."""
        return SIDES * len(self.shares)

    @property
    def rate(self) -> float:
        """The share of games that the first player won."""
        return fmean(self.shares)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of that share; the whole range for a single pair."""
        if len(self.shares) < 2:  # noqa: PLR2004 - a deviation needs two
            return 0.0, 1.0
        # An even score would claim certainty: as if one pair had been neither won nor lost.
        spread = max(stdev(self.shares), 0.5 / math.sqrt(len(self.shares)))
        half = NORMAL_95 * spread / math.sqrt(len(self.shares))
        return max(0.0, self.rate - half), min(1.0, self.rate + half)

    def add(self, other: "Report") -> None:
        """Add the games of another report on the same players."""
        self.shares += other.shares
        self.deals += other.deals
        self.passed_out += other.passed_out
        for mine, theirs in zip(self.sides, other.sides, strict=True):
            mine.count(vars(theirs))

    def as_json(self) -> dict[str, object]:
        """All figures."""
        return {
            "players": list(self.names),
            "games": self.games,
            "won": self.rate,
            "interval": list(self.interval),
            "deals": self.deals,
            "passed_out": self.passed_out,
            "sides": [vars(side) for side in self.sides],
        }

    def __str__(self) -> str:
        low, high = self.interval
        first, second = self.names
        outcome = (
            f"{first} won {self.rate:.1%} of {self.games} games against {second} "
            f"(95 %: {low:.1%} to {high:.1%}); {self.deals / max(1, self.games):.1f} deals a game, "
            f"{self.passed_out} passed out."
        )
        sides = zip(self.names, self.sides, strict=True)
        return "\n".join([outcome, *(self._line(name, side) for name, side in sides)])

    def _line(self, name: str, side: Side) -> str:
        calls = max(1, side.calls)
        return (
            f"  {name:>10}: calls {side.calls / max(1, self.deals):.1%} of the deals "
            f"({side.first_round / calls:.0%} in the first round), makes {side.made / calls:.1%}, "
            f"all five {side.marches / calls:.1%}, euchred {side.euchred / calls:.1%}; "
            f"alone {side.alone} times, {side.lone_marches} of them all five; "
            f"{side.points / max(1, self.deals):.3f} points a deal"
        )


_PARTS = 100
"""Into which a duel of several processes is cut, so that it can be seen how far it is."""

Tell = Callable[[int], None]
"""Told of games as they end, of so many at once."""


def unheard(_games: int) -> None:
    """Told of games, and says nothing."""


def duel(  # noqa: PLR0913 - each of them is a choice of its own
    names: tuple[str, str],
    games: int,
    seed: int = 1,
    workers: int = 1,
    *,
    plain: bool = False,
    tell: Tell = unheard,
) -> Report:
    """Play the games, in as many processes as `workers` says; the report.

    A name is a strategy's, `pimc@N` for the engine with at most N worlds, or the address of a
    service. The same seed gives the same games, however many processes play them, and whether or
    not the compiled engine (see `native`) plays; `plain` does without it. `tell` hears how far
    it is.
    """
    pairs = range(max(1, games // SIDES))
    contest = Contest(names, seed, compiled=not plain and available())
    report = Report(names)
    if workers == 1:
        parts = [_pairs(contest, pairs, tell)]
    else:
        number = min(len(pairs), max(workers, _PARTS))
        with ProcessPoolExecutor(workers) as pool:
            tasks = [pool.submit(_pairs, contest, pairs[start::number]) for start in range(number)]
            for task in as_completed(tasks):
                tell(task.result().games)
        parts = [task.result() for task in tasks]
    for part in parts:
        report.add(part)
    return report


@dataclass(frozen=True, slots=True)
class Contest:
    """Who plays against whom, on which cards, and whether the compiled engine may play."""

    names: tuple[str, str]
    seed: int
    compiled: bool

    def contender(self, number: int) -> Contender | None:
        """A player whose whole games the compiled engine can play, else None."""
        name, _, worlds = self.names[number].partition("@")
        return Contender(name, effort(worlds)) if name in PLAYERS else None

    def player(self, number: int) -> Player:
        """A player of single decisions."""
        name, _, worlds = self.names[number].partition("@")
        if "://" in name:
            return RemotePlayer(self.names[number])
        if name == ENGINE:
            thinker = Compiled if self.compiled else _plain
            return StrategyPlayer(thinker(effort(worlds)))
        return StrategyPlayer(build(self.names[number]))


def effort(worlds: str) -> Effort:
    """How much the engine thinks with that many worlds, or as always where none are told.

    Raises:
        ConfigError: it is no number of worlds.
    """
    if not worlds:
        return Effort()
    if not worlds.isdecimal() or not int(worlds):
        raise ConfigError(f"'{worlds}' is no number of worlds; write e.g. {ENGINE}@40.")
    return Effort(worlds=int(worlds), batch=min(Effort().batch, int(worlds)))


def _plain(effort: Effort) -> Strategy:
    return Pimc(effort=effort)


def _pairs(contest: Contest, pairs: Sequence[int], tell: Tell = unheard) -> Report:
    """Play some pairs of games in this process."""
    report = Report(contest.names)
    first, second = contest.contender(0), contest.contender(1)
    if contest.compiled and first is not None and second is not None:
        for pair in pairs:
            seed = f"{contest.seed}/{pair}"
            wins = [
                _compiled_game((first, second), seed, swapped, report) for swapped in (False, True)
            ]
            report.shares.append(fmean(wins))
            tell(SIDES)
        return report
    players = contest.player(0), contest.player(1)
    try:
        for pair in pairs:
            seed = f"{contest.seed}/{pair}"
            wins = [_game(players, seed, swapped, report) for swapped in (False, True)]
            report.shares.append(fmean(wins))
            tell(SIDES)
    finally:
        for player in players:
            if isinstance(player, RemotePlayer):
                player.close()
    return report


def _compiled_game(
    contenders: tuple[Contender, Contender], seed: str, swapped: bool, report: Report
) -> bool:
    """The same as `_game`, played by the compiled engine."""
    rng = Random(seed)
    first, second = (contenders[1], contenders[0]) if swapped else contenders
    decks = iter(lambda: shuffled(rng), ())
    game = compiled_game((first, second), rng.randrange(CHAIRS), decks)
    report.deals += game.deals
    report.passed_out += game.passed_out
    for number, side in enumerate(report.sides):
        side.count(game.figures[number ^ swapped])
    return (game.winner == 1) == swapped


def _game(players: tuple[Player, Player], seed: str, swapped: bool, report: Report) -> bool:
    """Play one game and count it; whether the first player won."""
    first, second = (players[1], players[0]) if swapped else players

    def watch(deal: Deal, result: Result, chair: int) -> None:
        report.deals += 1
        report.passed_out += result.caller is None
        for number, side in enumerate(report.sides):
            # The seats 0 and 2 belong to the chairs of the same parity as `chair`.
            parity = (number + swapped + chair) % SIDES
            calls = result.caller is not None and result.caller % SIDES == parity
            side.add(deal, result, calls=calls, points=result.points[parity])

    game = play_game((first, second, first, second), Random(seed), watch)
    return (game.winner == 1) == swapped
