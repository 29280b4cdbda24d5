"""Pages of the match log in the cloud, as an environment describes them.

| variable            | means                                                                |
|---------------------|----------------------------------------------------------------------|
| CARDSHARP_STORE     | dynamodb:TABLE                                                       |
| CARDSHARP_PUBLIC    | yes: everybody sees a spectator's view, without our decisions        |
| CARDSHARP_SERVICE_SECRET | without PUBLIC: parameter with the password that shows everything |
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.middleware import Middleware

from cardsharp.aws.ssm_credentials import fetch_credentials
from cardsharp.core.limits import MATCHES_PER_PAGE
from cardsharp.errors import ConfigError
from cardsharp.pages.assets import BASE_ASSET_SET
from cardsharp.pages.templates import SiteInfo
from cardsharp.server.access_gate import AccessGate
from cardsharp.server.match_site import (
    MAX_LISTED_MATCHES,
    MatchSite,
    PagesConfig,
    build_pages_application,
)
from cardsharp.server.web_application import WebSettings
from cardsharp.store.locations import dynamodb_table_name
from cardsharp.store.match_log import MatchRecord, MatchStatus, MoveRecord

if TYPE_CHECKING:
    from cardsharp.store.dynamodb_match_reader import DynamoMatchReader

STORE_SETTING = "CARDSHARP_STORE"
PUBLIC_SETTING = "CARDSHARP_PUBLIC"
PASSWORD_SETTING = "CARDSHARP_SERVICE_SECRET"  # noqa: S105 - a variable or parameter name, no secret

PROJECTED_ATTRIBUTES = (
    *("pk", "sk", "match_status", "started_at", "finished_at"),
    *("header", "outcome", "facts"),
    *("header_json", "outcome_json", "facts_json"),  # what version 0.3 called them
)
"""Attributes of the match log that public pages show; the role allows no other ones."""

INTENT_ATTRIBUTES = ("intent", "intent_json")  # additional attributes of private pages

MATCH_LOG_POLL_INTERVAL = timedelta(milliseconds=500)
"""Pause of a page after a response without news.

A change is then seen within a second: on average half of this pause, and one round trip.
"""

MAX_MATCH_ID_LENGTH = 200  # characters of a match's id, more than any has

_DAY = 86_400
_YEAR = 365 * _DAY


@dataclass(frozen=True, slots=True)
class DynamoMatchSource:
    """Match source in DynamoDB; a match changes with the facts of a move, not with its lease."""

    reader: "DynamoMatchReader"
    poll_interval: timedelta = MATCH_LOG_POLL_INTERVAL

    def matches(
        self, day: date | None, status: MatchStatus | None, limit: int, cursor: str | None = None
    ) -> list[MatchRecord]:
        """The newest matches, or those after the match `cursor`."""
        if cursor is not None and len(cursor) > MAX_MATCH_ID_LENGTH:
            return []
        return self.reader.matches(day, status, limit, cursor)

    def match(self, match_id: str) -> MatchRecord | None:
        """Return a match; its `lease_version` counts the moves while it runs."""
        if len(match_id) > MAX_MATCH_ID_LENGTH:
            return None  # DynamoDB would reject a longer key, which would look like our failure
        record = self.reader.match(match_id)
        if record is None or record.status is MatchStatus.FINISHED:
            return record
        return replace(record, lease_version=self.reader.last_sequence_with_facts(match_id) + 1)

    def moves(self, match_id: str) -> list[MoveRecord]:
        """Return the moves of a match, without those that cannot be read."""
        return [move for move in self.reader.moves(match_id) if move.read_error is None]


def build_pages(environment: Mapping[str, str]) -> Starlette:
    """Return the pages; they never long-poll, which costs money. Raises `ConfigError`."""
    # boto3's errors are slow to import, and not there where a function only starts.
    from cardsharp.store.dynamodb_match_reader import DynamoMatchReader  # noqa: PLC0415

    table = dynamodb_table_name(environment.get(STORE_SETTING, ""))
    if table is None:
        raise ConfigError(
            f"{STORE_SETTING} must be dynamodb:TABLE. For a match log on your own machine use "
            "`cardsharp watch`."
        )
    public = environment.get(PUBLIC_SETTING) == "yes"
    parameter = environment.get(PASSWORD_SETTING, "")
    if not public and not parameter:
        raise ConfigError(
            f"Private pages need a password. Set {PASSWORD_SETTING}, or {PUBLIC_SETTING}=yes to "
            "make them public."
        )
    projection = PROJECTED_ATTRIBUTES if public else (*PROJECTED_ATTRIBUTES, *INTENT_ATTRIBUTES)
    manner = _build_pages_config(public=public)
    pages = MatchSite(DynamoMatchSource(DynamoMatchReader(table, projection=projection)), manner)
    if public:
        return build_pages_application(pages)

    def load_password() -> SecretStr:
        return SecretStr(fetch_credentials(parameter).password)

    gate = Middleware(AccessGate, site_info=manner.site, password=load_password)
    return build_pages_application(pages, WebSettings(gate=gate))


def _build_pages_config(*, public: bool) -> PagesConfig:
    """Return the pages' configuration.

    Addresses of assets contain a version, so a browser loads new ones with the first new page.
    """
    return PagesConfig(
        site=SiteInfo(
            "Cardsharp",
            assets_path=f"/page/{BASE_ASSET_SET.version()}",
            has_analysis=not public,
            poll_milliseconds=MATCH_LOG_POLL_INTERVAL // timedelta(milliseconds=1),
        ),
        hide_private=public,
        long_poll_timeout=timedelta(),
        # Each listed match costs a read unit, and strangers can request the list without end. The
        # filter by day leads to older matches.
        max_matches=MATCHES_PER_PAGE if public else MAX_LISTED_MATCHES,
        finished_cache_control=f"{'public' if public else 'private'}, max-age={_DAY}, immutable",
        assets_cache_control=f"public, max-age={_YEAR}, immutable",
    )
