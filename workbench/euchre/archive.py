"""The deals that the service keeps on this machine, with the reasons that its log tells."""

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from pathlib import Path

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import Body, MatchRecord, MoveRecord, NoteRecord, Status
from cardsharp.errors import ConfigError, StoreError
from cardsharp.euchre.replay import asked_of, event_of, header_body, is_over, moves_of
from cardsharp.euchre.store import DEAL_STORE, LIFE, DealKey, Deals, key_at
from cardsharp.keep.sqlite import SqliteKeep
from workbench.show.lookup import SQLITE, data_folder, file_of

_LOG = "euchre.log"


@dataclass(frozen=True, slots=True)
class DealArchive:
    """A `MatchReader` in which each deal is a match; `log` explains the decisions."""

    keep: SqliteKeep
    deals: Deals
    log: Path

    def matches(
        self, day: date | None = None, status: Status | None = None, limit: int = 100
    ) -> list[MatchRecord]:
        """Headers, the last begun first."""
        began = (one for one in self._began() if day in {None, one[1].date()})
        found = (self._record(key, moment) for key, moment in began)
        wanted = (one for one in found if one is not None and status in {None, one.status})
        return list(islice(wanted, limit))

    def match(self, match_id: str) -> MatchRecord | None:
        """The header of a deal, or None if there is none."""
        began = (self._record(*one) for one in self._began() if _id(one[0]) == match_id)
        return next(began, None)

    def moves(self, match_id: str) -> list[MoveRecord]:
        """All events of a deal in their order, with our reasons beside our own."""
        for key, began in self._began():
            record = self.deals.read(key) if _id(key) == match_id else None
            if record is not None:
                said, moves = self._said(key, began), []
                for move in moves_of(record):
                    question, seat, action = asked_of(event_of(move))
                    reasons = said.get((question.value, seat, str(action)))
                    reason = reasons.pop(0) if reasons else None
                    moves.append(MoveRecord(move.sequence, reason, move.facts))
                return moves
        return []

    def notes(self, _match_id: str) -> list[NoteRecord]:
        """No notes: none are kept."""
        return []

    def _began(self) -> Iterator[tuple[DealKey, datetime]]:
        """The keys of all deals, the last begun first, and when they began."""
        return ((key_at(key), end - LIFE) for key, end in self.keep.listed() if end is not None)

    def _record(self, key: DealKey, began: datetime) -> MatchRecord | None:
        try:
            record = self.deals.read(key)
        except StoreError as error:
            return MatchRecord(_id(key), Status.RUNNING, began, {}, fault=str(error))
        if record is None:
            return None
        over = is_over(record)
        status = Status.FINISHED if over else Status.RUNNING
        return MatchRecord(_id(key), status, began, header_body(record, over=over))

    def _said(self, key: DealKey, began: datetime) -> dict[tuple[object, ...], list[Body]]:
        said: dict[tuple[object, ...], list[Body]] = defaultdict(list)
        wanted = (key.token, key.game, key.deal)
        for entry in _entries(self.log):
            names = (entry.get("token"), entry.get("game_num"), entry.get("deal_num"))
            at = datetime.fromisoformat(str(entry["timestamp"]))
            if names == wanted and at >= began:
                said[entry.get("question"), entry.get("seat"), entry.get("answer")].append(entry)
        return said


@contextmanager
def open_archive(store: str | None) -> Iterator[DealArchive]:
    """The deals in `sqlite:FILE`, explained by the log beside it or our own; or `ConfigError`."""
    name = store or f"{SQLITE}{data_folder() / 'euchre.db'}"
    file = file_of(name)
    if not name.startswith(SQLITE) or not file.is_file():
        raise ConfigError(
            f"There are no deals in {name}; run `cardsharp euchre serve`, or name its sqlite:FILE."
        )
    with closing(DEAL_STORE.kept_in(file, SystemClock(), to_read=True)) as keep:
        logs = (file.with_suffix(".log"), file.with_name(_LOG), data_folder() / _LOG)
        log = next((log for log in logs if log.is_file()), logs[0])
        yield DealArchive(keep, Deals(keep, SystemClock()), log)


def _id(key: DealKey) -> str:
    return f"{key.token}-{key.game}-{key.deal}"


def _entries(log: Path) -> Iterator[Body]:
    """The decisions in a log; lines of any other kind are passed over."""
    with suppress(FileNotFoundError), log.open("rb") as lines:
        for line in lines:
            with suppress(ValueError):
                entry = json.loads(line)
                if isinstance(entry, dict) and entry.get("message") == "decision":
                    yield entry
