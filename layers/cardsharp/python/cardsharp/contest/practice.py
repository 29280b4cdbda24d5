"""Practice: a ladder for as long as there is time, of the teams that are there.

Who is there has asked the arena for a match or acted a short while ago. A team that is there and
does not play rests, longer each time, so that it costs nobody much; a match in which somebody has
left two turns in a row to the clock is ended. Like the director of a contest this one remembers
nothing that matters: matches are found by their tags, and those that ended are on record.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import count
from math import inf

from cardsharp.cloud.clock import Now
from cardsharp.contest.entries import Meeting, Standing
from cardsharp.contest.freeze import board
from cardsharp.contest.ladder import next_pairings, ratings, round_of
from cardsharp.contest.pairing import Pairing, Team
from cardsharp.contest.records import Records
from cardsharp.contest.tables import Matches, Tabled, TableHost
from cardsharp.errors import ArenaError, Garbled
from cardsharp.ratings import Rating

HERE = 40.0  # seconds since who is there was heard of: a long poll lasts 30 s
GONE = 2  # turns in a row that may run out of time until a match of practice is looked at whole
REST = timedelta(minutes=1)  # of who was there and did not play; twice as long each time

LONGEST_REST = timedelta(minutes=16)


class Practice:
    """Has teams play each other, step by step; everybody as often, near ones more often."""

    def __init__(self, records: Records, tables: TableHost, clock: Now) -> None:
        self._records, self._tables, self._clock = records, tables, clock
        settings, limit = records.settings, timedelta(seconds=records.settings.timeout)
        self._matches = Matches(tables, settings.practice, f"{settings.seed}:practice", limit)
        self._meetings = {meeting.number: meeting for meeting in records.meetings()}

    @property
    def meetings(self) -> Iterable[Meeting]:
        """The matches that have ended, in the order in which that was seen."""
        return self._meetings.values()

    def step(self, *, begin: bool = True) -> bool:
        """Look, keep what has ended, and begin what can begin; whether nothing is played.

        Raises:
            ArenaError: the arena failed. Whether a match has begun is looked up in the next step.
        """
        try:
            self._look()
            for number, view in self._running():
                self._end_if_left(number, view)
            if begin and not self._records.paused:
                self._begin()
        except ArenaError:
            self._matches.forget()
            raise
        return not any(self._running())

    def _look(self) -> None:
        """Follow what ran; at first find all that is not on record, round by round."""
        self._matches.follow()
        missing = next(one for one in count(1) if one not in self._meetings)
        for number in count(round_of(missing)):
            self._matches.read((number,))
            if not any(round_of(int(key)) == number for key, _ in self._matches.known()):
                break
        ended = [(key, view) for key, view in self._matches.known() if view.score is not None]
        for key, view in sorted(ended, key=lambda one: (one[1].last, one[1].id)):
            if int(key) not in self._meetings:
                self._keep(int(key), view)

    def _running(self) -> Iterator[tuple[int, Tabled]]:
        return ((int(key), view) for key, view in self._matches.known() if view.score is None)

    def _keep(self, number: int, ended: Tabled) -> None:
        board(self._records, self._clock())
        account = self._tables.account(ended.id)
        if account.at is None:
            raise Garbled("The arena tells no time of a match's last move.")
        facts, gone = account.facts_of(ended.teams), account.gone
        meeting = Meeting(number, ended.teams, ended.id, account.at, facts, gone)
        self._records.add_meeting(meeting)
        self._meetings[number] = meeting
        before = self._records.standings()
        played = len(self._meetings)
        if played - (before[-1].played if before else 0) >= len(self._records.teams()):
            rated = ratings_of_meetings(self._meetings.values())
            self._records.add_standing(Standing(played, account.at, rated))

    def _end_if_left(self, number: int, running: Tabled) -> None:
        """End a match that somebody has left, for whoever has not."""
        if running.late < GONE:
            return
        account = self._tables.account(running.id)
        if account.gone and not account.over:
            there = [team for team in account.teams if team not in account.gone]
            comment = f"Match {number} of practice was left."
            self._tables.end(running.id, there[0] if there else None, comment)

    def _begin(self) -> None:
        running = {
            number: Pairing(str(number), round_of(number), "practice", view.teams)
            for number, view in self._running()
        }
        busy = {team for pairing in running.values() for team in pairing.teams}
        there = self._present(busy)
        if len(there) - len(busy) <= 1:
            return
        past = {number: one.pairing for number, one in self._meetings.items()}
        known = [pairing for _, pairing in sorted((past | running).items())]
        rated = ratings_of_meetings(self._meetings.values())
        strength = {team: rating.value for team, rating in rated.items()}
        for pairing in next_pairings(there, known, busy, strength):
            self._matches.begin(pairing)

    def _present(self, busy: set[Team]) -> list[Team]:
        """The teams that are there, also those at play."""
        now, heard = self._clock(), self._tables.idle()
        here = {team for team, ago in heard.items() if ago is not None and ago <= HERE}
        rests = rests_of(self._meetings.values())
        here -= {team for team, until in rests.items() if until > now}
        there = busy | (here - self._records.withdrawn().keys())
        return [team.id for team in self._records.teams() if team.id in there]


def rests_of(meetings: Iterable[Meeting]) -> dict[Team, datetime]:
    """Until when those teams rest that did not play their last matches, which are in order."""
    missed: Counter[Team] = Counter()
    until: dict[Team, datetime] = {}
    for meeting in sorted(meetings, key=lambda meeting: meeting.at):
        for team in meeting.teams:
            missed[team] = missed[team] + 1 if team in meeting.gone else 0
            until[team] = meeting.at
            if missed[team]:
                until[team] += min(REST * 2 ** (missed[team] - 1), LONGEST_REST)
    return until


def ratings_of_meetings(meetings: Iterable[Meeting]) -> dict[Team, Rating]:
    """The ratings of all who have played a match that counts."""
    return dict(_rated(tuple((one.teams, one.share) for one in meetings if not one.gone)))


@lru_cache(maxsize=2)
def _rated(shares: tuple[tuple[tuple[Team, ...], float], ...]) -> dict[Team, Rating]:
    """The ratings by these shares, which take long to find for those who look again and again."""
    return ratings({team for teams, _ in shares for team in teams}, shares)


@dataclass(frozen=True, slots=True)
class LadderRow:
    """A team on the ladder; `rating` is None until it has played a match that counts."""

    team: Team
    rating: Rating | None
    won: int
    drawn: int
    lost: int
    missed: int

    @property
    def played(self) -> int:
        """Its matches, also those that were left."""
        return self.won + self.drawn + self.lost + self.missed


def ladder(records: Records) -> list[LadderRow]:
    """How practice stands, the best first; who is not rated comes last, in the order of entry."""
    meetings = records.meetings()
    rated = ratings_of_meetings(meetings)
    counts = {team.id: Counter[str]() for team in records.teams()}
    for meeting in meetings:
        for team in set(meeting.teams) & counts.keys():
            ended = "drawn" if meeting.winner is None else ("lost", "won")[meeting.winner == team]
            counts[team]["missed" if meeting.gone else ended] += 1
    rows = [
        LadderRow(team, rated.get(team), made["won"], made["drawn"], made["lost"], made["missed"])
        for team, made in counts.items()
    ]
    return sorted(rows, key=lambda row: -row.rating.value if row.rating else inf)
