"""Files from which a long command resumes: results by match, and checkpoints."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import ClassVar, TypeVar

from pydantic import BaseModel, ValidationError

from cardsharp.core.text_files import read_text
from cardsharp.errors import ConfigError
from cardsharp_tools.terminal.progress import ProgressBar


class MatchRow(BaseModel, frozen=True, extra="forbid"):
    """Base class of the rows of a result file, with the number of the match.

    An instance of a subclass is a line of the file.
    """

    match: int


Row = TypeVar("Row", bound=MatchRow)


def compute_rows(
    path: Path | None,
    run_key: str,
    row_class: type[Row],
    matches: int,
    compute: Callable[[int], Sequence[Row]],
) -> list[Row]:
    """Return the rows of matches; missing rows are computed and appended to `path`.

    The file begins with `head`, the options on which its rows depend. Raises `ConfigError` if the
    file belongs to another run, or has other rows.
    """
    rows = [] if path is None else _read_rows(path, run_key, row_class)
    first_match = max((row.match for row in rows), default=-1) + 1
    with ProgressBar(matches, "matches", completed_steps=min(first_match, matches)) as bar:
        for match_index in range(first_match, matches):
            fresh = compute(match_index)
            rows += fresh
            if path is not None:
                with path.open("a", encoding="utf-8") as out:
                    out.writelines(f"{row.model_dump_json()}\n" for row in fresh)
            bar.advance()
    return [row for row in rows if row.match < matches]


def _read_rows(path: Path, run_key: str, row_class: type[Row]) -> list[Row]:
    check_output_path(path)
    if not path.exists() or not path.stat().st_size:
        path.write_text(f"{run_key}\n", "utf-8")
    complete, _, broken = read_text(path).text.rpartition("\n")
    head_line, *lines = complete.split("\n")
    if head_line != run_key:
        if not _is_json_object(head_line):
            raise ConfigError(f"{path} is no file of results; give another file.")
        raise ConfigError(f"{path} belongs to another run: {head_line}. Give another file.")
    try:
        rows = [row_class.model_validate_json(line) for line in lines]
    except ValidationError:
        raise ConfigError(f"{path} does not have these results; give another file.") from None
    if broken:  # the run was stopped in the middle of a line, and new lines are appended
        path.write_text(f"{complete}\n", "utf-8")
    return rows


def _is_json_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def check_output_path(path: Path) -> None:
    """Raise `ConfigError` if a long command could not write its file there at the end."""
    if path.is_dir():
        raise ConfigError(f"{path} is a folder; give a file.")
    if not path.parent.is_dir():
        raise ConfigError(f"There is no folder {path.parent}; create it, or give another file.")


class CheckpointHeader(BaseModel, frozen=True, extra="forbid"):
    """Base class of the first lines of checkpoints. The state of the training follows.

    `command` is the command of research that writes such a checkpoint.
    """

    command: ClassVar[str]

    @property
    def options(self) -> Mapping[str, object]:
        """Options of the training, on which its state depends."""
        raise NotImplementedError

    @property
    def state_size(self) -> int:
        """Bytes of the state."""
        raise NotImplementedError


Header = TypeVar("Header", bound=CheckpointHeader)


def save_checkpoint(path: Path, header: CheckpointHeader, parts: Iterable[bytes]) -> None:
    """Write a checkpoint; the previous file remains until the new one is complete."""
    unfinished = path.with_suffix(".part")
    unfinished.write_bytes(b"".join((header.model_dump_json().encode(), b"\n", *parts)))
    unfinished.replace(path)


def load_checkpoint(
    path: Path, header_class: type[Header], options: Mapping[str, object]
) -> tuple[Header, BytesIO] | None:
    """Return header and state of a checkpoint, None if there is none yet.

    Raises `ConfigError` for another file, and for a training with other options.
    """
    check_output_path(path)
    if not path.exists() or not path.stat().st_size:
        return None
    header, state = read_checkpoint(path, header_class)
    if header.options != options:
        raise ConfigError(
            f"{path} belongs to another run: {json.dumps(header.options)}. Give another file."
        )
    return header, state


def read_checkpoint(path: Path, header_class: type[Header]) -> tuple[Header, BytesIO]:
    """Return header and state of a checkpoint of any run; raise `ConfigError` for another file."""
    try:
        head_line, _, state = path.read_bytes().partition(b"\n")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; check the path.") from None
    try:
        header = header_class.model_validate_json(head_line)
    except ValidationError:
        raise ConfigError(
            f"{path} is no checkpoint of `research {header_class.command}`; give another file."
        ) from None
    if len(state) != header.state_size:
        raise ConfigError(
            f"{path} is damaged or of another version: it has {len(state)} bytes after its first "
            f"line, not {header.state_size}. Give another file."
        )
    return header, BytesIO(state)
