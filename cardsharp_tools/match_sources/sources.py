"""Sources of matches, opened by a name: a log, a contest's folder, an arena, files, stdin."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from cardsharp.analysis.replay import read_error_of
from cardsharp.errors import ConfigError, StoreError
from cardsharp.play.game import Game
from cardsharp.store.locations import DYNAMODB_PREFIX, SQLITE_PREFIX
from cardsharp.store.match_log import MatchReader, MatchRecord, MatchStatus, MoveRecord
from cardsharp.store.match_records import WITHDRAWN
from cardsharp_tools.cli.console import print_error
from cardsharp_tools.cli.options import STDIN_PATH
from cardsharp_tools.match_sources.match_logs import (
    game_of_match,
    open_game_log,
    resolve_match_id,
)
from cardsharp_tools.match_sources.match_names import LAST_MATCH
from cardsharp_tools.match_sources.recordings import (
    RECORDING_SUFFIXES,
    parse_recordings,
    read_recording_files,
)

_STORE_PREFIXES = (SQLITE_PREFIX, DYNAMODB_PREFIX)
_URL_PREFIXES = ("http://", "https://")
_SAMPLES_FOLDER = Path(__file__).parent / "samples"  # sample matches that are part of the package


@dataclass(frozen=True, slots=True)
class MatchSource:
    """Source from which matches are read.

    It is opened anew for each query, so that several threads may use it.
    """

    open_reader: Callable[[], AbstractContextManager[MatchReader]]
    poll_interval: timedelta = timedelta(milliseconds=250)  # between two checks for new matches

    def matches(
        self, day: date | None, status: MatchStatus | None, limit: int, cursor: str | None = None
    ) -> list[MatchRecord]:
        """Return the newest matches, or those after the match `cursor`."""
        with self.open_reader() as log:
            return log.matches(day, status, limit, cursor)

    def match(self, match_id: str) -> MatchRecord | None:
        """Return a match without its moves."""
        with self.open_reader() as log:
            return log.match(match_id)

    def moves(self, match_id: str) -> list[MoveRecord]:
        """Return the readable moves of a match."""
        with self.open_reader() as log:
            return [move for move in log.moves(match_id) if move.read_error is None]


def find_source(source_ref: str | None, game: Game | None = None) -> MatchSource:
    """Return the source that `source_ref` names; None is our log or the game's archive.

    Raises `ConfigError` if there is no such source.
    """
    if source_ref is None:
        return MatchSource(partial(open_game_log, game, None))
    if source_ref.startswith(_URL_PREFIXES):
        # What sends requests is slow to import, and most commands read a file.
        from cardsharp_tools.match_sources.arena_reader import ArenaMatchReader  # noqa: PLC0415

        arena = partial(ArenaMatchReader, source_ref)
        return MatchSource(lambda: nullcontext(arena()), timedelta(milliseconds=800))
    path = _resolve_path(source_ref)
    if source_ref == STDIN_PATH:
        recorded = parse_recordings({"The standard input": sys.stdin.buffer.read()})
    elif path.is_dir() or path.suffix in RECORDING_SUFFIXES:
        recorded = parse_recordings(read_recording_files(path))
    else:
        store = (
            source_ref
            if source_ref.startswith(_STORE_PREFIXES) or not path.is_file()
            else f"{SQLITE_PREFIX}{path}"
        )
        return MatchSource(partial(open_game_log, game, store))
    return MatchSource(lambda: nullcontext(recorded), timedelta(seconds=5))


def _resolve_path(match_ref: str) -> Path:
    """Return the file or folder that a reference means.

    The name of a sample means its file; a contest's folder means the match log in it.
    """
    sample = _SAMPLES_FOLDER / f"{Path(match_ref).name}.json.gz"
    path = sample if sample.is_file() else Path(match_ref).expanduser()
    if not path.is_dir() and path.suffix != ".db":
        return path
    from cardsharp.contest.contest_file import CONTEST_FILE_NAME  # noqa: PLC0415 - slow to import

    folder = path.parent if path.name == CONTEST_FILE_NAME else path
    if (folder / CONTEST_FILE_NAME).is_file():
        log = folder / "matches.db"
        return log if log.is_file() else folder / "arena.db"
    return path


def find_match_source(
    match_ref: str, store: str | None, game: Game | None = None
) -> tuple[MatchSource, str]:
    """Return the source and the id of the match that `match_ref` names.

    `match_ref` is an id, a part of one, or `last`, in the source that `store` names. It can
    also be a source itself, whose last match is meant, or the address of a match. Raises
    `ConfigError` if there is no such match.
    """
    path = _resolve_path(match_ref)
    is_source = (
        match_ref == STDIN_PATH
        or match_ref.startswith(_STORE_PREFIXES)
        or path.suffix in RECORDING_SUFFIXES
    )
    if match_ref.startswith(_URL_PREFIXES):
        source, match_ref = find_source(match_ref, game), _parse_match_id(match_ref)
    elif match_ref != LAST_MATCH and (is_source or path.is_dir() or path.is_file()):
        source, match_ref = find_source(match_ref, game), LAST_MATCH
    elif store is None and game is not None and game.open_archive is not None:
        return _find_in_archive_or_log(match_ref, game)
    else:
        source = find_source(store, game)
    with source.open_reader() as log:
        return source, resolve_match_id(log, match_ref, game)


def _find_in_archive_or_log(match_ref: str, game: Game) -> tuple[MatchSource, str]:
    """Find a match in a game's archive or in our own log; raise `ConfigError` if there is none.

    A game's service or bot stores its matches in an archive of its own. Matches that were
    played on this machine or in the lab are in our match log. `last` is the later one of
    both.
    """
    candidates: list[tuple[datetime, MatchSource, str]] = []
    faults: list[ConfigError] = []
    for source in (find_source(None, game), find_source(None)):
        try:
            with source.open_reader() as log:
                match_id = resolve_match_id(log, match_ref, game)
                record = log.match(match_id)
        except ConfigError as error:
            faults.append(error)
        else:
            if record is not None:
                candidates.append((record.started_at, source, match_id))
    if not candidates:
        raise faults[0 if match_ref == LAST_MATCH else -1]
    _, source, match_id = (
        max(candidates, key=itemgetter(0)) if match_ref == LAST_MATCH else candidates[0]
    )
    return source, match_id


class OpenedMatch(NamedTuple):
    """Match with its moves, and the numbers of moves that the arena lost and the log dropped."""

    record: MatchRecord
    moves: list[MoveRecord]
    lost_moves: list[object]


def load_match_with_moves(match_ref: str, store: str | None, game: Game | None) -> OpenedMatch:
    """Return the match that `match_ref` names (see `find_match_source`), with its moves.

    A move that cannot be read is reported on stderr and left out. Raises `ConfigError` for no
    match, several, or one of another game; else `StoreError` or `Unreachable`.
    """
    source, match_id = find_match_source(match_ref, store, game)
    with source.open_reader() as log:
        record = log.match(match_id)
        if record is None:
            raise ConfigError(f"There is no match {match_id}.")
        if fault := read_error_of(record):
            raise StoreError(fault)
        moves, notes = log.moves(match_id), log.notes(match_id)
    if game is not None and game_of_match(record) != game:
        raise ConfigError(f"{match_id} is not a match of {game.title}; see `cardsharp show`.")
    withdrawn = [note.body.get("sequence") for note in notes if note.kind == WITHDRAWN]
    return OpenedMatch(record, _readable_moves(moves, record), withdrawn)


def _readable_moves(moves: list[MoveRecord], record: MatchRecord) -> list[MoveRecord]:
    """Return the moves that can be displayed; print an error for each of the others."""
    replay = game_of_match(record).replay
    if replay is not None and all(move.read_error is None for move in moves):
        # All at once takes about half the time. If one cannot be read, a replay of each
        # tells which.
        with suppress(StoreError):
            list(replay.load()(record, moves))
            return moves
    return [move for move in moves if _is_readable(move, record)]


def _is_readable(move: MoveRecord, record: MatchRecord) -> bool:
    """Return True if a move can be displayed; otherwise print an error."""
    fault, replay = move.read_error, game_of_match(record).replay
    try:
        if fault is None and replay is not None:
            list(replay.load()(record, [move]))
    except StoreError as error:
        fault = str(error)
    if fault is not None:
        print_error(f"Move {move.sequence} of match {record.match_id} cannot be read: {fault}")
    return fault is None


def _parse_match_id(url: str) -> str:
    """Return the id of the match at this address, or `last` if the address has no match."""
    parts = urlsplit(url)
    of_match = "/matches/" in parts.path or "/match/" in parts.fragment
    last_segment = (parts.fragment or parts.path).rstrip("/").rpartition("/")[2]
    return (
        last_segment
        if of_match and last_segment.isalnum() and last_segment != "statistics"
        else LAST_MATCH
    )
