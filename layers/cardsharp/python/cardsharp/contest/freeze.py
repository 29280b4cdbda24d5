"""Scoreboard freeze: spectators see a contest as it stood at a moment.

The contest continues, and its organiser reveals it round by round. The first process that reads
the contest after the freeze has begun makes a copy of its state: the director, a command of the
organiser, or a page. No process has to be running at that moment. Each change of the contest makes
the copy first if it is due, so the copy never contains anything later than the freeze.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from secrets import token_hex

from pydantic import TypeAdapter

from cardsharp.contest.formats.pairing import TeamId
from cardsharp.contest.models import (
    ContestStage,
    PairingResult,
    PracticeMatch,
    RatingSnapshot,
    TeamEntry,
    align_results_with_pairings,
)
from cardsharp.contest.results import RESULT, ContestRecords
from cardsharp.contest.teams import build_document_put
from cardsharp.errors import WriteConflict
from cardsharp.store.documents import Put

FREEZE_KIND = "freeze"  # kind of the documents that store the freeze


@dataclass(frozen=True, slots=True)
class ScoreboardFreeze:
    """Freeze from `at` on, except for rounds up to `revealed`; `on` until all is revealed."""

    at: datetime
    revealed: int = 0
    on: bool = True


@dataclass(frozen=True, slots=True)
class _FreezeSnapshot:
    """State of a contest at the freeze.

    Its results are documents of the kind that `results` names.
    """

    results: str
    paused: bool
    names: dict[TeamId, str]
    withdrawn: dict[TeamId, str]
    meetings: frozenset[int]
    standings: int


_FREEZE_ADAPTER, _SNAPSHOT_ADAPTER = TypeAdapter(ScoreboardFreeze), TypeAdapter(_FreezeSnapshot)


def active_or_scheduled_freeze(records: ContestRecords) -> ScoreboardFreeze | None:
    """Return the freeze that is active or scheduled, or None."""
    document = records.documents.get(records.document_key(FREEZE_KIND, "now"))
    freeze = None if document is None else _FREEZE_ADAPTER.validate_python(document.body)
    return freeze if freeze is not None and freeze.on else None


def build_freeze_write(records: ContestRecords, freeze: ScoreboardFreeze) -> Put:
    """Build the write that saves the freeze of a contest."""
    return build_document_put(records.document_key(FREEZE_KIND, "now"), _FREEZE_ADAPTER, freeze)


class FrozenRecords(ContestRecords):
    """A contest's records as spectators may read them while it is frozen."""

    def __init__(
        self, records: ContestRecords, freeze: ScoreboardFreeze, snapshot: _FreezeSnapshot
    ) -> None:
        super().__init__(records.documents, records.settings.name)
        self._freeze, self._snapshot = freeze, snapshot
        self.frozen_at = freeze.at

    @property
    def is_paused(self) -> bool:
        """True if the contest was paused at the freeze."""
        return self._snapshot.paused

    def teams(self) -> list[TeamEntry]:
        """Return the teams with their names at the freeze; late ones once that round is shown."""
        names, last_revealed_round = self._snapshot.names, self._freeze.revealed
        return [
            replace(team, name=names.get(team.id, team.name))
            for team in super().teams()
            if team.id in names or team.since <= last_revealed_round
        ]

    def team_names_with_removed(self) -> dict[TeamId, str]:
        """Return the names of the teams at the freeze."""
        return {team.id: team.name for team in self.teams()} | self._snapshot.names

    def withdrawal_reasons_by_team(self) -> dict[TeamId, str]:
        """Return the teams that had withdrawn at the freeze, with the reasons."""
        return self._snapshot.withdrawn

    def practice_matches(self) -> list[PracticeMatch]:
        """Return the practice matches that had ended at the freeze."""
        return [
            practice_match
            for practice_match in super().practice_matches()
            if practice_match.number in self._snapshot.meetings
        ]

    def practice_rating_history(self) -> list[RatingSnapshot]:
        """Return the practice ratings up to the freeze."""
        return super().practice_rating_history()[: self._snapshot.standings]

    def results(self) -> list[PairingResult]:
        """Return the results at the freeze, and the current ones of revealed rounds."""
        then = [
            RESULT.validate_python(document.body)
            for document in self.documents_of(self._snapshot.results)
        ]
        last_revealed_round, live = self._freeze.revealed, super().results()
        if not last_revealed_round:
            return then
        revealed = [result for result in live if result.round <= last_revealed_round]
        contest_format = self.settings.format_with_history(self.teams(), live, then)
        rest = [result for result in then if result.round > last_revealed_round]
        return align_results_with_pairings(
            revealed + rest, contest_format, [team.id for team in self.teams()]
        )

    def discarded_results(self) -> list[PairingResult]:
        """Return no discarded results.

        They would disclose what an organiser has decided since the freeze.
        """
        return []


def spectator_records(records: ContestRecords, current_time: datetime) -> ContestRecords:
    """Return the records that spectators may read, and snapshot them when a freeze begins."""
    freeze = active_or_scheduled_freeze(records)
    if freeze is None or freeze.at > current_time:
        return records
    key = records.document_key("still", freeze.at.isoformat())
    if records.documents.get(key) is None:
        if records.stage is ContestStage.OPEN:
            return records
        with suppress(WriteConflict):  # another process has made the copy first
            records.documents.commit(
                build_document_put(key, _SNAPSHOT_ADAPTER, _take_snapshot(records), 0)
            )
    document = records.documents.get(key)
    if document is None:
        return records
    return FrozenRecords(records, freeze, _SNAPSHOT_ADAPTER.validate_python(document.body))


def _take_snapshot(records: ContestRecords) -> _FreezeSnapshot:
    kind = f"still-{token_hex(8)}"
    documents = records.documents_of("result")
    records.commit_in_batches(
        [
            Put(records.document_key(kind, document.key.sort_key), document.body)
            for document in documents
        ]
    )
    return _FreezeSnapshot(
        results=kind,
        paused=records.is_paused,
        names=records.team_names_with_removed(),
        withdrawn=records.withdrawal_reasons_by_team(),
        meetings=frozenset(practice_match.number for practice_match in records.practice_matches()),
        standings=len(records.practice_rating_history()),
    )


def next_unrevealed_round(records: ContestRecords, current_time: datetime) -> int | None:
    """Return the first round whose results are still hidden from spectators, or None."""
    live, visible = set(records.results()), set(spectator_records(records, current_time).results())
    return min((result.round for result in live ^ visible), default=None)


@dataclass(frozen=True, slots=True)
class FreezeFilter:
    """Filter of the matches that spectators may not see while contests are frozen.

    Of the organiser's matches with these `tags` only `visible_matches` are shown. Matches that
    a team began itself, for example as a test, are shown only if they ended earlier than that
    team's `frozen_since`.
    """

    tags: frozenset[str]
    visible_matches: frozenset[str]
    frozen_since: Mapping[TeamId, datetime]

    def hides_organiser_match(self, tags: Iterable[str], match: str) -> bool:
        """Return True if spectators may not see this match of the organiser."""
        return match not in self.visible_matches and not self.tags.isdisjoint(tags)

    def hides_match_begun_by(self, team: TeamId, end_time: datetime | None) -> bool:
        """Return True if it hides a match that a team began; `end_time` is exact to the ms."""
        since = self.frozen_since.get(team)
        if since is None:
            return False
        return end_time is None or end_time >= since.replace(
            microsecond=since.microsecond // 1000 * 1000
        )


def build_freeze_filter(contests: Iterable[ContestRecords], current_time: datetime) -> FreezeFilter:
    """Build the filter that hides matches of those contests whose scoreboard is frozen."""
    tags, visible_matches, since = set[str](), set[str](), dict[TeamId, datetime]()
    for records in contests:
        visible_records = spectator_records(records, current_time)
        if visible_records.frozen_at is not None:
            tags |= {visible_records.settings.name, visible_records.settings.practice_tag}
            visible_matches |= {
                match
                for result in visible_records.results()
                for match, _ in result.finished_match_ids_and_facts
            }
            visible_matches |= {meeting.match for meeting in visible_records.practice_matches()}
            since |= dict.fromkeys((team.id for team in records.teams()), visible_records.frozen_at)
    return FreezeFilter(frozenset(tags), frozenset(visible_matches), since)
