"""Stored matches of every game, for the tests of displays."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from cardsharp.core.clock import SystemClock
from cardsharp.games.deadmansdraw.history.arena_import import match_from_view
from cardsharp.play.catalog import get_game
from cardsharp.store.match_log import MatchRecord, MoveRecord
from cardsharp.store.match_snapshots import SnapshotMatchReader
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from cardsharp_tools.game_rooms.room_server import serve_match_pages
from cardsharp_tools.match_sources.match_logs import import_match
from cardsharp_tools.match_sources.sources import find_source
from support.games import SimulationPlayer, StoredMatch, play_match
from support.recordings import RecordedMatches, recorded_views

FAST_STRATEGIES = {"deadmansdraw": "draw-3", "blef": "threshold", "euchre": "rules"}
"""Players that are quick and have reasons."""

HOSTILE_NAME = "<script>alert(1)</script>"


def sample_match(name: str, seed: int = 1) -> StoredMatch:
    """Return a complete match of that game, with the reasons of both players."""
    game = get_game(name)
    return play_match(
        game, [SimulationPlayer(game, FAST_STRATEGIES[name], seed + seat) for seat in (0, 1)], seed
    )


def with_names(match: StoredMatch, *names: str) -> StoredMatch:
    """Return the match with other names of its players."""
    record, moves = match
    header = {**record.header, "names": names, "players": names, "opponent": None}
    return replace(record, header=header), moves


@contextmanager
def serve_matches(
    folder: Path, matches: Mapping[str, StoredMatch]
) -> Iterator[tuple[SqliteMatchLog, str]]:
    """Yield a match log with these matches by id, and the URL of its pages."""
    file = folder / "matches.db"
    with closing(SqliteMatchLog(file, SystemClock())) as log:
        for name, (record, moves) in matches.items():
            import_match(replace(record, match_id=name), moves, log)
        with serve_match_pages(find_source(f"sqlite:{file}")) as address:
            yield log, address


class SingleMatchSource(SnapshotMatchReader):
    """Match source of pages that has a single match."""

    poll_interval = timedelta()

    def __init__(self, record: MatchRecord, moves: list[MoveRecord]) -> None:
        self.record = record
        matches_by_id = {record.match_id: (record.started_at, record.status)}
        super().__init__({record.match_id: (record, moves)}.get, matches_by_id)


def recorded_matches(matches: RecordedMatches) -> Iterator[StoredMatch]:
    """Yield the recorded matches of the arena in the form of the log."""
    for recorded_match in matches.created_matches():
        *_, last_view = recorded_views(recorded_match)
        changes = {"started_at": "2023-11-06T10:00:00.000Z", "id": recorded_match["name"]}
        yield match_from_view(last_view.view.model_copy(update=changes))
