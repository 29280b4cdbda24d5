"""What the processes do that the match log's races and crashes are made of."""

import sys
from datetime import timedelta
from pathlib import Path

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.sqlite import SqliteLog

LEASE = timedelta(minutes=5)


def take_all(path: Path, owner: str, names: list[str]) -> dict[str, list[str]]:
    """Announce and then take every match, and return which of both succeeded."""
    log = SqliteLog(path, SystemClock())
    announced = [name for name in names if log.announce(name, LEASE)]
    taken = [name for name in names if log.take(name, owner, LEASE) is not None]
    log.close()
    return {"announced": announced, "taken": taken}


def write_for_ever(path: Path) -> None:
    """Play move after move, printing each number once its facts are written."""
    log = SqliteLog(path, SystemClock())
    lease = log.take("m", "child", LEASE, {"tags": ["crash"]})
    assert lease is not None
    sequence = 0
    while True:
        log.intend(lease, sequence, {"draw": sequence})
        log.record(lease, {sequence: {"drew": sequence, "padding": "x" * 2000}})
        sys.stdout.write(f"{sequence}\n")
        sys.stdout.flush()
        sequence += 1


if __name__ == "__main__":
    write_for_ever(Path(sys.argv[1]))
