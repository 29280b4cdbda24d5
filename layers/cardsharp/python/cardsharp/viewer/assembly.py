"""The pages of the cloud's match log, as their environment describes them.

| variable            | means                                                                |
|---------------------|----------------------------------------------------------------------|
| CARDSHARP_STORE     | dynamodb:TABLE                                                       |
| CARDSHARP_PUBLIC    | yes: everybody sees what a spectator may know, and nobody our thoughts |
| CARDSHARP_SERVICE_SECRET | else the parameter with the password of those who see all            |
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.middleware import Middleware

from cardsharp.cloud.ports import MatchRecord, MoveRecord, Status
from cardsharp.cloud.secrets import fetched
from cardsharp.errors import ConfigError
from cardsharp.viewer.assets import ASSETS, asset
from cardsharp.viewer.base import Site
from cardsharp.viewer.door import Door
from cardsharp.viewer.site import MOST, PAGE, Manner, Pages, application

if TYPE_CHECKING:
    from cardsharp.cloud.dynamodb_reader import DynamoReader

STORE = "CARDSHARP_STORE"
PUBLIC = "CARDSHARP_PUBLIC"
PARAMETER = "CARDSHARP_SERVICE_SECRET"

SHOWN = (
    *("pk", "sk", "match_status", "started_at", "finished_at"),
    *("header_json", "outcome_json", "facts_json"),
)
"""The attributes of the match log that public pages are made of; the role may read no other."""

THOUGHTS = "intent_json"  # what private pages show besides

PAUSE = timedelta(milliseconds=500)
"""How long a page waits after an answer that brought nothing: half of that on average, and the way
there and back, are within a second."""

LONGEST = 200  # characters of a match's id, more than any has

_DAY = 86_400
_YEAR = 365 * _DAY


@dataclass(frozen=True, slots=True)
class TableSource:
    """A match log in DynamoDB; a match is new only with a move's facts, not with a lease."""

    reader: "DynamoReader"
    pause: timedelta = PAUSE

    def matches(self, day: date | None, status: Status | None, limit: int) -> list[MatchRecord]:
        """The newest matches."""
        return self.reader.matches(day, status, limit)

    def match(self, match_id: str) -> MatchRecord | None:
        """A match; its `beat` counts its moves."""
        if len(match_id) > LONGEST:
            return None  # of a longer key DynamoDB makes a fault of ours
        record = self.reader.match(match_id)
        if record is None or record.status is Status.FINISHED:
            return record
        return replace(record, beat=self.reader.last_move(match_id) + 1)

    def moves(self, match_id: str) -> list[MoveRecord]:
        """The moves that can be read."""
        return [move for move in self.reader.moves(match_id) if move.fault is None]


def viewer_of(environment: Mapping[str, str]) -> Starlette:
    """The pages, which never hold a question, for that is paid; raises `ConfigError`."""
    # boto3's errors are slow to import, and not there where a function only starts.
    from cardsharp.cloud.dynamodb_reader import DynamoReader  # noqa: PLC0415

    kind, _, table = environment.get(STORE, "").partition(":")
    if kind != "dynamodb" or not table:
        raise ConfigError(f"{STORE} must be dynamodb:TABLE; at home `cardsharp watch` shows them.")
    public = environment.get(PUBLIC) == "yes"
    parameter = environment.get(PARAMETER, "")
    if not public and not parameter:
        raise ConfigError(f"Private pages need a password: set {PARAMETER}, or {PUBLIC}=yes.")
    shown = SHOWN if public else (*SHOWN, THOUGHTS)
    manner = _manner(public=public)
    pages = Pages(TableSource(DynamoReader(table, shown=shown)), manner)
    if public:
        return application(pages)

    def word() -> SecretStr:
        return SecretStr(fetched(parameter).password)

    return application(pages, [Middleware(Door, site=manner.site, word=word)])


def _manner(*, public: bool) -> Manner:
    """Addresses of assets say their version: a browser has the new ones with the first new page."""
    version = hashlib.sha256("".join(map(asset, ASSETS)).encode()).hexdigest()[:12]
    return Manner(
        site=Site(
            "Cardsharp",
            assets=f"/page/{version}",
            judged=not public,
            pause=PAUSE // timedelta(milliseconds=1),
        ),
        public=public,
        hold=timedelta(),
        # Each is a unit read, which strangers could ask for without end; days lead further back.
        most=PAGE if public else MOST,
        over=f"{'public' if public else 'private'}, max-age={_DAY}, immutable",
        assets=f"public, max-age={_YEAR}, immutable",
    )
