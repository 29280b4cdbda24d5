"""How large the pages of `cardsharp watch` are, and how fast they come.

    python -m workbench.bench.viewer_bench [--matches 10000] [--steps 500] [--times 30]

A match of so many steps (rounds of Blef) lies among so many others in a match log. `first` is a
page whose match was not drawn before, as every page of a live match is after a move.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Annotated

import cyclopts
import requests
from cyclopts import Parameter

from cardsharp.blef.logbook import SPAN
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.cloud.sqlite import SqliteLog
from workbench.lab.keeping import keep
from workbench.lab.plan import Plan
from workbench.show.keeping import keep_match
from workbench.show.progress import Bar
from workbench.watch.site import WatchServer
from workbench.watch.sources import LogSource

LONG = "long"

app = cyclopts.App(help=__doc__, help_format="plaintext")

Number = Annotated[int, Parameter(help="How many.")]


def long_match(log: SqliteLog, steps: int) -> tuple[MatchRecord, list[MoveRecord]]:
    """A match of so many steps: the rounds of several games of Blef, one after the other."""
    plan = Plan(first="threshold", second="threshold", pairs=12, game="blef")
    ids = keep(plan, [(pair, 0) for pair in range(12)], "bench", datetime.now(UTC), log)
    record = log.match(ids[0])
    if record is None:
        raise LookupError(ids[0])
    return replace(record, match_id=LONG), list(_renumbered(log, ids))[:steps]


def _renumbered(log: SqliteLog, ids: list[str]) -> Iterator[MoveRecord]:
    played = 0
    for match_id in ids:
        moves = log.moves(match_id)
        for move in moves:
            yield replace(move, sequence=move.sequence + SPAN * played)
        played += moves[-1].sequence // SPAN


def measured(url: str, times: int) -> tuple[float, int, int]:
    """The median milliseconds of a page, and its bytes: as text, and as they travel."""
    took, packed = [], 0
    with requests.Session() as session:
        for _ in range(times):
            began = perf_counter()
            answer = session.get(url, timeout=60, stream=True)
            raw = answer.raw.read(decode_content=False)
            took.append(1000 * (perf_counter() - began))
            packed = len(raw)
        size = len(session.get(url, timeout=60).content)
    return median(took), size, packed


@app.default
def main(*, matches: Number = 10_000, steps: Number = 500, times: Number = 30) -> None:
    """Print a row for each kind of page."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "matches.db"
        log = SqliteLog(file, SystemClock())
        record, moves = long_match(log, steps)
        keep_match(record, moves, log)
        with Bar(matches, "keeping") as bar:
            for number in range(matches):
                keep_match(replace(record, match_id=f"match-{number}"), [], log)
                bar.advance()
        log.close()
        print(f"{matches} matches, one of {len(moves)} steps; median of {times}")  # noqa: T201
        for name, path, again in (
            ("warming up", f"/matches/{LONG}", 1),
            ("match, first", f"/matches/{LONG}", 1),
            ("match", f"/matches/{LONG}?step=250", times),
            ("its steps", f"/matches/{LONG}/steps", times),
            ("list", "/matches", times),
        ):
            with WatchServer(LogSource(f"sqlite:{file}")) as server:
                if again > 1:
                    requests.get(server.url + path, timeout=60)
                took, size, packed = measured(server.url + path, again)
            row = f"{name:14}{took:8.1f} ms{size / 1000:9.1f} kB, {packed / 1000:.1f} kB packed"
            print(row)  # noqa: T201


if __name__ == "__main__":
    app()
