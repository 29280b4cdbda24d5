"""Functions of the processes that the tests of the match log's races and crashes start."""

from contextlib import closing
from datetime import timedelta
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path

from cardsharp.core.clock import SystemClock
from cardsharp.store.sqlite_match_log import SqliteMatchLog

LEASE = timedelta(minutes=5)


def queue_and_lease_all(path: Path, owner: str, names: list[str]) -> tuple[list[str], list[str]]:
    """Queue and then lease every match; return the names for which either succeeded."""
    with closing(SqliteMatchLog(path, SystemClock())) as log:
        queued_names = [name for name in names if log.mark_queued(name, LEASE)]
        return queued_names, [
            name for name in names if log.acquire_lease(name, owner, LEASE) is not None
        ]


def write_until_killed(path: Path, pipe: Connection) -> None:
    """Play move after move; send each number once its facts are written."""
    log = SqliteMatchLog(path, SystemClock())
    lease = log.acquire_lease("m", "child", LEASE, {"tags": ["crash"]})
    assert lease is not None
    for sequence in count():
        log.write_intent(lease, sequence, {"draw": sequence})
        log.write_facts(lease, {sequence: {"drew": sequence, "padding": "x" * 2000}})
        pipe.send_bytes(str(sequence).encode())
