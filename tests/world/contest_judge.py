"""What became of a contest: its results held against the arena's own matches."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise, product
from pathlib import Path

from cardsharp.contest.entries import Meeting, Result, Settings
from cardsharp.contest.pairing import Decision, Pairing, Score, Team
from cardsharp.contest.records import Records
from cardsharp.contest.sqlite import kept_in
from cardsharp.deadmansdraw.arena.match import Match, Move
from cardsharp.deadmansdraw.arena.storage import SqliteStorage
from world.judge import Suffered

PAUSED = "paused by the organiser"

UNDER_WAY = timedelta(seconds=2)  # after a pause began a match may begin that was on its way
FELT = timedelta(seconds=3)  # after its end a trouble is felt, as programs start anew
LIVES = 2

_FORCED = re.compile(r"Forceful turn ending due to player (\w+) inactivity after ([\d.]+) seconds")


@dataclass(frozen=True, slots=True)
class Forced:
    """A turn that was ended by force: whose, when it had begun and ended, and in which match."""

    team: Team
    match: str
    begin: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Played:
    """The matches of the arena's file, each with its moves, and the contest's own results.

    It is `decided` where its organiser has decided anything that the matches did not.
    """

    settings: Settings
    teams: Sequence[Team]
    results: Sequence[Result]
    meetings: Sequence[Meeting]
    matches: Sequence[tuple[Match, Sequence[Move]]]
    decided: bool = False

    def tagged(self, tag: str) -> list[tuple[Match, Sequence[Move]]]:
        return [
            (match, moves)
            for match, moves in self.matches
            if match.pairing.creator is None and tag in (match.params.tags or ())
        ]


def played_in(records: Records, matches: Iterable[tuple[Match, Sequence[Move]]]) -> Played:
    """What a contest's records tell, beside the arena's matches."""
    teams = [team.id for team in records.teams()]
    found, decided = records.results(), any(records.under("act"))
    return Played(records.settings, teams, found, records.meetings(), list(matches), decided)


def files_of(folder: Path) -> Played:
    """What the files of a contest tell, after its end."""
    with closing(SqliteStorage(folder / "arena.db")) as storage, kept_in(folder) as records:
        readable = (match for _, match in storage.matches() if match is not None)
        return played_in(records, [(match, storage.history(match.id)) for match in readable])


def excuse_of(
    forced: Forced, always: Mapping[Team, str], suffered: Mapping[Team, Sequence[Suffered]]
) -> str | None:
    """Why a turn may be late: how its team is, or what befell it; None where nothing did."""
    if forced.team in always:
        return always[forced.team]
    for one in suffered.get(forced.team, ()):
        if one.until and forced.begin - FELT <= one.until and one.at <= forced.end:
            return one.name
    return None


def faults_of(played: Played, suffered: Sequence[Suffered] = ()) -> Iterator[str]:
    """Sentences about what must not be: a life too many, a match lost or counted twice."""
    decided = {
        result.pairing: Decision(result.wins, result.winner)
        for result in played.results
        if result.decided
    }
    for result in played.results:
        if result.pairing not in decided:
            yield f"Pairing {result.pairing} was never decided."
    expected = [one.key for one in played.settings.form.pairings(played.teams, decided)]
    if expected != [result.pairing for result in played.results]:
        yield f"The pairings are {[one.pairing for one in played.results]}, not {expected}."
    yield from _lives(played)
    yield from _matches(played)
    yield from _practice(played)
    pauses = [one for one in suffered if one.name == PAUSED]
    for (match, _), (begin, _, end) in product(played.matches, pauses):
        if end and begin + UNDER_WAY < match.started_at < end:
            yield f"Match {match.id} began at {match.started_at:%X}, in a pause."


def _lives(played: Played) -> Iterator[str]:
    lost: Counter[Team] = Counter()
    for result in played.results:
        for team in result.teams:
            if lost[team] >= LIVES:
                yield f"{team} has lost twice before pairing {result.pairing}."
            lost[team] += result.winner != team
    alive = [team for team in played.teams if lost[team] < LIVES]
    if len(alive) != 1:
        yield f"In the end {len(alive)} teams have a life left: {', '.join(alive)}."


def _matches(played: Played) -> Iterator[str]:
    """The matches of each pairing, taken from the arena's file alone."""
    found: defaultdict[tuple[str, frozenset[Team]], dict[int, Match]] = defaultdict(dict)
    for match, _ in played.tagged(played.settings.name):
        _, key, number = (match.params.tags or ())[2].split(":")
        of = found[key, frozenset(match.pairing.players)]
        if int(number) in of:
            yield f"Match {number} of pairing {key} was played twice."
        if not match.finished:
            yield f"Match {match.id} of pairing {key} goes on after the contest."
        of[int(number)] = match
    for result in played.results:
        of = found.pop((result.pairing, frozenset(result.teams)), {})
        yield from _pairing(result, of, played.settings)
    for key, _ in () if played.decided else found:  # who meets there may have been changed
        yield f"There are matches of pairing {key}, which the contest does not know."


def _pairing(result: Result, matches: Mapping[int, Match], settings: Settings) -> Iterator[str]:
    pairing = result.drawn
    numbers = sorted(matches)
    if numbers != list(range(len(matches))):
        yield f"Of pairing {result.pairing} the matches {numbers} were played."
    if [matches[number].id for number in numbers] != list(result.matches):
        yield f"Pairing {result.pairing} counts other matches than were played."
    scores = [_score(matches[number], pairing) for number in numbers]
    found = settings.rules.decision(pairing, scores)
    ended = (found.wins, found.winner) if found else None
    if result.ruled is None and ended != (result.wins, result.winner):
        yield f"Pairing {result.pairing} was decided otherwise than by its matches."


def _practice(played: Played) -> Iterator[str]:
    """The matches of practice: each on record once, and none running on."""
    found = [match for match, _ in played.tagged(played.settings.practice)]
    for match in found:
        if not match.finished:
            yield f"Match {match.id} of practice goes on after it."
    if sorted(match.id for match in found) != sorted(one.match for one in played.meetings):
        yield f"Practice counts {len(played.meetings)} matches, and {len(found)} were played."


def _score(match: Match, pairing: Pairing) -> Score:
    outcome, players = match.state.outcome, match.pairing.players
    banks = dict(zip(players, match.state.banks, strict=True))
    winner = None if outcome is None or outcome.winner is None else players[outcome.winner]
    first, second = pairing.teams
    points = banks[first].score, banks[second].score
    return Score(points, None if winner is None else pairing.teams.index(winner))


def forced_turns(played: Played) -> Iterator[Forced]:
    for match, moves in played.matches:
        for move in moves:
            for event in move.events():
                told = _FORCED.match(event.get("comment", ""))
                if told:
                    took = timedelta(seconds=float(told[2]))
                    yield Forced(told[1], match.id, move.at - took, move.at)


def longest_standstill(played: Played) -> float:
    """For how many seconds no move was made at the arena."""
    moments = sorted(move.at for _, moves in played.matches for move in moves)
    return max(((b - a).total_seconds() for a, b in pairwise(moments)), default=0)
