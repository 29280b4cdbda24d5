"""The scoreboard held back: from a moment on spectators see a contest as it stood then.

It goes on meanwhile, and is shown round by round once its organiser says so. What it was is
copied at that moment, by whoever comes first: the director, the organiser or a page.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from secrets import token_hex

from pydantic import TypeAdapter

from cardsharp.contest.entries import Entrant, Meeting, Result, Stage, Standing, following
from cardsharp.contest.pairing import Team
from cardsharp.contest.records import RESULT, Records
from cardsharp.contest.roster import put_of
from cardsharp.errors import Conflict
from cardsharp.keep.port import Put

KIND = "freeze"  # of the documents that say what spectators see


@dataclass(frozen=True, slots=True)
class Freeze:
    """From when on it is shown as it stood, but for rounds `revealed`; `on` until all is shown."""

    at: datetime
    revealed: int = 0
    on: bool = True


@dataclass(frozen=True, slots=True)
class _Still:
    """How a contest stood, but for its results, which are the documents of the kind `results`."""

    results: str
    paused: bool
    names: dict[Team, str]
    withdrawn: dict[Team, str]
    meetings: frozenset[int]
    standings: int


_FREEZE, _STILL = TypeAdapter(Freeze), TypeAdapter(_Still)


def freeze_of(records: Records) -> Freeze | None:
    """The freeze that is on or is to come; None where there is none."""
    found = records.documents.get(records.key(KIND, "now"))
    freeze = None if found is None else _FREEZE.validate_python(found.body)
    return freeze if freeze is not None and freeze.on else None


def frozen(records: Records, freeze: Freeze) -> Put:
    """What writes that a contest is frozen so."""
    return put_of(records.key(KIND, "now"), _FREEZE, freeze)


class FrozenRecords(Records):
    """A contest's records as spectators may read them while it is frozen."""

    def __init__(self, records: Records, freeze: Freeze, still: _Still) -> None:
        super().__init__(records.documents, records.settings.name)
        self._freeze, self._still = freeze, still
        self.frozen = freeze.at

    @property
    def paused(self) -> bool:
        """Whether it was paused."""
        return self._still.paused

    def teams(self) -> list[Entrant]:
        """The teams as they were called, the best seed first; who came later once that is shown."""
        names, last = self._still.names, self._freeze.revealed
        return [
            replace(team, name=names.get(team.id, team.name))
            for team in super().teams()
            if team.id in names or team.since <= last
        ]

    def names(self) -> dict[Team, str]:
        """What the teams were called."""
        return {team.id: team.name for team in self.teams()} | self._still.names

    def withdrawn(self) -> dict[Team, str]:
        """The teams that had withdrawn."""
        return self._still.withdrawn

    def meetings(self) -> list[Meeting]:
        """The matches of practice that had ended."""
        return [one for one in super().meetings() if one.number in self._still.meetings]

    def standings(self) -> list[Standing]:
        """The ratings of practice that there were."""
        return super().standings()[: self._still.standings]

    def results(self) -> list[Result]:
        """The results that there were; of rounds that are revealed, those that there are."""
        then = [RESULT.validate_python(one.body) for one in self.under(self._still.results)]
        last, live = self._freeze.revealed, super().results()
        if not last:
            return then
        known = [one for one in live if one.round <= last]
        form = self.settings.form_of(self.teams(), live, then)
        rest = [one for one in then if one.round > last]
        return following(known + rest, form, [team.id for team in self.teams()])

    def aside(self) -> list[Result]:
        """Nothing: it would tell what an organiser has decided since."""
        return []


def board(records: Records, now: datetime) -> Records:
    """What spectators may read of a contest, copied now where it has begun and just frozen."""
    freeze = freeze_of(records)
    if freeze is None or freeze.at > now:
        return records
    key = records.key("still", freeze.at.isoformat())
    if records.documents.get(key) is None:
        if records.stage is Stage.OPEN:
            return records
        with suppress(Conflict):  # somebody else was first
            records.documents.commit(put_of(key, _STILL, _copied(records), 0))
    found = records.documents.get(key)
    if found is None:
        return records
    return FrozenRecords(records, freeze, _STILL.validate_python(found.body))


def _copied(records: Records) -> _Still:
    kind = f"still-{token_hex(8)}"
    found = records.under("result")
    records.write([Put(records.key(kind, one.key.sort), one.body) for one in found])
    return _Still(
        results=kind,
        paused=records.paused,
        names=records.names(),
        withdrawn=records.withdrawn(),
        meetings=frozenset(one.number for one in records.meetings()),
        standings=len(records.standings()),
    )


def next_round(records: Records, now: datetime) -> int | None:
    """The first round of which spectators see something else than there is; None without one."""
    live, shown = set(records.results()), set(board(records, now).results())
    return min((one.round for one in live ^ shown), default=None)


@dataclass(frozen=True, slots=True)
class Curtain:
    """What spectators are not to see of matches while contests are frozen.

    Of the organiser's matches with these `tags` only those `seen`, and of those that a team began
    itself, as to try something, none that had not ended at the moment `since`.
    """

    tags: frozenset[str]
    seen: frozenset[str]
    since: Mapping[Team, datetime]

    def holds(self, tags: Iterable[str], match: str) -> bool:
        """Whether it hides a match of the organiser's."""
        return match not in self.seen and not self.tags.isdisjoint(tags)

    def holds_own(self, team: Team, ended: datetime | None) -> bool:
        """Whether it hides a match that a team began, and that ended then, to the millisecond."""
        since = self.since.get(team)
        if since is None:
            return False
        return ended is None or ended >= since.replace(microsecond=since.microsecond // 1000 * 1000)


def curtain(contests: Iterable[Records], now: datetime) -> Curtain:
    """What hides now the matches of those of the contests that are frozen."""
    tags, seen, since = set[str](), set[str](), dict[Team, datetime]()
    for records in contests:
        shown = board(records, now)
        if shown.frozen is not None:
            tags |= {shown.settings.name, shown.settings.practice}
            seen |= {match for result in shown.results() for match, _ in result.ended}
            seen |= {meeting.match for meeting in shown.meetings()}
            since |= dict.fromkeys((team.id for team in records.teams()), shown.frozen)
    return Curtain(frozenset(tags), frozenset(seen), since)
