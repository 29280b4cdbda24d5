"""`cardsharp cloud matches`, `logs` and other commands that read a stack's records."""

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from cardsharp.analysis.match_listing import iter_matches
from cardsharp.core.clock import SystemClock
from cardsharp.errors import ConfigError
from cardsharp_tools.cli.commands.cloud.stack_options import (
    DEFAULT_STACK_OPTIONS,
    StackOptions,
)
from cardsharp_tools.cli.match_list import print_matches
from cardsharp_tools.match_sources.match_logs import resolve_match_id
from cardsharp_tools.operations import function_logs, stack_control
from cardsharp_tools.operations.export import export_missing_matches, rewrite_legacy_matches
from cardsharp_tools.operations.function_logs import log_lines


def matches(
    *,
    limit: Annotated[
        int,
        Parameter(validator=validators.Number(gte=1), help="Maximum number of matches to list."),
    ] = 20,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """List the stack's matches. The match that was started last comes first."""
    stack = options.find_stack()
    listed = iter_matches(stack.log, None, None, limit)
    print_matches(listed, stack.name, as_json=options.as_json)


def export_(
    file: Annotated[
        Path, Parameter(help="The match log on this machine. It is created if it does not exist.")
    ],
    *,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Copy the stack's finished matches into a match log on this machine."""
    stack = options.find_stack()
    copied = export_missing_matches(stack.log, file)
    rewritten = rewrite_legacy_matches(stack.match_log_table, stack.log)
    text = f"{copied} matches copied to {file}"
    options.print_done_message(
        f"{text}, and {rewritten} of an earlier version rewritten" if rewritten else text
    )


def link(
    match: Annotated[str, Parameter(help="The match: its id, a part of the id, or the word last.")],
    /,
    *,
    hours: Annotated[
        float,
        Parameter(validator=validators.Number(gt=0), help="For how many hours the link is valid."),
    ] = 24,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Print a link to the page of a match. --stack names the stack of the pages."""
    stack, until = options.find_stack(), datetime.now(UTC) + timedelta(hours=hours)
    url = stack_control.match_link(stack, resolve_match_id(stack.log, match), until)
    options.print_json_or_lines({"url": url, "until": until.isoformat()}, [url])


def logs(
    match: Annotated[str | None, Parameter(help="The id of the match.")] = None,
    /,
    *,
    problems: Annotated[
        bool, Parameter(help="Print warnings, errors and timeouts instead.")
    ] = False,
    hours: Annotated[float, Parameter(help="How many hours to look back.")] = 24,
    follow: Annotated[bool, Parameter(help="Keep printing new lines until Ctrl-C.")] = False,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Print what all functions logged about a match, or their problems, in time order."""
    if (match is None) is not problems:
        raise ConfigError("Give either the id of a match or --problems.")
    stack, since = options.find_stack(), datetime.now(UTC) - timedelta(hours=hours)
    if not follow:
        lines = log_lines(stack, match, since)
        if not lines and match is not None:
            raise ConfigError(
                f"No function logged anything about {match} within {hours:g} hours. "
                "Check the id with "
                "`cardsharp cloud matches`, or look further back with --hours."
            )
        options.print_json_or_lines([line.document() for line in lines], lines)
        return
    for line in function_logs.follow_log_lines(
        partial(log_lines, stack, match), since, SystemClock()
    ):
        options.print_json_or_lines([line.document()], [line])
