"""Repository of contests: a local file has one, an arena in the cloud any number."""

from collections.abc import Iterator

from cardsharp.contest.freeze import active_or_scheduled_freeze
from cardsharp.contest.models import ContestSettings, ContestStage
from cardsharp.contest.results import ContestRecords
from cardsharp.contest.teams import (
    CONTESTS,
    PROGRESS,
    ContestState,
    all_documents,
    build_document_put,
)
from cardsharp.errors import ConfigError
from cardsharp.store.documents import DocumentStore, Key, try_commit

_STAGE_ORDER = (ContestStage.RUNNING, ContestStage.OPEN, ContestStage.OVER)


class ContestRepository:
    """Repository of the contests in a document store."""

    def __init__(self, documents: DocumentStore) -> None:
        self.documents = documents

    def create(self, settings: ContestSettings) -> ContestRecords:
        """Create a contest; raise `ConfigError` if the name is taken."""
        put = build_document_put(Key(CONTESTS, settings.name), PROGRESS, ContestState(settings), 0)
        if not try_commit(self.documents, put):
            raise ConfigError(f"The contest {settings.name} already exists. Choose another name.")
        return self.get(settings.name)

    def get(self, name: str) -> ContestRecords:
        """Return a contest by name; raise `ConfigError` if it does not exist."""
        return ContestRecords(self.documents, name)

    def contest_names(self) -> list[str]:
        """Return the names: running or frozen contests first, then future ones, then finished."""

        def order(state: ContestState) -> int:
            is_frozen = state.stage is ContestStage.OVER and active_or_scheduled_freeze(
                self.get(state.settings.name)
            )
            return _STAGE_ORDER.index(ContestStage.RUNNING if is_frozen else state.stage)

        return [state.settings.name for state in sorted(self._load_states(), key=order)]

    def active_contests(self) -> Iterator[ContestRecords]:
        """Yield the contests that are in practice or running."""
        for state in self._load_states():
            if state.stage is ContestStage.RUNNING or state.practice is not None:
                yield self.get(state.settings.name)

    def _load_states(self) -> list[ContestState]:
        documents = all_documents(self.documents, CONTESTS)
        return [PROGRESS.validate_python(document.body) for document in documents]
