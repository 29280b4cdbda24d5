"""Sources of matches, opened by a name: a log, a contest's folder, an arena, files, stdin."""

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from http import HTTPStatus
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit

import requests

from cardsharp.analysis.replay import read_error_of
from cardsharp.contest.contest_file import CONTEST_FILE_NAME
from cardsharp.errors import ConfigError, InvalidInput, StoreError, Unreachable
from cardsharp.play.game import Game
from cardsharp.store.codec import WITHDRAWN
from cardsharp.store.match_log import Body, MatchReader, MatchRecord, MatchStatus, MoveRecord
from cardsharp.store.match_snapshots import MatchSnapshot, SnapshotMatchReader
from cardsharp_tools.cli.console import print_error
from cardsharp_tools.cli.options import STDIN_PATH
from cardsharp_tools.http_session import http_session, proxy_failure, resolve_proxy
from cardsharp_tools.match_sources.match_logs import (
    LAST_MATCH,
    game_of_match,
    open_game_log,
    resolve_match_id,
)
from cardsharp_tools.match_sources.recordings import (
    RECORDING_SUFFIXES,
    parse_match,
    parse_recordings,
    read_recording_files,
)

_REQUEST_TIMEOUTS = (3, 10)
_LOCAL_HOSTS = {"127.0.0.1", "localhost", "::1"}


class ArenaMatchReader(SnapshotMatchReader):
    """Reader of an arena's matches as a spectator or, with a password, as a player.

    The query of the address may select matches by `tag` or `tags`.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._base_url = f"{parts.scheme}://{parts.netloc}"
        user, password = os.environ.get("CARDSHARP_USER"), os.environ.get("CARDSHARP_PASSWORD")
        safe = parts.scheme == "https" or parts.hostname in _LOCAL_HOSTS
        self._credentials = (user, password) if user and password and safe else None
        self._proxy = resolve_proxy()
        query = parse_qs(parts.query)
        self._tags = ",".join(query.get("tags", []) + query.get("tag", []))
        self._cached_match: tuple[str, MatchSnapshot | None] = ("", None)
        super().__init__(self._fetch_match, {})

    def matches(
        self, day: date | None = None, status: MatchStatus | None = None, limit: int = 100
    ) -> list[MatchRecord]:
        """Return matches, the latest first."""
        # The arena answers limit=N with up to 10 N + 1 matches.
        query = {"condensed": "1", "limit": str(max(1, limit // 10))}
        if day is not None:
            query["at"] = day.isoformat()
        if self._tags:
            query["tags"] = self._tags
        listed = map(
            _parse_listed_match, self._send_request(f"/api/matches?{urlencode(query)}").json()
        )
        return [record for record in listed if status in {None, record.status}][:limit]

    def _fetch_match(self, match_id: str) -> MatchSnapshot | None:
        """Return a match, from a cache of one match.

        A caller that requests the match requests its moves next.
        """
        if self._cached_match[0] != match_id:
            response = self._send_request(
                f"/api/matches/{match_id}?showevents=true", allow_missing=True
            )
            try:
                self._cached_match = (
                    match_id,
                    parse_match(response.content) if response.ok else None,
                )
            except InvalidInput as error:
                raise ConfigError(f"{self._base_url}: {error}") from None
        return self._cached_match[1]

    def _send_request(self, path: str, *, allow_missing: bool = False) -> requests.Response:
        try:
            with http_session(
                self._base_url, self._proxy, secret=self._credentials is not None
            ) as session:
                response = session.get(
                    f"{self._base_url}{path}", auth=self._credentials, timeout=_REQUEST_TIMEOUTS
                )
        except requests.RequestException as error:
            if (at_proxy := proxy_failure(self._base_url, self._proxy, error)) is not None:
                raise at_proxy from None
            raise Unreachable(
                f"{self._base_url} does not answer; is the arena running, and is the address right?"
            ) from None
        if response.status_code == HTTPStatus.UNAUTHORIZED:
            raise ConfigError(
                f"{self._base_url} shows its matches to players only; set CARDSHARP_USER and "
                "CARDSHARP_PASSWORD (over https only), or start the arena with --public."
            )
        lacks = allow_missing and response.status_code in {
            HTTPStatus.NOT_FOUND,
            HTTPStatus.BAD_REQUEST,
        }
        if not response.ok and not lacks:
            raise Unreachable(f"{self._base_url} answered {response.status_code}.")
        return response


def _parse_listed_match(document: Mapping[str, Any]) -> MatchRecord:
    over, players = bool(document["finished"]), document["playerdata"]
    winner = next((seat for seat, player in enumerate(players) if player["winner"]), None)
    outcome: Body | None = None
    if over:
        turns = int(document["sequence"].partition(".")[0])
        scores = [player["bankvalue"] for player in players]
        outcome = {"scores": scores, "winner": winner, "result": "both seats", "turns": turns}
    return MatchRecord(
        str(document["id"]),
        MatchStatus.FINISHED if over else MatchStatus.RUNNING,
        datetime.fromisoformat(document["startedat"]).astimezone(UTC),
        dict.fromkeys(("players", "names"), document["playernames"])
        | {"tags": document.get("tags", ())},
        outcome=outcome,
    )


_STORE_PREFIXES = ("sqlite:", "dynamodb:")
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
        self, day: date | None, status: MatchStatus | None, limit: int
    ) -> list[MatchRecord]:
        """Return the newest matches."""
        with self.open_reader() as log:
            return log.matches(day, status, limit)

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

    None is our own log, or the game's archive. Raises `ConfigError` if there is no such source.
    """
    if source_ref is None:
        return MatchSource(partial(open_game_log, game, None))
    if source_ref.startswith(_URL_PREFIXES):
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
            else f"sqlite:{path}"
        )
        return MatchSource(partial(open_game_log, game, store))
    return MatchSource(lambda: nullcontext(recorded), timedelta(seconds=5))


def _resolve_path(match_ref: str) -> Path:
    """Return the file or folder that a reference means.

    The name of a sample means its file; a contest's folder means the match log in it.
    """
    sample = _SAMPLES_FOLDER / f"{Path(match_ref).name}.json.gz"
    path = sample if sample.is_file() else Path(match_ref).expanduser()
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
    return OpenedMatch(record, [move for move in moves if _is_readable(move, record)], withdrawn)


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
