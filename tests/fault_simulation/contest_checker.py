"""Check of a contest: its results compared with the arena's matches."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise, product
from pathlib import Path

from cardsharp.contest.contest_file import open_contest_in
from cardsharp.contest.formats.pairing import MatchScore, Pairing, PairingOutcome, TeamId
from cardsharp.contest.models import ContestSettings, PairingResult, PracticeMatch
from cardsharp.contest.results import ContestRecords
from cardsharp.games.deadmansdraw.arena.match import ArenaMatch, ArenaMove
from cardsharp.games.deadmansdraw.arena.storage.sqlite_storage import SqliteStorage
from fault_simulation.checker import Incident

PAUSED = "paused by the organiser"

START_DELAY = timedelta(seconds=2)  # after a pause began a match may begin that was on its way
INCIDENT_EFFECT_DURATION = timedelta(
    seconds=3
)  # after its end a trouble is felt, as programs start anew
LOSSES_TO_ELIMINATION = 2

_FORCED = re.compile(r"Forceful turn ending due to player (\w+) inactivity after ([\d.]+) seconds")


@dataclass(frozen=True, slots=True)
class ForcedTurn:
    """Turn that was ended by force: its team, its match, its begin and its end."""

    team: TeamId
    match: str
    begin: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class ContestRecord:
    """Record of a contest: its results, and the arena's matches with their moves.

    `has_rulings` is True if its organiser decided anything that the matches did not.
    """

    settings: ContestSettings
    teams: Sequence[TeamId]
    results: Sequence[PairingResult]
    practice_matches: Sequence[PracticeMatch]
    matches: Sequence[tuple[ArenaMatch, Sequence[ArenaMove]]]
    has_rulings: bool = False

    def matches_with_tag(self, tag: str) -> list[tuple[ArenaMatch, Sequence[ArenaMove]]]:
        return [
            (match, moves)
            for match, moves in self.matches
            # Practice matches have the tag of the contest, too, but after their own tags.
            if match.pairing.creator is None and tag in (match.params.tags or ())[:2]
        ]


def contest_record(
    records: ContestRecords, matches: Iterable[tuple[ArenaMatch, Sequence[ArenaMove]]]
) -> ContestRecord:
    """Return the record of a contest: its documents, and the arena's matches."""
    teams = [team.id for team in records.teams()]
    results, has_rulings = records.results(), any(records.documents_of("act"))
    return ContestRecord(
        records.settings, teams, results, records.practice_matches(), list(matches), has_rulings
    )


def record_from_files(folder: Path) -> ContestRecord:
    """Return the record of a finished contest, read from its files."""
    with closing(SqliteStorage(folder / "arena.db")) as storage, open_contest_in(folder) as records:
        readable = (match for _, match in storage.iterate_stored_matches() if match is not None)
        return contest_record(
            records, [(match, storage.move_history(match.id)) for match in readable]
        )


def excuse_for(
    forced: ForcedTurn,
    team_behaviours: Mapping[TeamId, str],
    incidents: Mapping[TeamId, Sequence[Incident]],
) -> str | None:
    """Return the reason why a turn may be late, or None.

    The reason is the known behaviour of its team, or an incident that befell the team.
    """
    if forced.team in team_behaviours:
        return team_behaviours[forced.team]
    for incident in incidents.get(forced.team, ()):
        if (
            incident.finished_at
            and forced.begin - INCIDENT_EFFECT_DURATION <= incident.finished_at
            and incident.began_at <= forced.end
        ):
            return incident.name
    return None


def violations(record: ContestRecord, incidents: Sequence[Incident] = ()) -> Iterator[str]:
    """Yield a sentence for each broken rule, such as a match counted twice."""
    outcomes = {
        result.pairing: PairingOutcome(result.wins, result.winner)
        for result in record.results
        if result.decided
    }
    for result in record.results:
        if result.pairing not in outcomes:
            yield f"Pairing {result.pairing} was never decided."
    expected = [
        pairing.key
        for pairing in record.settings.format_without_history.determined_pairings(
            record.teams, outcomes
        )
    ]
    if expected != [result.pairing for result in record.results]:
        yield f"The pairings are {[result.pairing for result in record.results]}, not {expected}."
    yield from _loss_violations(record)
    yield from _match_violations(record)
    yield from _practice_violations(record)
    pauses = [incident for incident in incidents if incident.name == PAUSED]
    for (match, _), (begin, _, end) in product(record.matches, pauses):
        if end and begin + START_DELAY < match.started_at < end:
            yield f"Match {match.id} began at {match.started_at:%X}, in a pause."


def _loss_violations(record: ContestRecord) -> Iterator[str]:
    loss_counts: Counter[TeamId] = Counter()
    for result in record.results:
        for team in result.teams:
            if loss_counts[team] >= LOSSES_TO_ELIMINATION:
                yield f"{team} has lost twice before pairing {result.pairing}."
            loss_counts[team] += result.winner != team
    survivors = [team for team in record.teams if loss_counts[team] < LOSSES_TO_ELIMINATION]
    if len(survivors) != 1:
        yield f"In the end {len(survivors)} teams have a life left: {', '.join(survivors)}."


def _match_violations(record: ContestRecord) -> Iterator[str]:
    """Yield the violations of the pairings' matches, read from the arena's file alone."""
    matches_by_pairing: defaultdict[tuple[str, frozenset[TeamId]], dict[int, ArenaMatch]] = (
        defaultdict(dict)
    )
    for match, _ in record.matches_with_tag(record.settings.name):
        _, key, number = (match.params.tags or ())[2].split(":")
        pairing_matches = matches_by_pairing[key, frozenset(match.pairing.players)]
        if int(number) in pairing_matches:
            yield f"Match {number} of pairing {key} was played twice."
        if not match.is_finished:
            yield f"Match {match.id} of pairing {key} goes on after the contest."
        pairing_matches[int(number)] = match
    for result in record.results:
        pairing_matches = matches_by_pairing.pop((result.pairing, frozenset(result.teams)), {})
        yield from _pairing_violations(result, pairing_matches, record.settings)
    for key, _ in (
        () if record.has_rulings else matches_by_pairing
    ):  # who meets there may have been changed
        yield f"There are matches of pairing {key}, which the contest does not know."


def _pairing_violations(
    result: PairingResult, matches: Mapping[int, ArenaMatch], settings: ContestSettings
) -> Iterator[str]:
    pairing = result.as_pairing
    numbers = sorted(matches)
    if numbers != list(range(len(matches))):
        yield f"Of pairing {result.pairing} the matches {numbers} were played."
    if [matches[number].id for number in numbers] != list(result.matches):
        yield f"Pairing {result.pairing} counts other matches than were played."
    scores = [_score(matches[number], pairing) for number in numbers]
    outcome = settings.series_rules.outcome(pairing, scores)
    decision = (outcome.wins, outcome.winner) if outcome else None
    if result.ruled is None and decision != (result.wins, result.winner):
        yield f"Pairing {result.pairing} was decided otherwise than by its matches."


def _practice_violations(record: ContestRecord) -> Iterator[str]:
    """Yield the violations of practice: each match is recorded once and has finished."""
    matches = [match for match, _ in record.matches_with_tag(record.settings.practice_tag)]
    for match in matches:
        if not match.is_finished:
            yield f"Match {match.id} of practice goes on after it."
    if sorted(match.id for match in matches) != sorted(
        practice_match.match for practice_match in record.practice_matches
    ):
        yield (
            f"Practice counts {len(record.practice_matches)} matches, and {len(matches)} "
            "were played."
        )


def _score(match: ArenaMatch, pairing: Pairing) -> MatchScore:
    outcome, players = match.state.outcome, match.pairing.players
    banks = dict(zip(players, match.state.banks, strict=True))
    winner = None if outcome is None or outcome.winner is None else players[outcome.winner]
    first, second = pairing.teams
    points = banks[first].score, banks[second].score
    return MatchScore(points, None if winner is None else pairing.teams.index(winner))


def forced_turns(record: ContestRecord) -> Iterator[ForcedTurn]:
    for match, moves in record.matches:
        for move in moves:
            for event in move.events():
                comment_match = _FORCED.match(event.get("comment", ""))
                if comment_match:
                    duration = timedelta(seconds=float(comment_match[2]))
                    yield ForcedTurn(comment_match[1], match.id, move.at - duration, move.at)


def longest_standstill(record: ContestRecord) -> float:
    """Return the longest time without a move at the arena, in seconds."""
    move_times = sorted(move.at for _, moves in record.matches for move in moves)
    return max(((b - a).total_seconds() for a, b in pairwise(move_times)), default=0)
