"""Whatever holds matches, opened by a word: a log, a contest's folder, an arena, files, stdin."""

import gzip
import os
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
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

from cardsharp.cloud.codec import WITHDRAWN
from cardsharp.cloud.ports import Body, MatchReader, MatchRecord, MoveRecord, Status
from cardsharp.cloud.told import ToldMatches, Whole
from cardsharp.contest.sqlite import FILE
from cardsharp.errors import ConfigError, Malformed, StoreError, Unreachable
from cardsharp.game import Game
from cardsharp.games import games
from cardsharp.replay import fault_of
from cardsharp.text_files import decode_text, json_fault
from workbench.show.http_session import failure_at_proxy, http_session, proxy_of
from workbench.show.lookup import LAST, find_match, game_of, open_of
from workbench.show.options import PASTED
from workbench.show.output import print_error
from workbench.show.progress import each

RECORDED = (".json", ".jsonl", ".gz")  # what the names of files with matches end with


def texts_of(place: Path) -> dict[str, bytes]:
    """What a file has, or each recorded file of a folder; raises `ConfigError`."""
    files = [place]
    if place.is_dir():
        files = sorted(one for one in place.iterdir() if one.suffix in RECORDED)
    try:
        texts = {one: one.read_bytes() for one in files}
        zipped = {one for one in texts if one.suffix == ".gz"}
        return {str(one): gzip.decompress(t) if one in zipped else t for one, t in texts.items()}
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or "it is no whole .gz file"
        raise ConfigError(f"{place} cannot be read: {why}.") from None


def recorded_in(texts: Mapping[str, bytes]) -> ToldMatches:
    """The matches that texts tell, one each or one a line, others left out; or `ConfigError`."""
    fault = "There is no recorded match (.json, .jsonl, .gz) in the folder."
    found = dict[str, Whole]()
    documents = list[_Document]()
    for name, data in texts.items():
        try:
            documents += _documents(name, decode_text(data, name).lines)
        except ConfigError as error:
            fault = str(error)
    for document in each(documents, "reading"):
        try:
            record, moves = match_told(document.text.encode())
        except (Malformed, RecursionError) as error:
            fault = document.fault(error)
        else:
            found[record.match_id] = record, moves
    if not found:
        raise ConfigError(fault)
    listed = {name: (one.started, one.status) for name, (one, _) in found.items()}
    return ToldMatches(found.get, listed)


class _Document(NamedTuple):
    """What may be a match: a whole file, or a line of one."""

    file: str
    text: str
    line: int | None = None

    def fault(self, error: Malformed | RecursionError) -> str:
        """Say what is wrong with it, and where."""
        unread = json_fault(self.text, self.line or 1)
        if unread is not None:
            return f"{self.file}{unread}; correct it, or give another file."
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{place}: {error}"


def _documents(file: str, lines: Sequence[str]) -> list[_Document]:
    """The file where it is one JSON document, or the lines of any other."""
    text = "\n".join(lines)
    filled = [_Document(file, line, number) for number, line in enumerate(lines, 1) if line.strip()]
    is_lines = len(filled) > 1 and filled[0].text.startswith("{") and json_fault(text) is not None
    return filled if is_lines else [_Document(file, text)]


def match_told(text: bytes) -> Whole:
    """A match of the game whose arena or service tells matches so; raises `Malformed`."""
    reasons = []
    for game in games():
        if game.recorded is not None:
            try:
                return game.recorded.load()(text)
            except Malformed as error:
                reasons.append(str(error))
    raise Malformed(" ".join(reasons))


_TIMEOUT = (3, 10)
_LOCAL = {"127.0.0.1", "localhost", "::1"}


class ArenaMatches(ToldMatches):
    """An arena's matches for a spectator or, with a password set, a player; by `tag` or `tags`."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._base = f"{parts.scheme}://{parts.netloc}"
        user, password = os.environ.get("CARDSHARP_USER"), os.environ.get("CARDSHARP_PASSWORD")
        safe = parts.scheme == "https" or parts.hostname in _LOCAL
        self._login = (user, password) if user and password and safe else None
        self._proxy = proxy_of()
        asked = parse_qs(parts.query)
        self._tags = ",".join(asked.get("tags", []) + asked.get("tag", []))
        self._last: tuple[str, Whole | None] = ("", None)
        super().__init__(self._fetched, {})

    def matches(
        self, day: date | None = None, status: Status | None = None, limit: int = 100
    ) -> list[MatchRecord]:
        """Matches, the last started first."""
        # The arena answers limit=N with up to 10 N + 1 matches.
        query = {"condensed": "1", "limit": str(max(1, limit // 10))}
        if day is not None:
            query["at"] = day.isoformat()
        if self._tags:
            query["tags"] = self._tags
        listed = map(_listed, self._ask(f"/api/matches?{urlencode(query)}").json())
        return [one for one in listed if status in {None, one.status}][:limit]

    def _fetched(self, match_id: str) -> Whole | None:
        """A match, asked for once: whoever asks for it looks at its moves next."""
        if self._last[0] != match_id:
            answer = self._ask(f"/api/matches/{match_id}?showevents=true", may_lack=True)
            try:
                self._last = match_id, match_told(answer.content) if answer.ok else None
            except Malformed as error:
                raise ConfigError(f"{self._base}: {error}") from None
        return self._last[1]

    def _ask(self, path: str, *, may_lack: bool = False) -> requests.Response:
        try:
            with http_session(self._base, self._proxy, secret=self._login is not None) as session:
                answer = session.get(f"{self._base}{path}", auth=self._login, timeout=_TIMEOUT)
        except requests.RequestException as error:
            if (at_proxy := failure_at_proxy(self._base, self._proxy, error)) is not None:
                raise at_proxy from None
            raise Unreachable(
                f"{self._base} does not answer; is the arena running, and is the address right?"
            ) from None
        if answer.status_code == HTTPStatus.UNAUTHORIZED:
            raise ConfigError(
                f"{self._base} shows its matches to players only; set CARDSHARP_USER and "
                "CARDSHARP_PASSWORD (to another machine over https), or let it run with --public."
            )
        lacks = may_lack and answer.status_code in {HTTPStatus.NOT_FOUND, HTTPStatus.BAD_REQUEST}
        if not answer.ok and not lacks:
            raise Unreachable(f"{self._base} answered {answer.status_code}.")
        return answer


def _listed(told: Mapping[str, Any]) -> MatchRecord:
    over, players = bool(told["finished"]), told["playerdata"]
    winner = next((seat for seat, one in enumerate(players) if one["winner"]), None)
    outcome: Body | None = None
    if over:
        turns = int(told["sequence"].partition(".")[0])
        scores = [one["bankvalue"] for one in players]
        outcome = {"scores": scores, "winner": winner, "result": "both seats", "turns": turns}
    return MatchRecord(
        str(told["id"]),
        Status.FINISHED if over else Status.RUNNING,
        datetime.fromisoformat(told["startedat"]).astimezone(UTC),
        dict.fromkeys(("players", "names"), told["playernames"]) | {"tags": told.get("tags", ())},
        outcome=outcome,
    )


_STORES = ("sqlite:", "dynamodb:")
_URLS = ("http://", "https://")
_SAMPLES = Path(__file__).parent / "samples"  # that come with the program


@dataclass(frozen=True, slots=True)
class MatchSource:
    """Where matches come from. It is opened for each question anew, so several threads may ask."""

    reading: Callable[[], AbstractContextManager[MatchReader]]
    pause: timedelta = timedelta(milliseconds=250)  # between two looks for something new

    def matches(self, day: date | None, status: Status | None, limit: int) -> list[MatchRecord]:
        """The newest matches."""
        with self.reading() as log:
            return log.matches(day, status, limit)

    def match(self, match_id: str) -> MatchRecord | None:
        """A match without its moves."""
        with self.reading() as log:
            return log.match(match_id)

    def moves(self, match_id: str) -> list[MoveRecord]:
        """The moves that can be read."""
        with self.reading() as log:
            return [move for move in log.moves(match_id) if move.fault is None]


def source_of(word: str | None, game: Game | None = None) -> MatchSource:
    """The source that a word names, None our own log or a game's archive; raises `ConfigError`."""
    if word is None:
        return MatchSource(partial(open_of, game, None))
    if word.startswith(_URLS):
        arena = partial(ArenaMatches, word)
        return MatchSource(lambda: nullcontext(arena()), timedelta(milliseconds=800))
    place = _placed(word)
    if word == PASTED:
        recorded = recorded_in({"The standard input": sys.stdin.buffer.read()})
    elif place.is_dir() or place.suffix in RECORDED:
        recorded = recorded_in(texts_of(place))
    else:
        store = word if word.startswith(_STORES) or not place.is_file() else f"sqlite:{place}"
        return MatchSource(partial(open_of, game, store))
    return MatchSource(lambda: nullcontext(recorded), timedelta(seconds=5))


def _placed(word: str) -> Path:
    """The file or folder that a word may name: a contest's folder is the log in it."""
    sample = _SAMPLES / f"{Path(word).name}.json.gz"
    place = sample if sample.is_file() else Path(word).expanduser()
    folder = place.parent if place.name == FILE else place
    if (folder / FILE).is_file():
        log = folder / "matches.db"
        return log if log.is_file() else folder / "arena.db"
    return place


def match_of(word: str, store: str | None, game: Game | None = None) -> tuple[MatchSource, str]:
    """Where the match that a word means is, and its id; or a `ConfigError`.

    The word is an id or a part of one or `last`, in the source that `store` names; or it names
    a source itself, whose last match is meant, or the address of a match.
    """
    place = _placed(word)
    known = word == PASTED or word.startswith(_STORES) or place.suffix in RECORDED
    if word.startswith(_URLS):
        source, word = source_of(word, game), _addressed(word)
    elif word != LAST and (known or place.is_dir() or place.is_file()):
        source, word = source_of(word, game), LAST
    elif store is None and game is not None and game.archive is not None:
        return _kept_anywhere(word, game)
    else:
        source = source_of(store, game)
    with source.reading() as log:
        return source, find_match(log, word, game)


def _kept_anywhere(word: str, game: Game) -> tuple[MatchSource, str]:
    """The match that a word means in a game's archive or in our own log; or a `ConfigError`.

    A game's service or bot keeps its matches in an archive of its own; what is played at a table or
    in the lab is in our match log. `last` is the later of the two.
    """
    found: list[tuple[datetime, MatchSource, str]] = []
    faults: list[ConfigError] = []
    for source in (source_of(None, game), source_of(None)):
        try:
            with source.reading() as log:
                match_id = find_match(log, word, game)
                record = log.match(match_id)
        except ConfigError as error:
            faults.append(error)
        else:
            if record is not None:
                found.append((record.started, source, match_id))
    if not found:
        raise faults[0 if word == LAST else -1]
    _, source, match_id = max(found, key=itemgetter(0)) if word == LAST else found[0]
    return source, match_id


class Found(NamedTuple):
    """A match with its moves, and the numbers of those that the arena lost and the log let go."""

    record: MatchRecord
    moves: list[MoveRecord]
    withdrawn: list[object]


def opened(word: str, store: str | None, game: Game | None) -> Found:
    """The match that a word means, see `match_of`; one of that game where one is named.

    A move that cannot be read is named on stderr and left out. Raises `ConfigError` for no match,
    several, or another game's; else `StoreError` or `Unreachable`.
    """
    source, match_id = match_of(word, store, game)
    with source.reading() as log:
        record = log.match(match_id)
        if record is None:
            raise ConfigError(f"There is no match {match_id}.")
        if fault := fault_of(record):
            raise StoreError(fault)
        moves, notes = log.moves(match_id), log.notes(match_id)
    if game is not None and game_of(record) != game:
        raise ConfigError(f"{match_id} is no match of {game.title}; see `cardsharp show`.")
    withdrawn = [note.body.get("sequence") for note in notes if note.kind == WITHDRAWN]
    return Found(record, [move for move in moves if _is_readable(move, record)], withdrawn)


def _is_readable(move: MoveRecord, record: MatchRecord) -> bool:
    """Whether a move can be shown; says why one cannot."""
    fault, replay = move.fault, game_of(record).replay
    try:
        if fault is None and replay is not None:
            list(replay.load()(record, [move]))
    except StoreError as error:
        fault = str(error)
    if fault is not None:
        print_error(f"Move {move.sequence} of match {record.match_id} cannot be read: {fault}")
    return fault is None


def _addressed(url: str) -> str:
    """The match whose address it is, else the last."""
    parts = urlsplit(url)
    of_match = "/matches/" in parts.path or "/match/" in parts.fragment
    last = (parts.fragment or parts.path).rstrip("/").rpartition("/")[2]
    return last if of_match and last.isalnum() and last != "statistics" else LAST
