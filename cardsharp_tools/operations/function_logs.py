"""Log lines of the deployed functions, about a match or recent problems, in order of time."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from cardsharp.aws.client import call_with_retries
from cardsharp.core.clock import Clock
from cardsharp_tools.operations.stack import Stack

PROBLEM_FILTER = (
    "?WARNING ?ERROR ?CRITICAL ?Traceback "
    # What Lambda says of a function that was stopped, ran out of memory, or died otherwise.
    '?"Task timed out" ?"Runtime exited" ?"Status: error" ?"Status: timeout"'
)
"""Filter pattern for log lines that report a problem."""

_LATE = timedelta(minutes=1)  # how far a look goes back, for lines that came late

_PAUSE = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class LogLine:
    """Line of a function's log; `fields` are those of a structured line, else empty."""

    timestamp: datetime
    function: str
    text: str
    fields: dict[str, object] = field(compare=False)

    def __str__(self) -> str:
        message = f"{self.fields.get('level', '')} {self.fields.get('message', self.text)}".strip()
        usual = {"level", "message", "location", "timestamp", "service", "match_id"}
        more = " ".join(f"{key}={value}" for key, value in self.fields.items() if key not in usual)
        line = f"{self.timestamp:%Y-%m-%d %H:%M:%S} {self.function:8} {message} {more}".rstrip()
        # Whatever was logged, no other line begins where a line of ours would.
        return line.replace("\n", "\n    ")

    def document(self) -> dict[str, object]:
        """The line as a JSON document."""
        fields = self.fields or {"message": self.text}
        return {"at": self.timestamp.isoformat(), "function": self.function, **fields}


def follow_log_lines(
    fetch: Callable[[datetime], list[LogLine]], since: datetime, clock: Clock
) -> Iterator[LogLine]:
    """Yield each line that `fetch` returns since a moment, once.

    Every poll overlaps the previous ones a little, to include lines that arrive late.
    """
    seen_lines: set[LogLine] = set()
    while True:
        current_time = clock.now()
        fresh = [line for line in fetch(since) if line not in seen_lines]
        seen_lines.update(fresh)
        yield from fresh
        since = max(since, current_time - _LATE)
        clock.sleep(_PAUSE)


def log_lines(stack: Stack, match_id: str | None, since: datetime) -> list[LogLine]:
    """Return all functions' log lines about a match; without one, warnings and errors.

    The text is looked for, not the field, so that a traceback with the id is found too.
    """
    pattern = PROBLEM_FILTER if match_id is None else f'"{match_id}"'
    filter_params = {"filterPattern": pattern, "startTime": round(since.timestamp() * 1000)}
    pages = stack.client("logs").get_paginator("filter_log_events").paginate

    def events(group: str) -> list[dict[str, Any]]:
        return [
            event for page in pages(logGroupName=group, **filter_params) for event in page["events"]
        ]

    lines = []
    for function, group in stack.log_group_by_function.items():
        for event in call_with_retries(f"log group {group}", events, group):
            fields, at = None, datetime.fromtimestamp(event["timestamp"] / 1000, UTC)
            with suppress(ValueError):
                fields = json.loads(event["message"])
            fields = fields if isinstance(fields, dict) else {}
            lines.append(LogLine(at, function, event["message"].rstrip(), fields))
    return sorted(lines, key=lambda line: line.timestamp)
