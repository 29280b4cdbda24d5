"""What the processes do that the match log's races and crashes are made of."""

from contextlib import closing
from datetime import timedelta
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.sqlite import SqliteLog

LEASE = timedelta(minutes=5)


def take_all(path: Path, owner: str, names: list[str]) -> tuple[list[str], list[str]]:
    """Announce and then take every match, and return with which of them either succeeded."""
    with closing(SqliteLog(path, SystemClock())) as log:
        announced = [name for name in names if log.announce(name, LEASE)]
        return announced, [name for name in names if log.take(name, owner, LEASE) is not None]


def write_for_ever(path: Path, told: Connection) -> None:
    """Play move after move, telling each number once its facts are written."""
    log = SqliteLog(path, SystemClock())
    lease = log.take("m", "child", LEASE, {"tags": ["crash"]})
    assert lease is not None
    for sequence in count():
        log.intend(lease, sequence, {"draw": sequence})
        log.record(lease, {sequence: {"drew": sequence, "padding": "x" * 2000}})
        told.send_bytes(str(sequence).encode())
