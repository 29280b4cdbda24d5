"""Races of real parallel writers: threads on every store, and processes on the SQLite file."""

import multiprocessing
import sqlite3
from collections import Counter
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path

import pytest
from support.cloud_benches import TTL, LogBench, at_once, known, taken
from support.cloud_processes import take_all, write_for_ever

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import Lease, MatchLog, MoveRecord, Outwaited
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.errors import Conflict

ROUNDS = 3


@pytest.fixture
def logs(bench: LogBench) -> list[MatchLog]:
    """Return two openings of the same log, as two processes have."""
    return [bench.log, bench.reopen()]


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_of_many_who_announce_take_or_reopen_one_does(logs: list[MatchLog], _round: int) -> None:
    told = at_once(16, lambda me: logs[me % 2].announce("m", TTL))
    assert told.count(True) == 1
    leases = at_once(16, lambda me: logs[me % 2].take("m", f"w{me}", TTL))
    (winner,) = [lease for lease in leases if lease is not None]
    assert (winner, winner.fence) == (known(logs[0]).lease, 1)
    logs[0].finish(winner, {"result": "unknown"})
    closed = known(logs[0])
    told = at_once(8, lambda me: logs[me % 2].reopen(closed))
    assert told.count(True) == 1
    assert [note.kind for note in logs[1].notes("m")] == ["reopened"]


def test_no_two_takes_ever_get_the_same_fence(logs: list[MatchLog]) -> None:
    def take_and_lose(me: int) -> list[int]:
        taken = [logs[me % 2].take("m", "all the same", TTL) for _ in range(5)]
        return [lease.fence for lease in taken if lease is not None]

    fences = at_once(8, take_and_lose)
    assert sorted(fence for mine in fences for fence in mine) == list(range(1, 41))
    assert all(mine == sorted(mine) for mine in fences)


def test_a_successor_and_a_stale_writer_never_mix(logs: list[MatchLog]) -> None:
    """Whatever the order, an intent of the old lease never lies over one of the new."""
    for number in range(ROUNDS):
        name = f"m{number}"
        stale = taken(logs[0], name=name)
        assert logs[1].announce(name, TTL, Outwaited(known(logs[1], name).beat, TTL))

        def act(me: int, name: str = name, stale: Lease = stale) -> None:
            if me == 0:
                logs[1].intend(taken(logs[1], "bob", name), 1, {"by": "bob"})
                return
            with suppress(Conflict):
                logs[0].intend(stale, 1, {"by": "ann"})

        at_once(4, act)
        assert logs[0].moves(name) == [MoveRecord(1, {"by": "bob"}, None)]


def test_the_first_of_parallel_records_stays_and_renewing_never_disturbs_them(
    logs: list[MatchLog],
) -> None:
    lease = taken(logs[0])
    at_once(8, lambda me: logs[me % 2].record(lease, {n: {"by": me} for n in range(3)}))
    before = logs[0].moves("m")
    assert [move.sequence for move in before] == [0, 1, 2]

    def act(me: int) -> None:
        for number in range(15):
            if me == 0:
                logs[1].intend(lease, 3 + number, {"n": number})
                logs[1].record(lease, {3 + number: {"n": number}})
            elif me < 3:
                logs[0].renew(lease, TTL)
            elif number < 3:
                logs[me % 2].record(lease, {number: {"by": -me}})

    at_once(6, act)
    moves = logs[1].moves("m")
    assert moves[:3] == before
    assert [move.facts for move in moves[3:]] == [{"n": n} for n in range(15)]


SPAWNED = multiprocessing.get_context("spawn")


def test_of_parallel_processes_each_match_is_taken_and_announced_by_one(tmp_path: Path) -> None:
    """The processes also race for who makes the file."""
    names = [f"m{number}" for number in range(25)]
    asked = [(tmp_path / "matches.db", f"p{number}", names) for number in range(8)]
    with SPAWNED.Pool(4) as pool:
        done = pool.starmap(take_all, asked, 1)
    announced, taken = (Counter(chain.from_iterable(mine)) for mine in zip(*done, strict=True))
    assert taken == Counter(names)
    assert max(announced.values()) == 1


@pytest.mark.parametrize("moves", [1, 40])
def test_a_writer_killed_in_mid_write_leaves_a_whole_log(tmp_path: Path, moves: int) -> None:
    path, (ours, theirs) = tmp_path / "matches.db", SPAWNED.Pipe(duplex=False)
    child = SPAWNED.Process(target=write_for_ever, args=(path, theirs), daemon=True)
    child.start()
    theirs.close()
    seen = [int(ours.recv_bytes()) for _ in range(moves)]
    child.kill()
    with suppress(EOFError, OSError):  # a message may be cut short
        while True:
            seen.append(int(ours.recv_bytes()))
    child.join()

    with closing(SqliteLog(path, SystemClock())) as log:
        found = log.moves("m")
        log.renew(known(log).lease, TTL)
    played = [move.sequence for move in found if move.facts is not None]
    assert played[: len(seen)] == seen, "what was acknowledged is there"
    assert len(found) - len(seen) <= 1, "and at most one move more"
    for move in found:
        assert move.intent == {"draw": move.sequence}
        assert move.facts is None or move.facts["drew"] == move.sequence
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
