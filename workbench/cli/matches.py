"""`cardsharp matches`: what is in the match log, and what need not be any longer."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated

import cyclopts
from cyclopts import Parameter, validators

from cardsharp.cloud.ports import MatchRecord, Status
from cardsharp.errors import ConfigError
from cardsharp.replay import fault_of, header_of, outcome_of
from workbench.cli.commands import command
from workbench.deadmansdraw.drawing import Labels
from workbench.show.drawing import match_document
from workbench.show.lookup import open_file, store_or_default
from workbench.show.options import AnySource, CommandOptions, Json, Store, span
from workbench.show.output import messages, plain_table, print_json, results, tell
from workbench.watch.sources import source_of

_LONG = 20  # characters of an id, as an arena gives them; those of the lab are words to type
_NARROW = 100  # columns that a line with everything takes


@dataclass(frozen=True, kw_only=True)
class MatchesOptions(CommandOptions):
    """Which matches to list."""

    day: datetime | None = None
    """Only matches that started on this day (UTC)."""
    status: Status | None = None
    """Only announced, running or finished matches."""
    limit: Annotated[int, Parameter(validator=validators.Number(gte=1))] = 20
    """How many at most."""
    store: Store = None
    as_json: Json = False


matches = cyclopts.App(name="matches", help_epilogue=command("matches").epilogue)


@matches.default
def listed(source: AnySource = None, /, *, options: MatchesOptions = MatchesOptions()) -> None:
    """Print matches, the last started first."""
    with source_of(source or options.store).reading() as log:
        found = log.matches(options.day and options.day.date(), options.status, options.limit)
    print_matches(found, source or store_or_default(options.store), as_json=options.as_json)


def print_matches(found: Sequence[MatchRecord], source: str, *, as_json: bool) -> None:
    """Print what was found in a source."""
    if as_json:
        print_json(
            [
                {
                    **match_document(one),
                    "started": one.started.isoformat(),
                    "finished": one.finished and one.finished.isoformat(),
                    "fault": fault_of(one),
                }
                for one in found
            ]
        )
        return
    console = results()
    if not found:
        console.print(f"no such match in {source}")
        return
    narrow = console.width < _NARROW
    names = ("match", "started (UTC)", "players", "result", "score", "turns")[: 6 - narrow]
    table = plain_table(*names, right=("score", "turns"), gap=2 - narrow)
    for column in table.columns:
        column.no_wrap, column.overflow = column.header != "players", "fold"
    for record in found:
        match_id, started, *others = _cells(record)
        if narrow:  # the end of a long id is enough for show and why; nobody needs the year
            end = match_id[-12:] if len(match_id) > _LONG else match_id
            match_id, started, others = end, started[5:16], others[:-1]
        table.add_row(match_id, started, *others)
    console.print(table)


@dataclass(frozen=True, kw_only=True)
class PruneOptions(CommandOptions):
    """Which matches to delete, and whether to ask first."""

    older_than: Annotated[timedelta, Parameter(converter=span)]
    """Ended longer ago than this, e.g. 30d or 12h."""
    dry_run: bool = False
    """Only say what would be deleted."""
    yes: bool = False
    """Do not ask."""
    store: Store = None
    as_json: Json = False


@matches.command
def prune(*, options: PruneOptions) -> None:
    """Delete matches that ended long ago from a SQLite match log; running ones are kept."""
    now = datetime.now(UTC)
    with open_file(options.store) as log:
        ids = log.finished_before(now - options.older_than)
        number = f"{len(ids)} {'match' if len(ids) == 1 else 'matches'}"
        deleted = bool(ids) and not options.dry_run and (options.yes or _agreed(number))
        if deleted:
            for match_id in ids:
                log.forget(match_id)
            if all(record.ttl is None for record in log.running()):
                log.shrink()
    done = "deleted" if deleted else "would be deleted" if options.dry_run else "kept"
    line = f"{number} {done}" if ids else "no match ended so long ago"
    tell({"matches": ids, "deleted": deleted}, line, as_json=options.as_json)


def _agreed(number: str) -> bool:
    if not sys.stdin.isatty():
        raise ConfigError(f"{number} would be deleted; say --yes, or --dry-run to look.")
    messages().print(f"Delete {number} for good? [y/N] ", end="")
    return input().strip().lower() in {"y", "yes"}


def _cells(record: MatchRecord) -> tuple[str, ...]:
    if fault_of(record) is not None:
        return record.match_id, "", "", "cannot be read", "", ""
    header, outcome = header_of(record), outcome_of(record)
    labels = Labels.of(header)
    started = record.started.strftime("%Y-%m-%d %H:%M:%S")
    players = labels.title() if header.players else ""
    if not header.players and header.names:  # a table, of which all are known once it is over
        players = " v ".join((outcome and outcome.names) or (*header.names, "?"))
    if len(seated := dict.fromkeys(header.players)) > 2:  # noqa: PLR2004 - who is not against two
        players = " v ".join((labels.names[0], *[*seated][1:]))
    if outcome is None:
        return record.match_id, started, players, record.status.value, "", ""
    score = labels.score(outcome.scores) if outcome.scores and len(outcome.scores) > 1 else ""
    return record.match_id, started, players, outcome.result, score, str(outcome.turns)
