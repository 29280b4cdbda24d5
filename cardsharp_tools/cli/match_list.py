"""List of the matches in a match log, and the deletion of old ones, for `cardsharp matches`."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain

from cardsharp.analysis.match_listing import iter_matches
from cardsharp.analysis.replay import header_of, outcome_of, read_error_of
from cardsharp.core.time_format import format_start
from cardsharp.errors import ConfigError, StoreError
from cardsharp.store.match_log import MatchRecord
from cardsharp_tools.cli.commands.matches import MatchListOptions, PruneOptions
from cardsharp_tools.cli.console import (
    message_console,
    print_json_array,
    print_json_or_lines,
    result_console,
)
from cardsharp_tools.match_sources.match_logs import (
    open_existing_log_for_writing,
    resolve_match_log_location,
)
from cardsharp_tools.match_sources.sources import find_source
from cardsharp_tools.terminal.column_list import ListColumn, print_list
from cardsharp_tools.terminal.match_printer import match_document
from cardsharp_tools.terminal.player_labels import PlayerLabels

_MAX_ID_SIZE = 20  # characters of an id, as an arena gives them; those of the lab are words to type
_MIN_FULL_WIDTH = 100  # columns that a line with everything takes


def list_stored_matches(source: str | None, options: MatchListOptions) -> None:
    """Print the matches of a source. The match that was started last comes first."""
    with find_source(source or options.store).open_reader() as log:
        day = options.day and options.day.date()
        print_matches(
            iter_matches(log, day, options.status, options.limit),
            source or resolve_match_log_location(options.store),
            as_json=options.as_json,
        )


def print_matches(matches: Iterator[MatchRecord], source: str, *, as_json: bool) -> None:
    """Print the matches of a source while they are read."""
    if as_json:
        print_json_array(map(_match_list_document, matches))
        return
    console, newest = result_console(), next(matches, None)
    if newest is None:
        console.print(f"{source} has no such match.")
        return
    is_narrow = console.width < _MIN_FULL_WIDTH
    print_list(
        console,
        _COLUMNS[: len(_COLUMNS) - is_narrow],
        (_build_row(record, is_narrow=is_narrow) for record in chain((newest,), matches)),
        gap=2 if is_narrow else 4,
    )


def _match_list_document(record: MatchRecord) -> dict[str, object]:
    """Return a match of the list as a JSON document."""
    return {
        **match_document(record),
        "started": record.started_at.isoformat(),
        "finished": record.finished_at and record.finished_at.isoformat(),
        "fault": read_error_of(record),
    }


_COLUMNS = (
    ListColumn("match"),
    ListColumn("started (UTC)"),
    ListColumn("players", is_folded=True),
    ListColumn("result"),
    ListColumn("score", is_right_aligned=True),
    ListColumn("turns", is_right_aligned=True),
)
"""Columns of the list; the last one needs a wide console."""


def _build_row(record: MatchRecord, *, is_narrow: bool) -> tuple[str, ...]:
    match_id, started, *cells = _build_cells(record)
    if is_narrow:  # the end of a long id is enough for show and why; nobody needs the year
        end = match_id[-12:] if len(match_id) > _MAX_ID_SIZE else match_id
        match_id, started, cells = end, started[5:16], cells[:-1]
    return match_id, started, *cells


def delete_old_matches(options: PruneOptions) -> None:
    """Delete matches that ended long ago from a SQLite match log; running matches stay."""
    current_time = datetime.now(UTC)
    with open_existing_log_for_writing(options.store) as log:
        ids = log.ids_finished_earlier_than(current_time - options.older_than)
        match_count_text = f"{len(ids)} {'match' if len(ids) == 1 else 'matches'}"
        deleted = (
            bool(ids)
            and not options.dry_run
            and (options.yes or _confirm_deletion(match_count_text))
        )
        if deleted:
            for match_id in ids:
                log.delete_match(match_id)
            if all(record.ttl is None for record in log.running_matches()):
                log.vacuum()
    done = "deleted" if deleted else "would be deleted" if options.dry_run else "kept"
    line = f"{match_count_text} {done}" if ids else "No match ended that long ago."
    print_json_or_lines({"matches": ids, "deleted": deleted}, line, as_json=options.as_json)


def _confirm_deletion(match_count_text: str) -> bool:
    if not sys.stdin.isatty():
        raise ConfigError(
            f"{match_count_text} would be deleted. Add --yes to delete, or --dry-run to "
            "see the list."
        )
    message_console().print(f"Delete {match_count_text} for good? [y/N] ", end="")
    return input().strip().lower() in {"y", "yes"}


def _build_cells(record: MatchRecord) -> tuple[str, ...]:
    unreadable = (record.match_id, "", "", "cannot be read", "", "")
    if record.read_error is not None:
        return unreadable
    try:
        header, outcome = header_of(record), outcome_of(record)
    except StoreError:
        return unreadable
    labels = PlayerLabels.from_header(header)
    started = format_start(record.started_at, with_seconds=True).removesuffix(" UTC")
    players = labels.title() if header.players else ""
    if not header.players and header.names:  # a table, of which all are known once it is over
        players = " v ".join((outcome and outcome.names) or (*header.names, "?"))
    if len(seated := dict.fromkeys(header.players)) > 2:  # noqa: PLR2004 - who is not against two
        players = " v ".join((labels.names[0], *[*seated][1:]))
    if outcome is None:
        return record.match_id, started, players, record.status.value, "", ""
    score = labels.score_text(outcome.scores) if outcome.scores and len(outcome.scores) > 1 else ""
    return record.match_id, started, players, outcome.result, score, str(outcome.turns)
