"""Match logs: their locations, the match that a name means, and the import of a match."""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from cardsharp.analysis.match_listing import MAX_LISTED_HEADERS, is_match_of, newest_matches
from cardsharp.analysis.replay import header_of
from cardsharp.core.clock import SystemClock
from cardsharp.core.private_files import DIRECTORY_MODE, restrict_to_owner
from cardsharp.errors import ConfigError
from cardsharp.play.catalog import get_game as game_called
from cardsharp.play.game import Game
from cardsharp.store.locations import DYNAMODB_PREFIX, SQLITE_PREFIX, sqlite_path
from cardsharp.store.match_log import (
    Body,
    MatchLog,
    MatchReader,
    MatchRecord,
    MatchStatus,
    MoveRecord,
)
from cardsharp.store.match_log_factory import build_match_log
from cardsharp_tools.match_sources.match_names import LAST_MATCH

if TYPE_CHECKING:  # as below: sqlite3 is slow to import, and not every match is in a log
    from cardsharp.store.sqlite_match_log import SqliteMatchLog

_IMPORT_OWNER = "archive"
_IMPORT_LEASE_TTL = timedelta(minutes=1)

_imported_at: ContextVar[datetime | None] = ContextVar("then", default=None)


class _ImportClock(SystemClock):
    """Clock that shows the start of a match while the match is imported after its end."""

    def now(self) -> datetime:
        """Return the start of the imported match, or the current time."""
        return _imported_at.get() or super().now()


def import_match(record: MatchRecord, moves: Sequence[MoveRecord], log: MatchLog) -> bool:
    """Store a finished match at its original times; return False if the log has it.

    Returns False if the log already has the match. Raises `StoreError`.
    """
    token = _imported_at.set(record.started_at)
    try:
        lease = log.acquire_lease(record.match_id, _IMPORT_OWNER, _IMPORT_LEASE_TTL, record.header)
        if lease is None:
            return False
        for move in moves:
            if move.intent is not None:
                log.write_intent(lease, move.sequence, move.intent)
        log.write_facts(
            lease, {move.sequence: move.facts for move in moves if move.facts is not None}
        )
        _imported_at.set(record.finished_at)
        log.finish(lease, record.outcome or {})
    finally:
        _imported_at.reset(token)
    return True


def copy_match(match_id: str, source: MatchLog, log: MatchLog, extra_header: Body) -> None:
    """Copy a finished match from `source` to `log`, with `extra_header` in its header.

    Nothing is copied if the log has the match. Raises `StoreError`.
    """
    record = source.match(match_id)
    if record is None or record.outcome is None:
        return
    target_record = replace(record, header={**record.header, **extra_header})
    if import_match(target_record, source.moves(match_id), log):
        for note in source.notes(match_id):
            log.add_note(match_id, note.kind, note.body)


def data_folder() -> Path:
    """Return the folder of this program's data, in `$XDG_DATA_HOME` or the home folder.

    Only its owner can read it. Raises `ConfigError` if there is no home folder.
    """
    configured_path = os.environ.get("XDG_DATA_HOME", "")
    try:
        folder = (
            Path(configured_path) / "cardsharp" if configured_path else Path.home() / ".cardsharp"
        )
    except RuntimeError as error:
        raise ConfigError("There is no home folder; set XDG_DATA_HOME to a folder.") from error
    restrict_to_owner(folder, DIRECTORY_MODE)
    return folder


def default_store() -> str:
    """Return the name of the default match log."""
    return f"{SQLITE_PREFIX}{data_folder() / 'matches.db'}"


def resolve_match_log_location(store: str | None = None) -> str:
    """Return the match log to use: the given one, the environment's, or the default."""
    return store or os.environ.get("CARDSHARP_STORE", "") or default_store()


@contextmanager
def open_log(store: str) -> Iterator[MatchLog]:
    """Open the match log `sqlite:FILE` or `dynamodb:TABLE`; close it at the end."""
    with closing(build_match_log(store, _ImportClock())) as log:
        yield log


@contextmanager
def open_existing_log(
    store: str | None, writer_command: str = "cardsharp play"
) -> Iterator[MatchReader]:
    """Open an existing match log or arena's file for reading; raise `ConfigError` if missing.

    The error names `writer_command` as the command that creates such a log.
    """
    if store is not None and not store.startswith((SQLITE_PREFIX, DYNAMODB_PREFIX)):
        raise ConfigError(
            f"There is no '{store}'; a source is a contest's folder, an arena's address, a FILE or "
            "folder of recorded matches, - for the standard input, sqlite:FILE or dynamodb:TABLE."
        )
    name = resolve_match_log_location(store)
    file = sqlite_path(name)
    if file is not None and not file.is_file():
        raise ConfigError(
            f"There is no match log {file} yet; run `{writer_command}`, or name one with --store."
        )
    with _open_log_reader(name) as log:
        yield log


def open_game_log(game: Game | None, store: str | None) -> AbstractContextManager[MatchReader]:
    """Open the log or archive with a game's matches, or any game's, for reading.

    Raises `ConfigError` if it cannot be opened.
    """
    if game is None or game.open_archive is None or _is_match_log(store):
        return open_existing_log(store)
    log: AbstractContextManager[MatchReader] = game.open_archive.load()(store)
    return log


@contextmanager
def open_existing_log_for_writing(store: str | None) -> Iterator["SqliteMatchLog"]:
    """Open an existing SQLite match log for writing; raise `ConfigError` otherwise."""
    from cardsharp.store.sqlite_match_log import SqliteMatchLog  # noqa: PLC0415 - slow to import

    name = resolve_match_log_location(store)
    file = sqlite_path(name)
    if file is None:
        raise ConfigError(f"{name} is not a sqlite:FILE; matches of other logs cannot be deleted.")
    with open_existing_log(name), closing(SqliteMatchLog(file, SystemClock())) as log:
        yield log


def _open_log_reader(name: str) -> AbstractContextManager[MatchReader]:
    """Return a reader of the match log, or of the arena's file, with this name."""
    file = sqlite_path(name)
    if file is None:
        return closing(build_match_log(name, SystemClock()))
    from cardsharp_tools.match_sources.log_files import open_log_file  # noqa: PLC0415 - slow to import

    return open_log_file(file)


def _is_match_log(store: str | None) -> bool:
    """Return True if the store that a user has named is a file with the tables of a match log."""
    file = None if store is None else sqlite_path(store)
    if file is None:
        return False
    from cardsharp_tools.match_sources.log_files import is_match_log_file  # noqa: PLC0415 - as above

    return is_match_log_file(file)


def readable_matches(
    log: MatchReader, game: Game, status: MatchStatus | None = None, tag: str | None = None
) -> list[MatchRecord]:
    """Return a game's readable matches, the newest first; filter by status or tag.

    `status` and `tag` select some of them. Raises `ConfigError` if there are none.
    """
    every = newest_matches(log, game, status, limit=MAX_LISTED_HEADERS)
    matching = [record for record in every if tag is None or tag in header_of(record).tags]
    if not matching:
        kind = f"{status or ''} match of {game.title}".strip()
        tagged = f" with the tag {tag}" if tag else ""
        raise ConfigError(f"The log has no {kind}{tagged}; play one, or name another source.")
    return matching


def resolve_match_id(log: MatchReader, match_ref: str, game: Game | None = None) -> str:
    """Return the id of the match that `match_ref` names: `last` (of `game`), or a part of an id.

    Raises `ConfigError` if there is no such match, or more than one.
    """
    if match_ref == LAST_MATCH:
        return _find_last_match_id(log, game)
    if exact := log.match(match_ref):
        return exact.match_id
    records = log.matches(limit=MAX_LISTED_HEADERS)
    matching = [
        r for r in records if r.match_id.startswith(match_ref) or r.match_id.endswith(match_ref)
    ]
    game_records = [r for r in matching if is_match_of(game, r) or not is_match_of(None, r)]
    ids = [record.match_id for record in game_records or matching]
    if not ids:
        raise ConfigError(f"No match '{match_ref}' is in the log; `cardsharp matches` lists them.")
    if len(ids) > 1:
        raise ConfigError(f"'{match_ref}' can be {len(ids)} matches, e.g. {ids[0]}; write more.")
    return ids[0]


def _find_last_match_id(log: MatchReader, game: Game | None) -> str:
    """Return the id of the last match of a game, or of any game for None.

    Raise `ConfigError` if there is none.
    """
    newest = newest_matches(log, game, limit=1)
    if newest:
        return newest[0].match_id
    if not log.matches(limit=1):
        raise ConfigError("The match log is empty; run `cardsharp play`.")
    kind = "match that can be read" if game is None else f"match of {game.title}"
    raise ConfigError(f"The match log has no {kind}; `cardsharp matches` lists what it has.")


def game_of_match(record: MatchRecord) -> Game:
    """Return the game of a match, by its header.

    Raises `InvalidInput` if it names no game, or `StoreError`.
    """
    return game_called(header_of(record).game)
