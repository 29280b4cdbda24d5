"""Match logs: where they lie, which match a word means, and a whole match written into one."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from cardsharp.cloud.adapters import build_log
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.listing import MAX_READ, is_match_of, newest_matches
from cardsharp.cloud.ports import Body, MatchLog, MatchReader, MatchRecord, MoveRecord, Status
from cardsharp.cloud.private import FOLDER, narrow
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.errors import ConfigError
from cardsharp.game import Game
from cardsharp.games import game as game_called
from cardsharp.replay import header_of

_OWNER = "archive"
_TTL = timedelta(minutes=1)

_then: ContextVar[datetime | None] = ContextVar("then", default=None)


class _KeepersClock(SystemClock):
    """Shows the time at which a match began while it is written into a log after its end."""

    def now(self) -> datetime:
        """That time, else the current one."""
        return _then.get() or super().now()


def keep_match(record: MatchRecord, moves: Sequence[MoveRecord], target: MatchLog) -> bool:
    """Write a finished match, timed by a `_KeepersClock`; False if it is there; or `StoreError`."""
    before = _then.set(record.started)
    try:
        lease = target.take(record.match_id, _OWNER, _TTL, record.header)
        if lease is None:
            return False
        for move in moves:
            if move.intent is not None:
                target.intend(lease, move.sequence, move.intent)
        target.record(lease, {one.sequence: one.facts for one in moves if one.facts is not None})
        _then.set(record.finished)
        target.finish(lease, record.outcome or {})
    finally:
        _then.reset(before)
    return True


def copy_match(match_id: str, source: MatchLog, target: MatchLog, more: Body) -> None:
    """Copy a finished match that `target` lacks, with `more` in its header; raises `StoreError`."""
    record = source.match(match_id)
    if record is None or record.outcome is None:
        return
    told = replace(record, header={**record.header, **more})
    if keep_match(told, source.moves(match_id), target):
        for note in source.notes(match_id):
            target.note(match_id, note.kind, note.body)


LAST = "last"  # the word that means the match that was played last

SQLITE = "sqlite:"


def data_folder() -> Path:
    """Where this program keeps all, in `$XDG_DATA_HOME` or at home; made its owner's alone."""
    given = os.environ.get("XDG_DATA_HOME", "")
    try:
        folder = Path(given) / "cardsharp" if given else Path.home() / ".cardsharp"
    except RuntimeError as error:
        raise ConfigError("There is no home folder; set XDG_DATA_HOME to a folder.") from error
    narrow(folder, FOLDER)
    return folder


def own_store() -> str:
    """The match log that is meant where nothing else is said."""
    return f"{SQLITE}{data_folder() / 'matches.db'}"


def store_or_default(store: str | None = None) -> str:
    """The match log that is meant: the given one, that of the environment, or our own."""
    return store or os.environ.get("CARDSHARP_STORE", "") or own_store()


@contextmanager
def open_log(store: str) -> Iterator[MatchLog]:
    """The match log `sqlite:FILE` or `dynamodb:TABLE`, closed at the end."""
    with closing(build_log(store, _KeepersClock())) as log:
        yield log


@contextmanager
def open_to_read(store: str | None, filled_by: str = "cardsharp play") -> Iterator[MatchReader]:
    """A match log that exists, as `filled_by` makes one, or an arena's file; or `ConfigError`."""
    if store is not None and not store.startswith((SQLITE, "dynamodb:")):
        raise ConfigError(
            f"There is no '{store}'; a source is a contest's folder, an arena's address, a FILE or "
            "folder of recorded matches, - for the standard input, sqlite:FILE or dynamodb:TABLE."
        )
    name = store_or_default(store)
    file = file_of(name)
    if name.startswith(SQLITE) and not file.is_file():
        raise ConfigError(
            f"There is no match log {file} yet; run `{filled_by}`, or name one with --store."
        )
    with _log_to_read(name) as log:
        yield log


def open_of(game: Game | None, store: str | None) -> AbstractContextManager[MatchReader]:
    """What keeps the matches of a game, or those of any, to be read; raises `ConfigError`."""
    if game is None or game.archive is None or _is_match_log(store):
        return open_to_read(store)
    found: AbstractContextManager[MatchReader] = game.archive.load()(store)
    return found


@contextmanager
def open_file(store: str | None) -> Iterator[SqliteLog]:
    """A match log that is a SQLite file and there already, to be written; raises `ConfigError`."""
    name = store_or_default(store)
    if not name.startswith(SQLITE):
        raise ConfigError(f"{name} is no sqlite:FILE, and of no other log anything is deleted.")
    with open_to_read(name), closing(SqliteLog(file_of(name), SystemClock())) as log:
        yield log


def file_of(name: str) -> Path:
    """The file that `sqlite:FILE` names."""
    return Path(name.removeprefix(SQLITE)).expanduser()


def _log_to_read(name: str) -> AbstractContextManager[MatchReader]:
    """The match log of that name, or an arena's file; of a file nothing but what is in it."""
    if not name.startswith(SQLITE):
        return closing(build_log(name, SystemClock()))
    file = file_of(name)
    if _is_of_arena(file):  # the names of a contest's teams lie beside it
        from cardsharp.contest.sqlite import FILE, kept_in  # noqa: PLC0415 - many modules
        from cardsharp.deadmansdraw.arena.storage import KeptMatches  # noqa: PLC0415 - the same

        if not (file.parent / FILE).is_file():
            return closing(KeptMatches(file, {}))
        with kept_in(file.parent) as records:
            return closing(KeptMatches(file, records.names()))
    return closing(SqliteLog(file, SystemClock(), to_read=True))


def _is_of_arena(file: Path) -> bool:
    """Whether a file is an arena's, by its tables; a running arena lets nobody else read it."""
    try:
        return _tables_in(file) == {"matches", "moves"}
    except sqlite3.Error as error:
        return "locked" in str(error)


def _is_match_log(store: str | None) -> bool:
    """Whether a store that a user has named is a file with a match log, by its tables."""
    if store is None or not store.startswith(SQLITE):
        return False
    try:
        return _tables_in(file_of(store)) >= {"matches", "moves", "notes"}
    except sqlite3.Error:
        return False


def _tables_in(file: Path) -> set[str]:
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", 1, uri=True)) as db:
        found = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {name for (name,) in found}


def readable(
    log: MatchReader, game: Game, status: Status | None = None, tag: str | None = None
) -> list[MatchRecord]:
    """A game's readable matches, the newest first, perhaps of a status or tag; or `ConfigError`."""
    every = newest_matches(log, game, status, limit=MAX_READ)
    found = [one for one in every if tag is None or tag in header_of(one).tags]
    if not found:
        kind = f"{status or ''} match of {game.title}".strip()
        tagged = f" with the tag {tag}" if tag else ""
        raise ConfigError(f"The log has no {kind}{tagged}; play one, or name another source.")
    return found


def find_match(log: MatchReader, word: str, game: Game | None = None) -> str:
    """The id of the match that a word means: `last` (of `game`), or a part of one; or a fault."""
    if word == LAST:
        return _last_match(log, game)
    if exact := log.match(word):
        return exact.match_id
    records = log.matches(limit=MAX_READ)
    matching = [r for r in records if r.match_id.startswith(word) or r.match_id.endswith(word)]
    own = [r for r in matching if is_match_of(game, r) or not is_match_of(None, r)]
    ids = [record.match_id for record in own or matching]
    if not ids:
        raise ConfigError(f"No match '{word}' is in the log; `cardsharp matches` lists them.")
    if len(ids) > 1:
        raise ConfigError(f"'{word}' can be {len(ids)} matches, e.g. {ids[0]}; write more.")
    return ids[0]


def _last_match(log: MatchReader, game: Game | None) -> str:
    """The id of the match of a game, or of any, that was played last; raises `ConfigError`."""
    newest = newest_matches(log, game, limit=1)
    if newest:
        return newest[0].match_id
    if not log.matches(limit=1):
        raise ConfigError("The match log is empty; run `cardsharp play`.")
    kind = "match that can be read" if game is None else f"match of {game.title}"
    raise ConfigError(f"The match log has no {kind}; `cardsharp matches` lists what it has.")


def game_of(record: MatchRecord) -> Game:
    """The game of a match, by its header; raises `Malformed` for no game, or `StoreError`."""
    return game_called(header_of(record).game)
