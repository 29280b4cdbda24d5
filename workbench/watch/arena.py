"""The matches of an arena, over its API."""

import os
from collections.abc import Mapping
from datetime import date, datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import requests

from cardsharp.cloud.ports import MatchRecord, Status
from cardsharp.cloud.told import ToldMatches, Whole
from cardsharp.errors import ConfigError, Malformed, Unreachable
from workbench.watch.recorded import match_told

_TIMEOUT = (3, 10)
_LOCAL = {"127.0.0.1", "localhost", "::1"}


class ArenaMatches(ToldMatches):
    """The matches of an arena, as a spectator sees them or, with a password set, a player.

    Of an address with `tag` or `tags` only matches with one of those.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._base = f"{parts.scheme}://{parts.netloc}"
        user, password = os.environ.get("CARDSHARP_USER"), os.environ.get("CARDSHARP_PASSWORD")
        safe = parts.scheme == "https" or parts.hostname in _LOCAL
        self._login = (user, password) if user and password and safe else None
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
        lacks = may_lack and answer.status_code in {HTTPStatus.NOT_FOUND, HTTPStatus.BAD_REQUEST}
        if not answer.ok and not lacks:
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
        dict.fromkeys(("players", "names"), told["playernames"]) | {"tags": told.get("tags", ())},
        outcome={
            "scores": [one["bankvalue"] for one in players],
            "winner": winner,
            "result": "both seats",
            "turns": int(told["sequence"].partition(".")[0]),
        }
        if over
        else None,
    )
