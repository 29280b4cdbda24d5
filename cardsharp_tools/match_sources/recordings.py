"""Recorded matches in files: their texts, parsed by the games' formats."""

import gzip
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cardsharp.core.text_files import decode_text, describe_json_error
from cardsharp.errors import ConfigError, InvalidInput
from cardsharp.play.catalog import all_games
from cardsharp.store.match_snapshots import MatchSnapshot, SnapshotMatchReader
from cardsharp_tools.terminal.progress import track

RECORDING_SUFFIXES = (".json", ".jsonl", ".gz")  # suffixes of files with recorded matches


def read_recording_files(path: Path) -> dict[str, bytes]:
    """Return the bytes of a file, or of each recording in a folder; raise `ConfigError`."""
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in RECORDING_SUFFIXES)
    try:
        texts = {file: file.read_bytes() for file in files}
        zipped = {file for file in texts if file.suffix == ".gz"}
        return {str(file): gzip.decompress(t) if file in zipped else t for file, t in texts.items()}
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or "it is not a complete .gz file"
        raise ConfigError(f"{path} cannot be read: {reason}.") from None


def parse_recordings(texts: Mapping[str, bytes]) -> SnapshotMatchReader:
    """Return the matches of some texts, each with one match or one match per line.

    Others are left out. Raises `ConfigError` if there are no matches.
    """
    fault = "There is no recorded match (.json, .jsonl, .gz) in the folder."
    snapshots = dict[str, MatchSnapshot]()
    documents = list[_RecordingDocument]()
    for name, data in texts.items():
        try:
            documents += _split_documents(name, decode_text(data, name).lines)
        except ConfigError as error:
            fault = str(error)
    for document in track(documents, "reading") if len(documents) > 1 else documents:
        try:
            record, moves = parse_match(document.text.encode())
        except (InvalidInput, RecursionError) as error:
            fault = document.describe_error(error)
        else:
            snapshots[record.match_id] = record, moves
    if not snapshots:
        raise ConfigError(fault)
    listed = {name: (record.started_at, record.status) for name, (record, _) in snapshots.items()}
    return SnapshotMatchReader(snapshots.get, listed)


class _RecordingDocument(NamedTuple):
    """Text that may contain a match: a complete file, or a line of one."""

    file: str
    text: str
    line: int | None = None

    def describe_error(self, error: InvalidInput | RecursionError) -> str:
        """Return a message that says what is wrong with the document, and where."""
        unread = describe_json_error(self.text, self.line or 1)
        if unread is not None:
            return f"{self.file}{unread}; correct it, or give another file."
        location = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{location}: {error}"


def _split_documents(file: str, lines: Sequence[str]) -> list[_RecordingDocument]:
    """Return the file as one document, or each line as one if the file is not valid JSON."""
    text = "\n".join(lines)
    filled = [
        _RecordingDocument(file, line, line_number)
        for line_number, line in enumerate(lines, 1)
        if line.strip()
    ]
    is_lines = (
        len(filled) > 1 and filled[0].text.startswith("{") and describe_json_error(text) is not None
    )
    return filled if is_lines else [_RecordingDocument(file, text)]


def parse_match(text: bytes) -> MatchSnapshot:
    """Parse a match in the format of a game's arena or service; raise `InvalidInput`."""
    reasons = []
    for game in all_games():
        if game.import_match is not None:
            try:
                return game.import_match.load()(text)
            except InvalidInput as error:
                reasons.append(str(error))
    raise InvalidInput(" ".join(reasons))
