"""Cache of analyses of finished matches, a file each in the user's cache folder.

An analysis takes a tenth of a second, and `stats` asks for a hundred. The name of a file is a hash
of the match, of its moves, and of the code and weights that judge it, so a file never has to be
changed. A file that cannot be read is ignored, and so is a folder that cannot be written.
"""

import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

import cardsharp
from cardsharp.analysis.judged_match import MatchAnalysis
from cardsharp.analysis.match_analysis import analyse
from cardsharp.analysis.replay import DecisionPoint
from cardsharp.play.game import Game
from cardsharp.store.match_log import MatchRecord, MoveRecord

MAX_ANALYSES = 2000  # files in the folder; one has about 7 KB
_LIBRARY = Path(cardsharp.__file__).parent


def analyse_with_cache(
    game: Game,
    record: MatchRecord,
    moves: Sequence[MoveRecord],
    progress: Callable[[list[DecisionPoint]], Iterable[DecisionPoint]] = iter,
) -> MatchAnalysis:
    """Return the analysis of a stored match as `analyse` does; that of a finished one is kept.

    Raises what `analyse` raises.
    """
    kept_analysis = find_analysis(game, record, moves)
    if kept_analysis is not None:
        return kept_analysis
    analysis = analyse(game, record, moves, progress)
    if _can_be_kept(game, record):
        with suppress(OSError):
            file = _cache_folder() / _match_key(game, record, moves)
            _write(file, zlib.compress(analysis.model_dump_json(by_alias=True).encode()))
    return analysis


def find_analysis(
    game: Game, record: MatchRecord, moves: Sequence[MoveRecord]
) -> MatchAnalysis | None:
    """Return the analysis of a match if the cache has it."""
    if _can_be_kept(game, record):
        file = _cache_folder() / _match_key(game, record, moves)
        with suppress(OSError, ValueError, zlib.error):
            return MatchAnalysis.model_validate_json(zlib.decompress(file.read_bytes()))
    return None


def _can_be_kept(game: Game, record: MatchRecord) -> bool:
    """Return True for a finished match of one of our games, whose judge's files are known."""
    return record.outcome is not None and (_LIBRARY / "games" / game.name).is_dir()


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - never fails
    return Path(base) / "cardsharp" / "analyses"


def _match_key(game: Game, record: MatchRecord, moves: Sequence[MoveRecord]) -> str:
    """Return a hash of all on which an analysis depends."""
    digest = sha256(_judge_fingerprint(game).encode())
    records = [[move.sequence, move.intent, move.facts, move.read_error] for move in moves]
    content = [game.name, record.match_id, record.header, record.outcome, records]
    digest.update(json.dumps(content, default=str).encode())
    return digest.hexdigest()


@cache
def _judge_fingerprint(game: Game) -> str:
    """Return a hash of the names, sizes and times of the files that judge a game's matches."""
    folders = _LIBRARY / "analysis", _LIBRARY / "play", _LIBRARY / "games" / game.name
    names = sorted(name for folder in folders for name in _iter_file_stamps(folder))
    return sha256("\n".join(names).encode()).hexdigest()


def _iter_file_stamps(folder: Path) -> Iterator[str]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _iter_file_stamps(Path(entry.path))
            else:
                stat = entry.stat()
                yield f"{entry.path} {stat.st_size} {stat.st_mtime_ns}"


def _write(file: Path, content: bytes) -> None:
    """Write a file as a whole, and delete the oldest tenth if there are too many."""
    file.parent.mkdir(parents=True, exist_ok=True)
    files = list(file.parent.iterdir())
    if len(files) >= MAX_ANALYSES:
        for old_file in sorted(files, key=_last_change)[: MAX_ANALYSES // 10]:
            old_file.unlink(missing_ok=True)
    # Write a temporary file and move it, so that no process reads half an analysis.
    unfinished = file.with_suffix(f".{os.getpid()}.tmp")
    unfinished.write_bytes(content)
    unfinished.replace(file)


def _last_change(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except FileNotFoundError:  # another process was faster
        return 0
