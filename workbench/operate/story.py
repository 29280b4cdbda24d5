"""What the functions logged about a match, or what went wrong lately, in the order of time."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from cardsharp.cloud.aws import call
from cardsharp.cloud.ports import Clock
from workbench.operate.stack import Stack

PROBLEMS = (
    "?WARNING ?ERROR ?CRITICAL ?Traceback "
    # What Lambda says of a function that was stopped, ran out of memory, or died otherwise.
    '?"Task timed out" ?"Runtime exited" ?"Status: error" ?"Status: timeout"'
)
"""What a line has in which something went wrong."""

_LATE = timedelta(minutes=1)  # how far a look goes back, for lines that came late

_PAUSE = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class LogLine:
    """One logged line; `fields` are those of a structured line, empty for any other."""

    at: datetime
    function: str
    text: str
    fields: dict[str, object] = field(compare=False)

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


def followed(
    look: Callable[[datetime], list[LogLine]], since: datetime, clock: Clock
) -> Iterator[LogLine]:
    """What `look` finds from then on, each line once; it looks back a while, for late ones."""
    told: set[LogLine] = set()
    while True:
        now = clock.now()
        fresh = [line for line in look(since) if line not in told]
        told.update(fresh)
        yield from fresh
        since = max(since, now - _LATE)
        clock.sleep(_PAUSE)


def lines_about(stack: Stack, match_id: str | None, since: datetime) -> list[LogLine]:
    """Every line of every function about a match, or of none their warnings, errors and timeouts.

    The text is looked for, not the field, so that a traceback with the id is found too.
    """
    pattern = PROBLEMS if match_id is None else f'"{match_id}"'
    wanted = {"filterPattern": pattern, "startTime": round(since.timestamp() * 1000)}
    pages = stack.client("logs").get_paginator("filter_log_events").paginate

    def events(group: str) -> list[dict[str, Any]]:
        return [one for page in pages(logGroupName=group, **wanted) for one in page["events"]]

    found = []
    for function, group in stack.log_groups.items():
        for event in call(f"log group {group}", events, group):
            fields, at = None, datetime.fromtimestamp(event["timestamp"] / 1000, UTC)
            with suppress(ValueError):
                fields = json.loads(event["message"])
            fields = fields if isinstance(fields, dict) else {}
            found.append(LogLine(at, function, event["message"].rstrip(), fields))
    return sorted(found, key=lambda line: line.at)
