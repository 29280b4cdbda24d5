"""Archive of the deals that the service stored on this machine, with the reasons in its log."""

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from pathlib import Path

from cardsharp.core.clock import SystemClock
from cardsharp.errors import ConfigError, StoreError
from cardsharp.games.euchre.history.replay import (
    decision_in_event,
    event_from_move,
    header_body,
    is_over,
    to_move_records,
)
from cardsharp.games.euchre.service.deal_store import (
    DEAL_STORE_FACTORY,
    DEAL_TTL,
    DealKey,
    DealStore,
    deal_key_of,
)
from cardsharp.store.match_log import Body, DebugNote, MatchRecord, MatchStatus, MoveRecord
from cardsharp.store.sqlite_documents import SqliteDocumentStore
from cardsharp_tools.match_sources.match_logs import SQLITE_PREFIX, data_folder, sqlite_path

_LOG = "euchre.log"


@dataclass(frozen=True, slots=True)
class DealArchive:
    """Reader in which each deal is a match; `log` has the reasons of the decisions."""

    documents: SqliteDocumentStore
    deals: DealStore
    log: Path

    def matches(
        self, day: date | None = None, status: MatchStatus | None = None, limit: int = 100
    ) -> list[MatchRecord]:
        """Return the headers of the deals, the latest first."""
        began = (entry for entry in self._began() if day in {None, entry[1].date()})
        records = (self._record(key, moment) for key, moment in began)
        matching = (
            record for record in records if record is not None and status in {None, record.status}
        )
        return list(islice(matching, limit))

    def match(self, match_id: str) -> MatchRecord | None:
        """Return the header of a deal, or None if there is none."""
        began = (self._record(*entry) for entry in self._began() if _id(entry[0]) == match_id)
        return next(began, None)

    def moves(self, match_id: str) -> list[MoveRecord]:
        """Return all events of a deal in their order, with our reasons beside our own."""
        for key, began in self._began():
            record = self.deals.read(key) if _id(key) == match_id else None
            if record is not None:
                logged, moves = self._logged_decisions(key, began), []
                for move in to_move_records(record):
                    decision_type, seat, action = decision_in_event(event_from_move(move))
                    reasons = logged.get((decision_type.value, seat, str(action)))
                    reason = reasons.pop(0) if reasons else None
                    moves.append(MoveRecord(move.sequence, reason, move.facts))
                return moves
        return []

    def notes(self, _match_id: str) -> list[DebugNote]:
        """Return no notes: deals have none."""
        return []

    def _began(self) -> Iterator[tuple[DealKey, datetime]]:
        """Yield the keys and start times of all deals, the last one first."""
        return (
            (deal_key_of(key), end - DEAL_TTL)
            for key, end in self.documents.keys_and_expiries()
            if end is not None
        )

    def _record(self, key: DealKey, began: datetime) -> MatchRecord | None:
        try:
            record = self.deals.read(key)
        except StoreError as error:
            return MatchRecord(_id(key), MatchStatus.RUNNING, began, {}, read_error=str(error))
        if record is None:
            return None
        over = is_over(record)
        status = MatchStatus.FINISHED if over else MatchStatus.RUNNING
        return MatchRecord(_id(key), status, began, header_body(record, is_over=over))

    def _logged_decisions(
        self, key: DealKey, began: datetime
    ) -> dict[tuple[object, ...], list[Body]]:
        decisions: dict[tuple[object, ...], list[Body]] = defaultdict(list)
        expected = (key.token, key.game, key.deal)
        for entry in _entries(self.log):
            entry_key = (entry.get("token"), entry.get("game_num"), entry.get("deal_num"))
            at = datetime.fromisoformat(str(entry["timestamp"]))
            if entry_key == expected and at >= began:
                decisions[entry.get("question"), entry.get("seat"), entry.get("answer")].append(
                    entry
                )
        return decisions


@contextmanager
def open_archive(store: str | None) -> Iterator[DealArchive]:
    """Open the deals in `sqlite:FILE`, with the reasons from the log beside it or our own.

    Raises `ConfigError` if there are no deals.
    """
    name = store or f"{SQLITE_PREFIX}{data_folder() / 'euchre.db'}"
    file = sqlite_path(name)
    if not name.startswith(SQLITE_PREFIX) or not file.is_file():
        raise ConfigError(
            f"There are no deals in {name}; run `cardsharp euchre serve`, or name its sqlite:FILE."
        )
    with closing(
        DEAL_STORE_FACTORY.open_sqlite_document_store(file, SystemClock(), read_only=True)
    ) as keep:
        logs = (file.with_suffix(".log"), file.with_name(_LOG), data_folder() / _LOG)
        log = next((log for log in logs if log.is_file()), logs[0])
        yield DealArchive(keep, DealStore(keep, SystemClock()), log)


def _id(key: DealKey) -> str:
    return f"{key.token}-{key.game}-{key.deal}"


def _entries(log: Path) -> Iterator[Body]:
    """Yield the decisions in a log; other lines are skipped."""
    with suppress(FileNotFoundError), log.open("rb") as lines:
        for line in lines:
            with suppress(ValueError):
                entry = json.loads(line)
                if isinstance(entry, dict) and entry.get("message") == "decision":
                    yield entry
