"""Practice: a ladder between the teams that are present, for as long as there is time.

A team is present if it has asked the arena for a match, or acted, a short while ago, and if it
would find a match of practice by the tags for which it waits. A match of practice has the tag of
the contest, too, so that a client that waits for the contest needs no second tag. A team
that is present but does not play gets a break, longer each time, so that it costs other teams
little. A match in which a team has let two turns in a row time out is ended. Like
`ContestDirector`, this director keeps no state that matters: matches are identified by their
tags, and ended ones are on record.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import count
from math import inf

from cardsharp.analysis.ratings import Rating
from cardsharp.contest.formats.ladder import next_pairings, rate_teams, round_of_match_number
from cardsharp.contest.formats.pairing import Pairing, TeamId
from cardsharp.contest.freeze import spectator_records
from cardsharp.contest.match_host import ContestMatches, MatchHost, MatchSummary
from cardsharp.contest.models import PracticeMatch, RatingSnapshot
from cardsharp.contest.results import ContestRecords
from cardsharp.contest.team_presence import finds_matches, is_present
from cardsharp.core.clock import TimeSource
from cardsharp.errors import ArenaError, MalformedResponse

MAX_MISSED_MATCHES = 2  # timeouts in a row after which a practice match is checked for absence
INITIAL_BREAK = timedelta(minutes=1)  # break of a present team that did not play; then it doubles

MAX_BREAK = timedelta(minutes=16)


class PracticeDirector:
    """Begins practice matches step by step: equally many per team, more often between equals."""

    def __init__(self, records: ContestRecords, match_host: MatchHost, clock: TimeSource) -> None:
        self._records, self._match_host, self._clock = records, match_host, clock
        settings, limit = records.settings, timedelta(seconds=records.settings.timeout)
        self._matches = ContestMatches(
            match_host, settings.practice_tag, f"{settings.seed}:practice", limit, (settings.name,)
        )
        self._practice_matches = {meeting.number: meeting for meeting in records.practice_matches()}

    @property
    def ended_practice_matches(self) -> Iterable[PracticeMatch]:
        """The ended matches, in the order in which their end was noticed."""
        return self._practice_matches.values()

    def step(self, *, may_begin: bool = True) -> bool:
        """Read matches, record ended ones and begin new ones; return True if none is running.

        Raises `ArenaError` if the arena failed; the next step looks up whether a match has
        begun.
        """
        try:
            self._refresh_matches()
            for match_number, view in self._iter_running():
                self._end_if_abandoned(match_number, view)
            if may_begin and not self._records.is_paused:
                self._begin_matches()
        except ArenaError:
            self._matches.clear_cache()
            raise
        return not any(self._iter_running())

    def _refresh_matches(self) -> None:
        """Refresh the running matches, and record those that have finished.

        The first call also finds all matches that are not on record, round by round.
        """
        self._matches.refresh_running()
        missing = next(
            match_number for match_number in count(1) if match_number not in self._practice_matches
        )
        for round_number in count(round_of_match_number(missing)):
            self._matches.load_rounds((round_number,))
            if not any(
                round_of_match_number(int(key)) == round_number
                for key, _ in self._matches.cached_matches()
            ):
                break
        finished = [
            (key, view) for key, view in self._matches.cached_matches() if view.score is not None
        ]
        for key, view in sorted(finished, key=lambda item: (item[1].last_move_at, item[1].id)):
            if int(key) not in self._practice_matches:
                self._record_match(int(key), view)

    def _iter_running(self) -> Iterator[tuple[int, MatchSummary]]:
        return (
            (int(key), view) for key, view in self._matches.cached_matches() if view.score is None
        )

    def _record_match(self, match_number: int, summary: MatchSummary) -> None:
        spectator_records(self._records, self._clock())
        account = self._match_host.match_report(summary.id)
        if account.last_move_at is None:
            raise MalformedResponse("The arena's response has no time of the match's last move.")
        facts, absent_teams = account.facts_in_team_order(summary.teams), account.absent_teams
        meeting = PracticeMatch(
            match_number, summary.teams, summary.id, account.last_move_at, facts, absent_teams
        )
        self._records.add_practice_match(meeting)
        self._practice_matches[match_number] = meeting
        history = self._records.practice_rating_history()
        played = len(self._practice_matches)
        if played - (history[-1].played if history else 0) >= len(self._records.teams()):
            rated = practice_ratings(self._practice_matches.values())
            self._records.add_rating_snapshot(RatingSnapshot(played, account.last_move_at, rated))

    def _end_if_abandoned(self, match_number: int, running: MatchSummary) -> None:
        """End a match that a team has abandoned, in favour of the team that is present."""
        if running.consecutive_timeouts < MAX_MISSED_MATCHES:
            return
        account = self._match_host.match_report(running.id)
        if account.absent_teams and not account.is_over:
            present_teams = [team for team in account.teams if team not in account.absent_teams]
            comment = f"A team has missed practice match {match_number}."
            self._match_host.end_match(
                running.id, present_teams[0] if present_teams else None, comment
            )

    def _begin_matches(self) -> None:
        running = {
            match_number: Pairing(
                str(match_number), round_of_match_number(match_number), "practice", view.teams
            )
            for match_number, view in self._iter_running()
        }
        busy = {team for pairing in running.values() for team in pairing.teams}
        present = self._find_present_teams(busy)
        if len(present) - len(busy) <= 1:
            return
        past = {
            match_number: meeting.pairing
            for match_number, meeting in self._practice_matches.items()
        }
        pairings = [pairing for _, pairing in sorted((past | running).items())]
        rated = practice_ratings(self._practice_matches.values())
        strength = {team: rating.value for team, rating in rated.items()}
        for pairing in next_pairings(present, pairings, busy, strength):
            self._matches.begin_next_match(pairing)

    def _find_present_teams(self, busy: set[TeamId]) -> list[TeamId]:
        """Return the present teams, including those at play."""
        current_time, settings = self._clock(), self._records.settings
        present = {
            team
            for team, presence in self._match_host.presence_by_player().items()
            if is_present(presence)
            and finds_matches(settings, presence.awaited_tags, is_practice=True)
        }
        rests = absence_break_end_by_team(self._practice_matches.values())
        present -= {team for team, until in rests.items() if until > current_time}
        available = busy | (present - self._records.withdrawal_reasons_by_team().keys())
        return [team.id for team in self._records.teams() if team.id in available]


def absence_break_end_by_team(practice_matches: Iterable[PracticeMatch]) -> dict[TeamId, datetime]:
    """Return the end of the break of each team that missed its latest matches."""
    missed: Counter[TeamId] = Counter()
    until: dict[TeamId, datetime] = {}
    for meeting in sorted(practice_matches, key=lambda meeting: meeting.at):
        for team in meeting.teams:
            missed[team] = missed[team] + 1 if team in meeting.gone else 0
            until[team] = meeting.at
            if missed[team]:
                until[team] += min(INITIAL_BREAK * 2 ** (missed[team] - 1), MAX_BREAK)
    return until


def practice_ratings(practice_matches: Iterable[PracticeMatch]) -> dict[TeamId, Rating]:
    """Return the ratings of all teams with a match that counts."""
    return dict(
        _rate_shares(
            tuple(
                (meeting.teams, meeting.first_team_share)
                for meeting in practice_matches
                if not meeting.gone
            )
        )
    )


@lru_cache(maxsize=2)
def _rate_shares(shares: tuple[tuple[tuple[TeamId, ...], float], ...]) -> dict[TeamId, Rating]:
    """Return the ratings from these shares; cached, because they take long to compute."""
    return rate_teams({team for teams, _ in shares for team in teams}, shares)


@dataclass(frozen=True, slots=True)
class LadderRow:
    """A team on the ladder; `rating` is None until it has played a match that counts."""

    team: TeamId
    rating: Rating | None
    wins: int
    ties: int
    losses: int
    missed_matches: int

    @property
    def match_count(self) -> int:
        """Number of matches, including abandoned ones."""
        return self.wins + self.ties + self.losses + self.missed_matches


def practice_ladder(records: ContestRecords) -> list[LadderRow]:
    """Return the practice ladder, the best first; unrated teams come last, in order of entry."""
    meetings = records.practice_matches()
    rated = practice_ratings(meetings)
    counts = {team.id: Counter[str]() for team in records.teams()}
    for meeting in meetings:
        for team in set(meeting.teams) & counts.keys():
            outcome = "drawn" if meeting.winner is None else ("lost", "won")[meeting.winner == team]
            counts[team]["missed" if meeting.gone else outcome] += 1
    rows = [
        LadderRow(
            team, rated.get(team), tally["won"], tally["drawn"], tally["lost"], tally["missed"]
        )
        for team, tally in counts.items()
    ]
    return sorted(rows, key=lambda row: -row.rating.value if row.rating else inf)
