"""Stored records of a contest: settings, teams, rulings and results.

The matches themselves are in the arena, under tags with pairing and number. From them the
director works out the state of the contest again after any failure. The results are a copy for
readers while it runs. They are stored in a local file, or in the arena's table in the cloud:

| partition             | sort    | body                                                          |
|-----------------------|---------|---------------------------------------------------------------|
| contests              | NAME    | `ContestState`: its settings and how far it is                |
| contest#NAME#team     | ID      | a `TeamEntry`, and its seed                                   |
| contest#NAME#gone     | ID      | the name of a team that was removed                           |
| contest#NAME#withdrawn| ID      | the reason why a team has withdrawn                           |
| contest#NAME#ruling   | PAIRING | a `Ruling`                                                    |
| contest#NAME#act      | 00012   | an `AdminAction` of an organiser, by its number               |
| contest#NAME#fault    | ID      | a team's `TeamFaults`, where it is played for                 |
| contest#NAME#astray   | ID      | the tags for which a team waits, if no match has them         |
| contest#NAME#here     | ID      | since when a team is connected, its program and its last move |
| contest#NAME#result   | 00012   | a `PairingResult`, by its place                               |
| contest#NAME#aside    | 00012   | a `PairingResult` of a match that counts no more              |
| contest#NAME#freeze   | now     | a `ScoreboardFreeze`: since when spectators see no news       |
| contest#NAME#still    | MOMENT  | what the contest was at that freeze, see `freeze`             |
| contest#NAME#meeting  | 0000012 | a `PracticeMatch`, by its number                              |
| contest#NAME#standing | 0000012 | a `RatingSnapshot`, by how many matches made it               |
| players               | ID      | name and ha1: what an arena in the cloud reads of its players |
"""

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from pydantic import TypeAdapter

from cardsharp.contest import models
from cardsharp.contest.formats.base import Format
from cardsharp.contest.formats.pairing import TeamId
from cardsharp.contest.models import (
    ContestStage,
    PairingResult,
    PracticeMatch,
    Ruling,
    TeamEntry,
    TeamFaults,
)
from cardsharp.contest.teams import (
    PROGRESS,
    ContestTeamStore,
    build_document_put,
    check_team_name,
    new_password,
)
from cardsharp.core.credentials import digest_ha1
from cardsharp.errors import ConfigError, WriteConflict
from cardsharp.store.documents import Delete, Put, Write

_RULING_ADAPTER = TypeAdapter(Ruling)
RESULT = TypeAdapter(PairingResult)
_PRACTICE_MATCH_ADAPTER = TypeAdapter(PracticeMatch)
_RATING_SNAPSHOT_ADAPTER = TypeAdapter(models.RatingSnapshot)
_TEAM_FAULTS_ADAPTER = TypeAdapter(TeamFaults)
_TAGS_ADAPTER = TypeAdapter(tuple[str, ...])
_CONNECTION_ADAPTER = TypeAdapter(models.TeamConnection)

MAX_RECENT_FAULTS = 20  # faults of a team that are stored with their text; older ones are counted
MAX_FAULT_LENGTH = 500  # characters of a stored fault


class ContestRecords(ContestTeamStore):
    """The records of one contest; leaving a `with` block closes them.

    Every method raises `StoreError` if the document store fails. Raises `ConfigError` if there
    is no contest of that name.
    """

    frozen_at: datetime | None = None
    """Time of the freeze from which these records are; None if they are the current ones."""

    @property
    def contest_format(self) -> Format:
        """Format of the contest with its late teams and results."""
        return self.settings.format_with_history(self.teams(), self.results())

    def add_team(self, name: str, strategy: str | None = None) -> tuple[TeamEntry, str]:
        """Add a team; return it with its password, which is not stored.

        It takes part at once, or from the next round on.
        """
        since = self._find_entry_round(name)
        check_team_name(name, self.teams())
        team_id, password = secrets.token_hex(12), new_password()
        team = TeamEntry(team_id, name, digest_ha1(team_id, password), strategy, since)
        try:
            self.append_team(team)
        except WriteConflict:
            raise ConfigError(
                f"Another organiser has just changed the teams. Enter {name} again."
            ) from None
        return team, password

    def _find_entry_round(self, name: str) -> int:
        """Return the first round that a new team can play; raise `ConfigError` if there is none."""
        stage, results = self.stage, self.results()
        if stage is ContestStage.OPEN:
            return 1
        if stage is ContestStage.OVER:
            raise ConfigError(f"The contest is over, so {name} cannot enter it any more.")
        teams, last_round = self.teams(), max((result.round for result in results), default=1)
        first_round = 1 + min(
            (result.round for result in results if not result.decided), default=last_round
        )
        first_round = max(first_round, *(team.since for team in teams))
        until = self.contest_format.last_entry_round([team.id for team in teams])
        if until is not None and first_round > until:
            reason = "its last round is under way" if until else "its bracket is drawn"
            raise ConfigError(
                f"The contest has begun, and {reason}, so no team can enter. {name} can replace a "
                "team that has not come: change that team's name with `cardsharp contest teams "
                "rename` and its password with `cardsharp contest teams reset-password`."
            )
        return first_round

    def commit_admin_changes(
        self, changes: Callable[[int], Sequence[Write]], *, reopens: bool
    ) -> None:
        """Commit an action's changes, which get its number; raise `WriteConflict` if others act.

        With `reopens` a finished contest is running again.
        """
        document, state = self._load_state()
        action_number = state.ruled + 1
        stage = (
            ContestStage.RUNNING if reopens and state.stage is ContestStage.OVER else state.stage
        )
        new_state = replace(state, stage=stage, ruled=action_number)
        self.documents.commit(
            build_document_put(document.key, PROGRESS, new_state, document.version),
            *changes(action_number),
        )

    def withdrawal_reasons_by_team(self) -> dict[TeamId, str]:
        """Return the teams that have withdrawn, each with its reason."""
        return {
            document.key.sort_key: str(document.body["reason"])
            for document in self.documents_of("withdrawn")
        }

    def rulings_by_pairing(self) -> dict[str, Ruling]:
        """Return the rulings by pairing."""
        rulings = [
            _RULING_ADAPTER.validate_python(document.body)
            for document in self.documents_of("ruling")
        ]
        return {ruling.pairing: ruling for ruling in rulings}

    def save_results(
        self, results: Iterable[PairingResult], discarded_results: Iterable[PairingResult] = ()
    ) -> None:
        """Save the current results and the discarded ones, each replacing the previous.

        Unchanged documents stay.
        """
        self._write_results("aside", discarded_results)
        self._write_results("result", results)

    def _write_results(self, kind: str, results: Iterable[PairingResult]) -> None:
        existing = {document.key: document for document in self.documents_of(kind)}
        puts = [
            build_document_put(self.document_key(kind, f"{result_index:05}"), RESULT, result)
            for result_index, result in enumerate(results)
        ]
        changes: list[Write] = [
            put for put in puts if put.key not in existing or existing[put.key].body != put.body
        ]
        deleted_keys = existing.keys() - {put.key for put in puts}
        changes += [Delete(key, existing[key].version) for key in sorted(deleted_keys)]
        self.commit_in_batches(changes)

    def results(self) -> list[PairingResult]:
        """Return the latest saved results, in the order of the pairings."""
        return [RESULT.validate_python(document.body) for document in self.documents_of("result")]

    def discarded_results(self) -> list[PairingResult]:
        """Return the matches that no longer count since a ruling changed the teams, as results."""
        return [RESULT.validate_python(document.body) for document in self.documents_of("aside")]

    def results_with_discarded(self) -> list[PairingResult]:
        """Return the results, each round followed by its matches that no longer count."""
        return sorted(self.results() + self.discarded_results(), key=lambda result: result.round)

    def standings(self) -> list[list[TeamId]]:
        """The places so far, the best first."""
        teams = [team.id for team in self.teams()]
        return self.contest_format.standings(teams, models.outcomes_by_key(self.results()))

    def add_practice_match(self, practice_match: PracticeMatch) -> None:
        """Store an ended practice match under its number."""
        key = self.document_key("meeting", f"{practice_match.number:07}")
        self.documents.commit(build_document_put(key, _PRACTICE_MATCH_ADAPTER, practice_match))

    def practice_matches(self) -> list[PracticeMatch]:
        """Return the ended practice matches in the order of their ends."""
        matches = [
            _PRACTICE_MATCH_ADAPTER.validate_python(document.body)
            for document in self.documents_of("meeting")
        ]
        return sorted(matches, key=lambda meeting: (meeting.at, meeting.number))

    def add_rating_snapshot(self, snapshot: models.RatingSnapshot) -> None:
        """Store ratings under the number of matches that they are from."""
        key = self.document_key("standing", f"{snapshot.played:07}")
        self.documents.commit(build_document_put(key, _RATING_SNAPSHOT_ADAPTER, snapshot))

    def practice_rating_history(self) -> list[models.RatingSnapshot]:
        """Return the ratings of practice over time, the oldest first."""
        return [
            _RATING_SNAPSHOT_ADAPTER.validate_python(document.body)
            for document in self.documents_of("standing")
        ]

    def faults_by_team(self) -> dict[TeamId, TeamFaults]:
        """Return the faults of all teams that have any."""
        return {
            document.key.sort_key: _TEAM_FAULTS_ADAPTER.validate_python(document.body)
            for document in self.documents_of("fault")
        }

    def wrong_tags_by_team(self) -> dict[TeamId, tuple[str, ...]]:
        """Return the teams that wait for tags that no match of the contest has, with the tags."""
        return {
            document.key.sort_key: _TAGS_ADAPTER.validate_python(document.body["tags"])
            for document in self.documents_of("astray")
        }

    def save_wrong_tags(self, wrong_tags: Mapping[TeamId, tuple[str, ...]]) -> None:
        """Save which teams wait for wrong tags now, in place of those saved before."""
        self._replace_documents(
            "astray",
            [
                Put(self.document_key("astray", team), {"tags": list(tags)})
                for team, tags in wrong_tags.items()
            ],
        )

    def connections_by_team(self) -> dict[TeamId, models.TeamConnection]:
        """Return the teams that are connected, as the director last saw them."""
        return {
            document.key.sort_key: _CONNECTION_ADAPTER.validate_python(document.body)
            for document in self.documents_of("here")
        }

    def save_connections(self, connections: Mapping[TeamId, models.TeamConnection]) -> None:
        """Save which teams are connected now, in place of those saved before."""
        self._replace_documents(
            "here",
            [
                build_document_put(self.document_key("here", team), _CONNECTION_ADAPTER, connection)
                for team, connection in connections.items()
            ],
        )

    def _replace_documents(self, kind: str, puts: Sequence[Put]) -> None:
        """Save documents in place of all others of their kind."""
        existing = {document.key: document for document in self.documents_of(kind)}
        deleted_keys = existing.keys() - {put.key for put in puts}
        deletes = [Delete(key, existing[key].version) for key in sorted(deleted_keys)]
        self.commit_in_batches([*puts, *deletes])

    def add_team_fault(self, team: TeamId, message: str, occurred_at: datetime) -> None:
        """Add a fault of a team."""
        faults = self.faults_by_team().get(team, TeamFaults())
        recent_faults = (models.TeamFault(occurred_at, message[:MAX_FAULT_LENGTH]), *faults.last)[
            :MAX_RECENT_FAULTS
        ]
        updated = TeamFaults(faults.count + 1, recent_faults)
        self.documents.commit(
            build_document_put(self.document_key("fault", team), _TEAM_FAULTS_ADAPTER, updated)
        )
