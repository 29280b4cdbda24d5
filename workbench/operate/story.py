"""What the functions logged about a match, or what went wrong lately, in the order of time."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from cardsharp.cloud.aws import call
from workbench.operate.stack import Stack

PROBLEMS = '?WARNING ?ERROR ?CRITICAL ?Traceback ?"Task timed out"'
"""What a line has in which something went wrong."""


@dataclass(frozen=True, slots=True)
class Line:
    """One logged line; `fields` are those of a structured line, empty for any other."""

    at: datetime
    function: str
    text: str
    fields: dict[str, object]

    def __str__(self) -> str:
        told = f"{self.fields.get('level', '')} {self.fields.get('message', self.text)}".strip()
        usual = {"level", "message", "location", "timestamp", "service", "match_id"}
        more = " ".join(f"{key}={value}" for key, value in self.fields.items() if key not in usual)
        line = f"{self.at:%Y-%m-%d %H:%M:%S} {self.function:8} {told} {more}".rstrip()
        # Whatever was logged, no other line begins where a line of ours would.
        return line.replace("\n", "\n    ")

    def document(self) -> dict[str, object]:
        """The line as a JSON document."""
        told = self.fields or {"message": self.text}
        return {"at": self.at.isoformat(), "function": self.function, **told}


def lines_about(stack: Stack, match_id: str, since: timedelta) -> list[Line]:
    """Every line of every function about a match."""
    # The text is looked for, not the field, so that a traceback with the id is found too.
    return _lines(stack, f'"{match_id}"', since)


def problem_lines(stack: Stack, since: timedelta) -> list[Line]:
    """Warnings, errors and timeouts of every function."""
    return _lines(stack, PROBLEMS, since)


def _lines(stack: Stack, pattern: str, since: timedelta) -> list[Line]:
    start = round((datetime.now(UTC) - since).timestamp() * 1000)
    found = [
        _line(function, event["timestamp"], event["message"])
        for function, group in stack.log_groups.items()
        for event in call(f"log group {group}", _events, stack, group, pattern, start)
    ]
    return sorted(found, key=lambda line: line.at)


def _events(stack: Stack, group: str, pattern: str, start: int) -> list[dict[str, Any]]:
    pages = stack.client("logs").get_paginator("filter_log_events")
    wanted = {"logGroupName": group, "filterPattern": pattern, "startTime": start}
    return [event for page in pages.paginate(**wanted) for event in page["events"]]


def _line(function: str, millis: int, text: str) -> Line:
    try:
        fields = json.loads(text)
    except ValueError:
        fields = {}
    fields = fields if isinstance(fields, dict) else {}
    return Line(datetime.fromtimestamp(millis / 1000, UTC), function, text.rstrip(), fields)
