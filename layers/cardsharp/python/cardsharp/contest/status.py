"""A contest as its page shows it: read from the records, and from the arena what runs now.

Only what every spectator may know comes in here: no seed, no password, no card that lies hidden.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import zip_longest
from random import Random
from statistics import fmean
from typing import NamedTuple

from cardsharp.contest.charts import Chart, Drawn, Played, chart, charts
from cardsharp.contest.drawing import Drawing, bracket, rounds
from cardsharp.contest.entries import Result, decided_of
from cardsharp.contest.ladder import ratings
from cardsharp.contest.pairing import Decision, Team
from cardsharp.contest.practice import LadderRow, ladder
from cardsharp.contest.records import Records
from cardsharp.contest.tables import Facts, Playing
from cardsharp.ratings import NORMAL_95

_DRAWN = 2000


@dataclass(frozen=True, slots=True)
class Figures:
    """What some matches came to: means of a match, `points` of one team in it."""

    points: float
    busts: float
    late: int
    seconds: float


def figures(played: Sequence[tuple[Facts, Sequence[int]]]) -> Figures:
    """The figures of matches, each for the teams on some of its places."""
    return Figures(
        points=_mean([fmean(facts.points[at] for at in places) for facts, places in played]),
        busts=_mean([sum(facts.busts[at] for at in places) for facts, places in played]),
        late=sum(facts.late[at] for facts, places in played for at in places),
        seconds=_mean([facts.seconds for facts, _ in played]),
    )


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


@lru_cache(maxsize=4)
def chance_strongest(team: Team, results: tuple[Result, ...]) -> float | None:
    """The chance that a team is the strongest, of ratings drawn within margins; None without."""
    shares = [
        ((result.teams[one], result.teams[other]), share)
        for result in results
        for facts in result.facts
        for one, other, share in facts.shares()
    ]
    found = ratings({one for teams, _ in shares for one in teams}, shares)
    if team not in found:
        return None
    dice = Random(0)
    drawn = [
        max(found, key=lambda one: dice.gauss(found[one].value, found[one].margin / NORMAL_95))
        for _ in range(_DRAWN)
    ]
    return drawn.count(team) / _DRAWN


LEAST = 2  # teams of a contest that can be drawn


@dataclass(frozen=True, slots=True)
class TeamLine:
    """A team's line in the standings: `places` it can have, and `fate`, what is left to it.

    `score` are the points by which the places are, None where they are by something else. Then come
    pairings won and lost, and matches won, drawn and lost.
    """

    places: str
    team: Team
    fate: str
    score: float | None
    pairings: tuple[int, int]
    matches: tuple[int, int, int]
    figures: Figures


@dataclass(frozen=True, slots=True)
class RoundLine:
    """A tag's line in the statistics."""

    title: str
    tag: str
    pairings: int
    decided: int
    matches: int
    figures: Figures


class Running(NamedTuple):
    """A match that runs, with its number in its pairing; of practice without a `result`."""

    table: Playing
    result: Result | None = None
    number: int = 1


class Status:
    """How a contest stands at one moment, while its arena has these matches `running`."""

    def __init__(self, records: Records, running: Iterable[Playing] = ()) -> None:
        self.settings, self.form = records.settings, records.form
        self.paused = records.paused
        self.frozen = records.frozen
        self.teams = [team.id for team in records.teams()]
        self.names = records.names()
        self._withdrawn = records.withdrawn()
        self.results, self.listed = records.results(), records.listed()
        self._records = records
        self._played = {match.id: match for match in running}
        self._ratings = records.standings()

    @property
    def state(self) -> str:
        """One word or two for how far it is."""
        if not self.results:
            return "practice" if self.practises else "not begun"
        if self.over:
            return "over"
        return "paused" if self.paused else "running"

    @property
    def over(self) -> bool:
        """Whether every pairing is decided."""
        return bool(self.results) and all(result.decided for result in self.results)

    @property
    def practises(self) -> bool:
        """Whether there is practice to be seen."""
        return bool(self._ratings) or any(one.result is None for one in self.running())

    @property
    def champions(self) -> list[Team]:
        """Who has won, once it is over."""
        return self._table[0] if self.over else []

    @property
    def sure(self) -> float | None:
        """The chance that the single champion is the strongest; None before or without matches."""
        if len(self.champions) != 1:
            return None
        return chance_strongest(self.champions[0], tuple(self.results))

    @cached_property
    def _table(self) -> list[list[Team]]:
        if len(self.teams) < LEAST:
            return [self.teams] if self.teams else []
        return self.form.table(self.teams, self._decided)

    @property
    def _decided(self) -> dict[str, Decision]:
        return decided_of(self.results)

    @cached_property
    def version(self) -> str:
        """Changes whenever anything of the page does but the running matches."""
        kept = (self.settings, self.paused, self.frozen, self.names, self.results)
        seen = repr((*kept, len(self._ratings)))
        return hashlib.blake2b(seen.encode(), digest_size=9).hexdigest()

    @property
    def is_knockout(self) -> bool:
        """Whether there is a bracket."""
        return self.form.lives is not None

    def drawing(self) -> Drawing:
        """The bracket, or the rounds side by side."""
        games = self.form.games(len(self.teams))
        if games:
            return bracket(games, self.teams, self.results)
        return rounds(self.results, self.form)

    def standings(self) -> Iterator[TeamLine]:
        """The teams by their places, those who share one by pairings lost and won."""
        place, scores = 1, self.form.scores(self.teams, self._decided)
        for level in self._table:
            last = place + len(level) - 1
            shared = str(place) if place == last else f"{place} to {last}"
            lines = (self._line(shared, team, scores.get(team)) for team in level)
            yield from sorted(lines, key=lambda line: (line.pairings[1], -line.pairings[0]))
            place = last + 1

    def _line(self, places: str, team: Team, score: float | None) -> TeamLine:
        own = [result for result in self.results if team in result.teams]
        decided = [result.winner for result in own if result.decided]
        pairings = decided.count(team), sum(winner not in (team, None) for winner in decided)
        played = [(facts, one.teams.index(team)) for one in own for _match, facts in one.ended]
        won = sum(facts.winner == place for facts, place in played)
        drawn = sum(facts.winner is None for facts, _ in played)
        matches = won, drawn, len(played) - won - drawn
        of_own = figures([(facts, (place,)) for facts, place in played])
        fate = self._fate(team, pairings[1])
        return TeamLine(places, team, fate, score, pairings, matches, of_own)

    def _fate(self, team: Team, lost: int) -> str:
        if team in self.champions:
            return "champion" if len(self.champions) == 1 else "first"
        if team in self._withdrawn:
            return "withdrawn"
        lives = self.form.lives
        if lives is None or self.over:
            return ""
        return "out" if lost >= lives else "one loss" if lost else "no loss"

    def statistics(self) -> Iterator[RoundLine]:
        """The figures of each round, and of the whole contest."""
        name = self.settings.name
        for number in sorted({result.round for result in self.results}):
            found = [result for result in self.results if result.round == number]
            yield _round(f"Round {number}", f"{name}_Round{number}", found)
        yield _round("All rounds", name, self.results)

    def ladder(self) -> list[LadderRow]:
        """How practice stands, the best first."""
        return ladder(self._records) if self.practises else []

    def chart(self) -> Chart | None:
        """The ratings of practice over time."""
        return chart(self._ratings)

    def charts(self) -> list[Drawn]:
        """The charts of the matches that have ended."""
        return charts(
            [
                Played(tuple(self.names.get(team, team) for team in result.teams), facts)
                for result in self.results
                for facts in result.facts
            ]
        )

    def running(self) -> list[Running]:
        """The matches that are being played: the contest's, then those of practice."""
        found = [
            Running(self._played[match], result, number)
            for result in self.results
            if not result.decided
            for number, match in enumerate(result.matches, 1)
            if match in self._played
        ]
        tag = self.settings.practice
        return found + [
            Running(match)
            for match in self._played.values()
            if not match.foreign and tag in match.tags
        ]

    def matches(self, result: Result) -> list[tuple[str, Facts | None]]:
        """The matches of a pairing, with what they came to that have ended."""
        return list(zip_longest(result.matches, result.facts))


def _round(title: str, tag: str, results: Sequence[Result]) -> RoundLine:
    played = [facts for result in results for _match, facts in result.ended]
    decided = sum(result.decided for result in results)
    of_all = figures([(facts, range(len(facts.points))) for facts in played])
    return RoundLine(title, tag, len(results), decided, len(played), of_all)
