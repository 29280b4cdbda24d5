"""Archive of the deals that the service stored on this machine, with the reasons in its log."""

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import date, datetime
from itertools import dropwhile, islice
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
from cardsharp.store.locations import SQLITE_PREFIX, sqlite_path
from cardsharp.store.match_log import Body, DebugNote, MatchRecord, MatchStatus, MoveRecord
from cardsharp.store.sqlite_documents import SqliteDocumentStore
from cardsharp_tools.match_sources.match_logs import data_folder

_LOG_FILE = "euchre.log"


@dataclass(frozen=True, slots=True)
class DealMatchReader:
    """Reader of a match log in which each Euchre deal is a match.

    `log` is the file with the reasons of the decisions.
    """

    documents: SqliteDocumentStore
    deals: DealStore
    log: Path

    def matches(
        self,
        day: date | None = None,
        status: MatchStatus | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> list[MatchRecord]:
        """Return the headers of the deals, the latest first."""
        entries = self._list_start_times()
        if cursor is not None:
            entries = islice(
                dropwhile(lambda entry: _to_match_id(entry[0]) != cursor, entries), 1, None
            )
        began = (entry for entry in entries if day in {None, entry[1].date()})
        records = (self._read_match(key, moment) for key, moment in began)
        matching = (
            record for record in records if record is not None and status in {None, record.status}
        )
        return list(islice(matching, limit))

    def match(self, match_id: str) -> MatchRecord | None:
        """Return the header of a deal, or None if there is none."""
        began = (
            self._read_match(*entry)
            for entry in self._list_start_times()
            if _to_match_id(entry[0]) == match_id
        )
        return next(began, None)

    def moves(self, match_id: str) -> list[MoveRecord]:
        """Return all events of a deal in their order, with our reasons beside our own."""
        for key, began in self._list_start_times():
            record = self.deals.read(key) if _to_match_id(key) == match_id else None
            if record is not None:
                logged, moves = self._find_logged_decisions(key, began), []
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

    def _list_start_times(self) -> Iterator[tuple[DealKey, datetime]]:
        """Return the keys and start times of all deals, the latest first."""
        return (
            (deal_key_of(key), end - DEAL_TTL)
            for key, end in self.documents.keys_and_expiries()
            if end is not None
        )

    def _read_match(self, key: DealKey, started_at: datetime) -> MatchRecord | None:
        try:
            record = self.deals.read(key)
        except StoreError as error:
            return MatchRecord(
                _to_match_id(key), MatchStatus.RUNNING, started_at, {}, read_error=str(error)
            )
        if record is None:
            return None
        over = is_over(record)
        status = MatchStatus.FINISHED if over else MatchStatus.RUNNING
        return MatchRecord(_to_match_id(key), status, started_at, header_body(record, is_over=over))

    def _find_logged_decisions(
        self, key: DealKey, started_at: datetime
    ) -> dict[tuple[object, ...], list[Body]]:
        decisions: dict[tuple[object, ...], list[Body]] = defaultdict(list)
        expected = (key.token, key.game, key.deal)
        for entry in _read_logged_decisions(self.log):
            entry_key = (entry.get("token"), entry.get("game_num"), entry.get("deal_num"))
            at = datetime.fromisoformat(str(entry["timestamp"]))
            if entry_key == expected and at >= started_at:
                decisions[entry.get("question"), entry.get("seat"), entry.get("answer")].append(
                    entry
                )
        return decisions


@contextmanager
def open_archive(store: str | None) -> Iterator[DealMatchReader]:
    """Open the deals in `sqlite:FILE`, with the reasons from the log beside it or our own.

    Raises `ConfigError` if there are no deals.
    """
    name = store or f"{SQLITE_PREFIX}{data_folder() / 'euchre.db'}"
    file = sqlite_path(name)
    if file is None or not file.is_file():
        raise ConfigError(
            f"There are no deals in {name}; run `cardsharp euchre serve`, or name its sqlite:FILE."
        )
    with closing(
        DEAL_STORE_FACTORY.open_sqlite_document_store(file, SystemClock(), read_only=True)
    ) as keep:
        logs = (file.with_suffix(".log"), file.with_name(_LOG_FILE), data_folder() / _LOG_FILE)
        log = next((log for log in logs if log.is_file()), logs[0])
        yield DealMatchReader(keep, DealStore(keep, SystemClock()), log)


def _to_match_id(key: DealKey) -> str:
    return f"{key.token}-{key.game}-{key.deal}"


def _read_logged_decisions(log: Path) -> Iterator[Body]:
    """Yield the decisions in a log; skip other lines."""
    with suppress(FileNotFoundError), log.open("rb") as lines:
        for line in lines:
            with suppress(ValueError):
                entry = json.loads(line)
                if isinstance(entry, dict) and entry.get("message") == "decision":
                    yield entry
