"""The games of double elimination, laid out beforehand for any number of teams.

There is a bracket of winners, one of losers, a final, and a second final where the first one is its
loser's first loss.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from cardsharp.contest.pairing import Seeds, Team


class Part(StrEnum):
    """Where in the bracket a game is."""

    WINNERS = "winners"
    LOSERS = "losers"
    FINAL = "final"
    RESET = "reset"


@dataclass(frozen=True, slots=True)
class Seed:
    """A team that is in a game from the start; 0 is the best seed."""

    place: int


@dataclass(frozen=True, slots=True)
class Winner:
    """The team that has won a game."""

    game: int


@dataclass(frozen=True, slots=True)
class Loser:
    """The team that has lost a game."""

    game: int


Source = Seed | Winner | Loser


@dataclass(frozen=True, slots=True)
class Game:
    """A game of the bracket, with where its two teams come from."""

    number: int
    part: Part
    round: int
    sources: tuple[Source, ...]


Losers = list[Source | None]  # of a round of the winners; None is nobody
Drop = Callable[[Losers], Losers]  # their order as they come to the losers' bracket


def straight(losers: Losers) -> Losers:
    """In the order of the winners' bracket."""
    return losers


def backwards(losers: Losers) -> Losers:
    """The last first."""
    return losers[::-1]


def halves(losers: Losers) -> Losers:
    """The second half before the first."""
    half = len(losers) // 2
    return losers[half:] + losers[:half]


def each_half_backwards(losers: Losers) -> Losers:
    """The halves in place, the last first in each."""
    half = len(losers) // 2
    return losers[:half][::-1] + losers[half:][::-1]


DROPS: tuple[Drop, ...] = (backwards, halves, each_half_backwards)
"""How the losers of the winners' rounds 2, 3, 4 are ordered; those of later rounds are straight.

So two teams that have met cannot meet again earlier than in any other order of up to 16 teams, and
of up to 64 in any of these four ways: all of them were tried.
"""


_Ways = tuple[Source | None, Source | None]  # where winner and loser of a game come from


def _played(games: list[Game], part: Part, pair: _Ways, least: int = 1) -> _Ways:
    """Add a game of the pair, in round `least` or later; where one is nobody, nothing is played."""
    first, second = pair
    if first is None or second is None:
        return first or second, None
    before = [games[one.game].round + 1 for one in (first, second) if not isinstance(one, Seed)]
    number = len(games)
    games.append(Game(number, part, max(least, *before, 1), (first, second)))
    return Winner(number), Loser(number)


@lru_cache(maxsize=128)
def bracket(places: tuple[int | None, ...], drops: tuple[Drop, ...] = DROPS) -> tuple[Game, ...]:
    """The games in the order in which they can be played, numbered from 1.

    `places` are the seeds of the first round from top to bottom, None where nobody is: as many as
    a power of two.
    """
    games: list[Game] = []
    upper: list[Source | None] = [None if place is None else Seed(place) for place in places]
    lower: Losers = []
    number = 0
    while len(upper) > 1:
        number += 1
        pairs = zip(upper[::2], upper[1::2], strict=True)
        ended = [_played(games, Part.WINNERS, pair, number) for pair in pairs]
        upper = [winner for winner, _ in ended]
        fallen = [loser for _, loser in ended]
        if number > 1:
            order = drops[number - 2] if number - 2 < len(drops) else straight
            fallen = order(fallen)
            pairs = zip(lower, fallen, strict=True)
            lower = [_played(games, Part.LOSERS, pair)[0] for pair in pairs]
        else:
            lower = fallen
        if len(lower) > 1:
            pairs = zip(lower[::2], lower[1::2], strict=True)
            lower = [_played(games, Part.LOSERS, pair)[0] for pair in pairs]
    final = _played(games, Part.FINAL, (upper[0], lower[0]))
    _played(games, Part.RESET, final)
    return _numbered(games)


def _numbered(games: list[Game]) -> tuple[Game, ...]:
    """The games by round, in it the winners' before the losers', from top to bottom."""
    order = list(Part)
    games = sorted(games, key=lambda game: (game.round, order.index(game.part), game.number))
    new = {game.number: number for number, game in enumerate(games, 1)}

    def renamed(source: Source) -> Source:
        return source if isinstance(source, Seed) else replace(source, game=new[source.game])

    return tuple(
        replace(game, number=new[game.number], sources=tuple(map(renamed, game.sources)))
        for game in games
    )


def seeded(teams: int) -> tuple[int | None, ...]:
    """The places of so many teams: the best meet as late as can be, and have the byes."""
    places = [0]
    while len(places) < teams:
        last = 2 * len(places) - 1
        places = [place for best in places for place in (best, last - best)]
    return tuple(place if place < teams else None for place in places)


Ends = Mapping[int, tuple[Team, Team]]  # winner and loser of each decided game


def team_of(source: Source, teams: Seeds, ends: Ends) -> Team | None:
    """The team that a source brings, None where it is not known yet."""
    match source:
        case Seed(place):
            return teams[place]
        case Winner(game):
            return ends[game][0] if game in ends else None
        case Loser(game):
            return ends[game][1] if game in ends else None


def ended(teams: Sequence[Team], winner: Team) -> tuple[Team, Team]:
    """Winner and loser of a pairing."""
    first, second = teams
    return (first, second) if winner == first else (second, first)
