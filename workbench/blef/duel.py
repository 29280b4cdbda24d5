"""Strategies against each other in this process, by the real rules and at full speed.

Who sits where rotates from game to game. A strategy sees what it would see at a real table: the
`Position` of its seat.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from random import Random
from time import process_time

from cardsharp.blef import rules
from cardsharp.blef.cards import DECK
from cardsharp.blef.position import position_of
from cardsharp.blef.strategies import Strategy, build

NORMAL_95 = 1.96
"""Standard errors to each side of a mean that hold 95 % of a normal distribution."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """One player against so many copies of another, over games that the seed decides."""

    first: str
    second: str
    games: int
    seed: int = 1
    copies: int = 1


@dataclass
class Report:
    """The outcome; `seconds` are the first player's processor time for each decision."""

    pairing: Pairing
    won: int = 0
    rounds: int = 0
    moves: int = 0
    seconds: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """The share of games that the first player won."""
        return self.won / self.pairing.games

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of that share, by Wilson's formula."""
        return wilson(self.won, self.pairing.games)

    @property
    def slowest(self) -> float:
        """Seconds that 95 % of the first player's decisions took at most; 0 without any."""
        times = sorted(self.seconds)
        return times[min(len(times) - 1, int(0.95 * len(times)))] if times else 0.0

    def as_json(self) -> dict[str, object]:
        """All figures."""
        return {
            "players": [self.pairing.first, self.pairing.second],
            "copies": self.pairing.copies,
            "games": self.pairing.games,
            "seed": self.pairing.seed,
            "won": self.rate,
            "interval": list(self.interval),
            "fair": 1 / (1 + self.pairing.copies),
            "rounds": self.rounds,
            "moves": self.moves,
            "decision_p95_ms": 1000 * self.slowest,
        }

    def __str__(self) -> str:
        pairing, games = self.pairing, self.pairing.games
        low, high = self.interval
        copies = f"{pairing.copies} copies of " if pairing.copies > 1 else ""
        return (
            f"{pairing.first} won {self.rate:.1%} of {games} games against {copies}"
            f"{pairing.second} (95 %: {low:.1%} to {high:.1%}; "
            f"equal players: {1 / (1 + pairing.copies):.1%}); "
            f"{self.rounds / games:.1f} rounds and {self.moves / games:.1f} moves a game, "
            f"{1000 * self.slowest:.1f} ms a decision (95th percentile)."
        )


def wilson(won: int, games: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    share, z = won / games, NORMAL_95
    scale = 1 + z * z / games
    middle = (share + z * z / (2 * games)) / scale
    half = z / scale * sqrt(share * (1 - share) / games + z * z / (4 * games * games))
    return max(0.0, middle - half), min(1.0, middle + half)


def duel(pairing: Pairing) -> Report:
    """Play the games; the same pairing gives the same games.

    Raises:
        ConfigError: no strategy has such a name.
    """
    report = Report(pairing)
    dice = Random(f"{pairing.seed}/players")
    hero = build(pairing.first, dice)
    others = [build(pairing.second, dice) for _ in range(pairing.copies)]
    for game in range(pairing.games):
        seat = game % (1 + pairing.copies)
        players = [*others[:seat], hero, *others[seat:]]
        report.won += _play(players, Random(f"{pairing.seed}/{game}"), seat, report) == seat
    return report


def _play(players: Sequence[Strategy], rng: Random, watched: int, report: Report) -> int:
    """Play one game and count it; the seat of the winner."""
    live = rules.start(len(players), lambda cards: tuple(rng.sample(DECK, cards)))
    while live.turn is not None and live.winner is None:
        seat = live.turn
        position = position_of(live, seat)
        began = process_time()
        action = players[seat].decide(position).action
        if seat == watched:
            report.seconds.append(process_time() - began)
        step = rules.apply(live, action, lambda cards: tuple(rng.sample(DECK, cards)))
        report.moves += 1
        report.rounds += step.closed is not None
        live = step.live
    if live.winner is None:
        raise AssertionError("a game of Blef has ended without a winner")
    return live.winner
