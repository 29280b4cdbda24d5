"""Where matches to look at come from: a match log, a recorded file, an arena."""

import gzip
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import requests

from cardsharp.cloud.ports import MatchRecord, MoveRecord, Status
from cardsharp.errors import ConfigError, Malformed, Unreachable
from cardsharp.game import Game
from cardsharp.games import games
from cardsharp.viewer import site
from workbench.show.lookup import LAST, find_match, open_of

_RECORDED = (".json", ".jsonl", ".gz")
_TIMEOUT = (3, 10)
_SAMPLES = Path(__file__).parent / "samples"
"""Matches that come with the program: the final of 2023, as its arena tells it."""

_LOCAL = {"127.0.0.1", "localhost", "::1"}


class NamedSource(site.Source, Protocol):
    """Where matches come from, and which of them a word means."""

    def find(self, word: str) -> str:
        """The id of the match that a word means; raises `ConfigError` for none."""
        ...


@dataclass(frozen=True, slots=True)
class LogSource:
    """The match log of that name, or a game's own archive; opened for each question anew."""

    store: str | None
    game: Game | None = None
    pause: timedelta = timedelta(milliseconds=250)

    def find(self, word: str) -> str:
        """The id of the match that a word means."""
        with open_of(self.game, self.store) as log:
            return find_match(log, word, self.game).match_id

    def matches(self, day: date | None, status: Status | None, limit: int) -> list[MatchRecord]:
        """The newest matches."""
        with open_of(self.game, self.store) as log:
            return log.matches(day, status, limit)

    def match(self, match_id: str) -> MatchRecord | None:
        """A match as the log has it."""
        with open_of(self.game, self.store) as log:
            return log.match(match_id)

    def moves(self, match_id: str) -> list[MoveRecord]:
        """The moves that can be read."""
        with open_of(self.game, self.store) as log:
            return [move for move in log.moves(match_id) if move.fault is None]


class FileSource:
    """The matches of a file: one as an arena answers it, or one a line.

    Lines that tell no match are left out, such as creations that were refused.

    Raises:
        ConfigError: there is no such file, or no match in it.
    """

    pause = timedelta(seconds=5)

    def __init__(self, file: Path) -> None:
        self._found: dict[str, tuple[MatchRecord, list[MoveRecord]]] = {}
        fault = ConfigError(f"{file} has no match.")
        try:
            for text in _texts(file):
                try:
                    record, moves = _parsed_match(text, file)
                except ConfigError as error:
                    fault = error
                else:
                    self._found[record.match_id] = record, moves
        except OSError as error:
            raise ConfigError(f"{file} cannot be read: {error.strerror or error}.") from None
        if not self._found:
            raise fault

    def find(self, word: str) -> str:
        """Its last match, or the one of that id."""
        if word in self._found:
            return word
        return list(self._found)[-1]

    def matches(self, day: date | None, status: Status | None, limit: int) -> list[MatchRecord]:
        """Its matches."""
        found = [record for record, _ in self._found.values()]
        return [
            one
            for one in found
            if status in {None, one.status} and day in {None, one.started.date()}
        ][:limit]

    def match(self, match_id: str) -> MatchRecord | None:
        """A match of that id."""
        return self._found[match_id][0] if match_id in self._found else None

    def moves(self, match_id: str) -> list[MoveRecord]:
        """The moves of a match."""
        return self._found[match_id][1] if match_id in self._found else []


class ArenaSource:
    """The matches of an arena, as a spectator sees them or, with a password set, a player."""

    pause = timedelta(milliseconds=800)

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._base = f"{parts.scheme}://{parts.netloc}"
        user, password = os.environ.get("CARDSHARP_USER"), os.environ.get("CARDSHARP_PASSWORD")
        safe = parts.scheme == "https" or parts.hostname in _LOCAL
        self._login = (user, password) if user and password and safe else None

    def find(self, word: str) -> str:
        """The match of that id; for `last` the newest."""
        if word != LAST:
            return word
        newest = self._ask("/api/matches?condensed=1&limit=1")
        found = newest.json()
        if not found:
            raise ConfigError(f"{self._base} has no match yet.")
        return str(found[0]["id"])

    def matches(self, day: date | None, status: Status | None, limit: int) -> list[MatchRecord]:
        """The newest matches."""
        # The arena answers limit=N with up to 10 N + 1 matches.
        at = f"&at={day.isoformat()}" if day else ""
        found = self._ask(f"/api/matches?condensed=1&limit={max(1, limit // 10)}{at}").json()
        listed = map(_listed, found[:limit])
        return [one for one in listed if status in {None, one.status}]

    def match(self, match_id: str) -> MatchRecord | None:
        """A match as the arena tells it."""
        told = self._fetched(match_id)
        return None if told is None else told[0]

    def moves(self, match_id: str) -> list[MoveRecord]:
        """The moves of a match."""
        told = self._fetched(match_id)
        return [] if told is None else told[1]

    def _fetched(self, match_id: str) -> tuple[MatchRecord, list[MoveRecord]] | None:
        answer = self._ask(f"/api/matches/{match_id}?showevents=true")
        if answer.status_code == HTTPStatus.NOT_FOUND:
            return None
        return _parsed_match(answer.content, self._base)

    def _ask(self, path: str) -> requests.Response:
        try:
            answer = requests.get(f"{self._base}{path}", auth=self._login, timeout=_TIMEOUT)
        except requests.RequestException:
            raise Unreachable(
                f"{self._base} does not answer; is the arena running, and is the address right?"
            ) from None
        if answer.status_code == HTTPStatus.UNAUTHORIZED:
            raise ConfigError(
                f"{self._base} shows its matches to players only; set CARDSHARP_USER and "
                "CARDSHARP_PASSWORD (to another machine over https), or let it run with --public."
            )
        if not answer.ok and answer.status_code != HTTPStatus.NOT_FOUND:
            raise Unreachable(f"{self._base} answered {answer.status_code}.")
        return answer


def _listed(told: Mapping[str, Any]) -> MatchRecord:
    """A match of the arena's condensed list."""
    over, players = bool(told["finished"]), told["playerdata"]
    winner = next((seat for seat, one in enumerate(players) if one["winner"]), None)
    return MatchRecord(
        str(told["id"]),
        Status.FINISHED if over else Status.RUNNING,
        datetime.fromisoformat(told["startedat"]),
        {"names": told["playernames"], "tags": told.get("tags", ())},
        outcome={"scores": [one["bankvalue"] for one in players], "winner": winner}
        if over
        else None,
    )


def source_of(word: str, store: str | None, game: Game | None = None) -> tuple[NamedSource, str]:
    """Where the match that a word means is, and its id.

    The word is an id or a part of one, `last`, a file, an address of an arena or its match, or
    `final-2023`.

    Raises:
        ConfigError: there is no such match, or it cannot be got at.
    """
    source: NamedSource
    if word.startswith(("http://", "https://")):
        source, wanted = ArenaSource(word), _named(word)
    elif (sample := _SAMPLES / f"{Path(word).name}.json.gz").is_file():
        source, wanted = FileSource(sample), LAST
    elif Path(word).suffix in _RECORDED:
        source, wanted = FileSource(Path(word)), LAST
    else:
        source, wanted = LogSource(store, game), word
    return source, source.find(wanted)


def _named(url: str) -> str:
    """The match whose address it is, else the last."""
    parts = urlsplit(url)
    of_match = "/matches/" in parts.path or "/match/" in parts.fragment
    last = (parts.fragment or parts.path).rstrip("/").rpartition("/")[2]
    return last if of_match and last.isalnum() else LAST


def _texts(file: Path) -> Iterator[bytes]:
    """A file's matches: one, or one a line."""
    text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    lines = file.name.removesuffix(".gz").endswith(".jsonl")
    yield from filter(None, text.splitlines()) if lines else [text]


def _parsed_match(text: bytes, source: object) -> tuple[MatchRecord, list[MoveRecord]]:
    """A match of the game whose arena or service tells matches so."""
    reasons = []
    for game in games():
        if game.recorded is not None:
            try:
                return game.recorded.load()(text)
            except Malformed as error:
                reasons.append(str(error))
    raise ConfigError(f"{source}: {' '.join(reasons)}")
