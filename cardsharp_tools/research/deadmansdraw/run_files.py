"""Files from which a long command resumes: results by match, and checkpoints."""

import json
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

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
    if not path.exists():
        path.write_text(f"{run_key}\n", "utf-8")
    head_line, *lines = read_text(path).text.rpartition("\n")[0].split("\n")
    if head_line != run_key:
        raise ConfigError(f"{path} belongs to another run: {head_line}. Give another file.")
    try:
        return [row_class.model_validate_json(line) for line in lines]
    except ValidationError:
        raise ConfigError(f"{path} does not have these results; give another file.") from None


def save_checkpoint(path: Path, header: object, parts: Iterable[bytes]) -> None:
    """Write a checkpoint; the previous file remains until the new one is complete."""
    unfinished = path.with_suffix(".part")
    unfinished.write_bytes(b"".join((json.dumps(header).encode(), b"\n", *parts)))
    unfinished.replace(path)


def load_checkpoint(
    path: Path, header_key: str, expected_value: object
) -> tuple[dict[str, Any], BytesIO]:
    """Return header and body of a checkpoint; both are empty if there is none.

    Raises `ConfigError` if the header's value of `header_key` is not `expected_value`.
    """
    file = BytesIO(path.read_bytes() if path.exists() else b"{}")
    head = json.loads(file.readline())
    if head and head[header_key] != expected_value:
        raise ConfigError(
            f"{path} belongs to another run: {header_key} {head[header_key]}. Give another file."
        )
    return head, file
