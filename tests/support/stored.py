"""Stored matches of every game, for the tests of what shows them."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.cloud.told import ToldMatches
from cardsharp.deadmansdraw.recorded import told
from cardsharp.games import game
from support.games import Decides, Kept, played
from support.recorded import Matches, looks
from workbench.show.lookup import keep_match
from workbench.table.served import pages_over
from workbench.watch.sources import source_of

PLAYERS = {"deadmansdraw": "draw-3", "blef": "threshold", "euchre": "rules"}
"""Players that are quick and have reasons."""

HOSTILE = "<script>alert(1)</script>"


def any_match(name: str, seed: int = 1) -> Kept:
    """A whole match of that game, with the reasons of both players."""
    of = game(name)
    return played(of, [Decides(of, PLAYERS[name], seed + one) for one in (0, 1)], seed)


def named(match: Kept, *names: str) -> Kept:
    """The match between players of other names."""
    record, moves = match
    header = {**record.header, "names": names, "players": names, "opponent": None}
    return replace(record, header=header), moves


@contextmanager
def watched(folder: Path, matches: Mapping[str, Kept]) -> Iterator[tuple[SqliteLog, str]]:
    """A match log with these matches by their ids, and the address of its pages."""
    file = folder / "matches.db"
    with closing(SqliteLog(file, SystemClock())) as log:
        for name, (record, moves) in matches.items():
            keep_match(replace(record, match_id=name), moves, log)
        with pages_over(source_of(f"sqlite:{file}")) as address:
            yield log, address


class OneMatch(ToldMatches):
    """A source of pages that has one match."""

    pause = timedelta()

    def __init__(self, record: MatchRecord, moves: list[MoveRecord]) -> None:
        self.record = record
        listed = {record.match_id: (record.started, record.status)}
        super().__init__({record.match_id: (record, moves)}.get, listed)


def recorded_matches(matches: Matches) -> Iterator[Kept]:
    """The recorded matches of the arena, as the log would have them."""
    for trace in matches.started():
        *_, last = looks(trace)
        moment = {"started_at": "2023-11-06T10:00:00.000Z", "id": trace["name"]}
        yield told(last.view.model_copy(update=moment))
