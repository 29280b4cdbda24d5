"""`cardsharp matches`: what is in the match log, and what need not be any longer."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

import cyclopts
from cyclopts import Parameter, validators

from cardsharp.store.match_log import MatchStatus
from cardsharp_tools.cli.app import find_command
from cardsharp_tools.cli.options import CommandOptions, Json, MatchSourceName, Store, parse_duration


@dataclass(frozen=True, kw_only=True)
class MatchListOptions(CommandOptions):
    """Options that select the matches to list."""

    day: datetime | None = None
    """Only matches that started on this day (UTC)."""
    status: MatchStatus | None = None
    """Only matches with this status."""
    limit: Annotated[int, Parameter(validator=validators.Number(gte=1))] = 20
    """Maximum number of matches to list."""
    store: Store = None
    as_json: Json = False


matches = cyclopts.App(name="matches", help_epilogue=find_command("matches").epilogue)


@matches.default
def list_matches(
    source: MatchSourceName = None, /, *, options: MatchListOptions = MatchListOptions()
) -> None:
    """Print matches. The match that was started last comes first."""
    from cardsharp_tools.cli.match_list import list_stored_matches  # noqa: PLC0415 - slow to import

    list_stored_matches(source, options)


@dataclass(frozen=True, kw_only=True)
class PruneOptions(CommandOptions):
    """Options that select the matches to delete, and whether to ask first."""

    older_than: Annotated[timedelta, Parameter(converter=parse_duration)]
    """Delete matches that ended longer ago than this, such as 30d or 12h."""
    dry_run: bool = False
    """Only print what would be deleted."""
    yes: bool = False
    """Delete without asking."""
    store: Store = None
    as_json: Json = False


@matches.command
def prune(*, options: PruneOptions) -> None:
    """Delete matches that ended long ago from a SQLite match log.

    Running matches stay.
    """
    from cardsharp_tools.cli.match_list import delete_old_matches  # noqa: PLC0415 - as above

    delete_old_matches(options)
