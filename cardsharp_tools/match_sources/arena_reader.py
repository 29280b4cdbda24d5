"""Matches of an arena, read over HTTP as a spectator or a player."""

import os
from collections.abc import Mapping
from datetime import UTC, date, datetime
from http import HTTPStatus
from itertools import dropwhile, islice
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import requests

from cardsharp.errors import ConfigError, InvalidInput, Unreachable
from cardsharp.store.match_log import Body, MatchRecord, MatchStatus
from cardsharp.store.match_snapshots import MatchSnapshot, SnapshotMatchReader
from cardsharp_tools.http_session import http_session, proxy_failure
from cardsharp_tools.match_sources.recordings import parse_match
from cardsharp_tools.proxy_option import resolve_proxy

_REQUEST_TIMEOUTS = (3, 10)
_LIST_GROWTH = 10  # times as many matches are requested until a page is full
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
        self._kept_list: tuple[date | None, int, list[MatchRecord]] = (None, 0, [])
        super().__init__(self._fetch_match, {})

    def matches(
        self,
        day: date | None = None,
        status: MatchStatus | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> list[MatchRecord]:
        """Return matches, the latest first."""
        count = limit
        while True:
            listed = self._list_newest(day, count)
            if cursor is None:
                page = iter(listed)
            else:
                page = islice(dropwhile(lambda match: match.match_id != cursor, listed), 1, None)
            records = [record for record in page if status in {None, record.status}][:limit]
            if cursor is None or len(records) == limit or len(listed) < count:
                return records
            count *= _LIST_GROWTH  # an arena lists only its newest matches, not those after one

    def _list_newest(self, day: date | None, count: int) -> list[MatchRecord]:
        """Return the newest `count` matches, or more; a list that is long enough is kept."""
        kept_day, kept_count, listed = self._kept_list
        if kept_day == day and kept_count >= count:
            return listed
        # The arena answers limit=N with up to 10 N + 1 matches.
        query = {"condensed": "1", "limit": str(-(-count // 10))}
        if day is not None:
            query["at"] = day.isoformat()
        if self._tags:
            query["tags"] = self._tags
        response = self._send_request(f"/api/matches?{urlencode(query)}")
        listed = [*map(_parse_listed_match, response.json())]
        self._kept_list = (day, count, listed)
        return listed

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
