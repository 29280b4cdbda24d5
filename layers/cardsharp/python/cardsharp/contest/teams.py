"""Stored teams and stage of a contest: the base of `ContestRecords`."""

import secrets
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self

from pydantic import TypeAdapter

from cardsharp.client.config import MAX_NAME_LENGTH
from cardsharp.contest.formats.pairing import TeamId
from cardsharp.contest.models import ContestSettings, ContestStage, TeamEntry
from cardsharp.core.credentials import digest_ha1
from cardsharp.errors import ConfigError, WriteConflict
from cardsharp.store.documents import (
    MAX_TRANSACTION_WRITES,
    Delete,
    Document,
    DocumentStore,
    Key,
    Put,
    Write,
    try_commit,
)


def check_team_name(name: str, existing_teams: Iterable[TeamEntry]) -> None:
    """Raise `ConfigError` unless a team can have this name beside the existing teams."""
    if not name.strip() or len(name) > MAX_NAME_LENGTH:
        raise ConfigError(
            f"A team's name must have 1 to {MAX_NAME_LENGTH} characters and cannot be blank."
        )
    if not name.isprintable() or name != name.strip():
        raise ConfigError(
            f"The team's name {name!r} contains invisible characters, or starts or ends with a "
            "space. Remove them, because two names must not look alike."
        )
    alike = next(
        (
            team.name
            for team in existing_teams
            if _canonicalize_name(team.name) == _canonicalize_name(name)
        ),
        None,
    )
    if alike is not None:
        raise ConfigError(f"The name {alike} is already taken by another team. Choose another.")


def new_password() -> str:
    """Return a password of 128 bits, in characters that need no quoting in a shell."""
    return secrets.token_hex(16)


def _canonicalize_name(name: str) -> str:
    """Return the form of a name by which names are compared.

    Names that differ only in capitals, character widths or ligatures have the same form.
    """
    return unicodedata.normalize("NFKC", name).casefold()


@dataclass(frozen=True, slots=True)
class ContestState:
    """A contest's settings and stage; `entered` and `ruled` are counters that only grow.

    Practice matches begin until the time `practice`, which is None once none of them runs.
    """

    settings: ContestSettings
    stage: ContestStage = ContestStage.OPEN
    paused: bool = False
    entered: int = 0
    ruled: int = 0
    practice: datetime | None = None


PROGRESS = TypeAdapter(ContestState)
_TEAM_ADAPTER = TypeAdapter(TeamEntry)

CONTESTS, PLAYERS = "contests", "players"  # of all contests, and of a cloud arena's players

_PAGE_SIZE = 1000


class ContestTeamStore:
    """Settings, stage and teams of one contest, stored as `results` describes.

    Leaving a `with` block closes it. Raises `ConfigError` if there is no contest of that name;
    every method raises `StoreError` if the document store fails.
    """

    def __init__(self, documents: DocumentStore, name: str) -> None:
        self.documents, self._contest_name = documents, name
        self.settings = self._state.settings

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the document store."""
        self.documents.close()

    @property
    def stage(self) -> ContestStage:
        """Stage of the contest."""
        return self._state.stage

    @property
    def practice_until(self) -> datetime | None:
        """Time until which practice matches begin; None once practice is over and none runs."""
        return self._state.practice

    def set_practice_until(self, until: datetime | None) -> None:
        """Let practice matches begin until that time; None if none is left."""
        self._update_state(lambda state: replace(state, practice=until))

    def start_contest(self) -> None:
        """Begin the contest if it has not begun; from then on no team can be removed."""
        self._update_state(
            lambda state: (
                replace(state, stage=ContestStage.RUNNING)
                if state.stage is ContestStage.OPEN
                else state
            )
        )

    def end_contest_unless_admin_acted(self, seen_admin_action_count: int) -> None:
        """Set the contest to over, unless organisers have acted since the caller read its state.

        `seen_admin_action_count` is the `admin_action_count` that the caller has read. Entries of
        late teams count as actions.
        """
        self._update_state(
            lambda state: (
                replace(state, stage=ContestStage.OVER)
                if state.ruled <= seen_admin_action_count
                else state
            )
        )

    def teams(self) -> list[TeamEntry]:
        """Return the teams, the best seed first."""
        documents = sorted(
            self.documents_of("team"), key=lambda document: int(str(document.body["seed"]))
        )
        return [_TEAM_ADAPTER.validate_python(document.body) for document in documents]

    def append_team(self, team: TeamEntry) -> None:
        """Add a team as the last seed.

        Raises `WriteConflict` if its name is taken or the contest has moved to another stage.
        """
        document, progress = self._load_state()
        if team.name in {existing_team.name for existing_team in self.teams()}:
            raise WriteConflict("Another team has taken the name.")
        seed = progress.entered + 1
        stage = ContestStage.OPEN if team.since == 1 else ContestStage.RUNNING
        self._commit_team_changes(
            document,
            seed,
            self._build_team_put(team, seed, 0),
            _build_player_put(team),
            stage=stage,
        )

    def reset_password(self, name: str) -> tuple[TeamEntry, str]:
        """Give a team a new password, which replaces the old one within seconds; return both."""
        password = new_password()
        team, document = self._find_team_entry(name)
        team = replace(team, ha1=digest_ha1(team.id, password))
        seed = int(str(document.body["seed"]))
        player = replace(team, name=self.team_names_at_arena().get(team.id, team.name))
        self.documents.commit(
            self._build_team_put(team, seed, document.version), _build_player_put(player)
        )
        return team, password

    def remove_team(self, name: str) -> None:
        """Remove a team before the contest has begun."""
        self._check_not_begun()
        state_document, progress = self._load_state()
        team, document = self._find_team_entry(name)
        player = self.documents.get(Key(PLAYERS, team.id))
        removed_documents = [item for item in (document, player) if item is not None]
        changes: list[Write] = [Delete(item.key, item.version) for item in removed_documents]
        changes.append(Put(self.document_key("gone", team.id), {"name": team.name}, None))
        self._commit_team_changes(state_document, progress.entered + 1, *changes)

    def team_names_with_removed(self) -> dict[TeamId, str]:
        """Return the names of all teams, including removed ones, which may have practised."""
        removed_names = {
            document.key.sort_key: str(document.body["name"])
            for document in self.documents_of("gone")
        }
        return removed_names | {team.id: team.name for team in self.teams()}

    def set_seeding(self, order: Sequence[TeamId]) -> None:
        """Seed the teams in this order of all their ids, before the contest has begun."""
        self._check_not_begun()
        document, progress = self._load_state()
        teams = {team.id: team for team in self.teams()}
        seeded_ids = enumerate(order, progress.entered + 1)
        puts = [self._build_team_put(teams[team], seed, None) for seed, team in seeded_ids]
        self._commit_team_changes(document, progress.entered + len(order), *puts)

    def resolve_team(self, name_or_id: str) -> TeamEntry:
        """Return the team with that name or id; raise `ConfigError` if there is none."""
        return self._find_team_entry(name_or_id)[0]

    def _find_team_entry(self, name: str) -> tuple[TeamEntry, Document]:
        entries = [
            (_TEAM_ADAPTER.validate_python(document.body), document)
            for document in self.documents_of("team")
        ]
        team_entry = next(
            (entry for entry in entries if name in (entry[0].id, entry[0].name)), None
        )
        if team_entry is None:
            names = ", ".join(team.name for team in self.teams()) or "none"
            raise ConfigError(f"There is no team {name}. Teams of this contest: {names}.")
        return team_entry

    def _build_team_put(self, team: TeamEntry, seed: int, expected_version: int | None) -> Put:
        put = build_document_put(
            self.document_key("team", team.id), _TEAM_ADAPTER, team, expected_version
        )
        return put._replace(body={**put.body, "seed": seed})

    def _commit_team_changes(
        self,
        document: Document,
        entered: int,
        *changes: Write,
        stage: ContestStage = ContestStage.OPEN,
    ) -> None:
        """Commit changes of a contest's teams.

        Raises `WriteConflict` if the contest is not in `stage`, or has changed since `document`
        was read.
        """
        progress = PROGRESS.validate_python(document.body)
        if progress.stage is not stage:
            raise WriteConflict("The contest has moved to another stage.")
        # A late team counts as a ruling. The director ends a contest only if it has seen all
        # rulings, so it cannot end one between the team's entry and its own next step.
        counted = replace(
            progress, entered=entered, ruled=progress.ruled + (stage is ContestStage.RUNNING)
        )
        self.documents.commit(
            build_document_put(document.key, PROGRESS, counted, document.version), *changes
        )

    def _check_not_begun(self) -> None:
        if self.stage is not ContestStage.OPEN:
            raise ConfigError(
                "The contest has begun, so teams can no longer be removed or seeded again. A team "
                "can withdraw: `cardsharp contest teams withdraw`."
            )

    def build_rename_writes(
        self, name: str, new_name: str, *, notify_arena: bool
    ) -> tuple[TeamEntry, list[Put]]:
        """Build the writes of a team's new name, with the arena's if `notify_arena`."""
        team, document = self._find_team_entry(name)
        check_team_name(
            new_name, [existing_team for existing_team in self.teams() if existing_team != team]
        )
        puts = [Put(document.key, {**document.body, "name": new_name}, None)]
        return team, [
            *puts,
            *([_build_player_put(replace(team, name=new_name))] if notify_arena else []),
        ]

    def team_names_at_arena(self) -> dict[TeamId, str]:
        """Return the names of the teams that the arena has."""
        documents = (self.documents.get(Key(PLAYERS, team.id)) for team in self.teams())
        return {
            document.key.sort_key: str(document.body["name"])
            for document in documents
            if document is not None
        }

    def build_name_announcement_writes(self) -> list[Put]:
        """Build the writes that announce to the arena the names that it does not have yet."""
        announced_names = self.team_names_at_arena()
        return [
            _build_player_put(team)
            for team in self.teams()
            if announced_names.get(team.id, "") != team.name
        ]

    @property
    def admin_action_count(self) -> int:
        """Number of organisers' actions so far, including entries of late teams."""
        return self._state.ruled

    @property
    def is_paused(self) -> bool:
        """True if the contest is paused, so that no match may begin."""
        return self._state.paused

    def set_paused(self, *, paused: bool) -> None:
        """Pause the contest if `paused`, so that no match begins; else resume it."""
        self._update_state(lambda state: replace(state, paused=paused))

    def commit_in_batches(self, changes: Sequence[Write]) -> None:
        """Commit the writes in batches; readers may see some of them earlier than the others."""
        for start in range(0, len(changes), MAX_TRANSACTION_WRITES):
            self.documents.commit(*changes[start : start + MAX_TRANSACTION_WRITES])

    def _load_state(self) -> tuple[Document, ContestState]:
        """Return the contest's state document, and the state in it."""
        document = self.documents.get(Key(CONTESTS, self._contest_name))
        if document is None:
            raise ConfigError(
                f"There is no contest {self._contest_name}. Create one with `cardsharp "
                "contest new`."
            )
        return document, PROGRESS.validate_python(document.body)

    @property
    def _state(self) -> ContestState:
        return self._load_state()[1]

    def _update_state(self, change: Callable[[ContestState], ContestState]) -> None:
        """Apply a change to the current state; retry while other writers interfere."""
        while True:
            document, state = self._load_state()
            new_state = change(state)
            put = build_document_put(document.key, PROGRESS, new_state, document.version)
            if new_state == state or try_commit(self.documents, put):
                return

    def document_key(self, kind: str, sort: str) -> Key:
        """Return the key of a document of that kind."""
        return Key(f"contest#{self._contest_name}#{kind}", sort)

    def documents_of(self, kind: str) -> Iterator[Document]:
        """Yield all documents of a kind in order."""
        return all_documents(self.documents, f"contest#{self._contest_name}#{kind}")


def all_documents(documents: DocumentStore, partition: str) -> Iterator[Document]:
    """Yield all documents of a partition in order."""
    page = documents.query(partition, limit=_PAGE_SIZE)
    yield from page
    while len(page) == _PAGE_SIZE:
        page = documents.query(partition, page[-1].key.sort_key, _PAGE_SIZE)
        yield from page


def build_document_put(
    key: Key, kind: TypeAdapter[Any], value: object, expected_version: int | None = None
) -> Put:
    """Build the write of a value as a document; `expected` is its current version."""
    return Put(key, kind.dump_python(value, mode="json"), expected_version)


def _build_player_put(team: TeamEntry) -> Put:
    """Return the write of a team's player entry.

    If the entry names a strategy, a cloud arena plays for the team with it.
    """
    strategy = {} if team.strategy is None else {"strategy": team.strategy}
    return Put(Key(PLAYERS, team.id), {"name": team.name, "ha1": team.ha1, **strategy}, None)
