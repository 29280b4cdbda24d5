"""Files from which a long command goes on: what it has found match by match, and checkpoints."""

import json
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from cardsharp.errors import ConfigError
from cardsharp.text_files import read_text
from workbench.show.progress import Bar


class OfMatch(BaseModel, frozen=True, extra="forbid"):
    """What was found in a match; a class of this is a line of the file."""

    match: int


Row = TypeVar("Row", bound=OfMatch)


def filled(
    path: Path | None, head: str, row: type[Row], matches: int, find: Callable[[int], Sequence[Row]]
) -> list[Row]:
    """The rows of so many matches; what is not in `path` is found, and kept there match by match.

    The file begins with the `head`, on which its rows hang. Raises `ConfigError` where it is of
    another run, or none of these.
    """
    rows = [] if path is None else _read(path, head, row)
    first = max((one.match for one in rows), default=-1) + 1
    with Bar(matches, "matches", done=min(first, matches)) as bar:
        for number in range(first, matches):
            fresh = find(number)
            rows += fresh
            if path is not None:
                with path.open("a", encoding="utf-8") as out:
                    out.writelines(f"{one.model_dump_json()}\n" for one in fresh)
            bar.advance()
    return [one for one in rows if one.match < matches]


def _read(path: Path, head: str, row: type[Row]) -> list[Row]:
    if not path.exists():
        path.write_text(f"{head}\n", "utf-8")
    first, *lines = read_text(path).text.rpartition("\n")[0].split("\n")
    if first != head:
        raise ConfigError(f"{path} is of another run: {first}. Give another file.")
    try:
        return [row.model_validate_json(line) for line in lines]
    except ValidationError:
        raise ConfigError(f"{path} does not hold what this finds; give another file.") from None


def save(path: Path, head: object, parts: Iterable[bytes]) -> None:
    """Write a checkpoint; the one before it stays until this one is whole."""
    unfinished = path.with_suffix(".part")
    unfinished.write_bytes(b"".join((json.dumps(head).encode(), b"\n", *parts)))
    unfinished.replace(path)


def restored(path: Path, name: str, of: object) -> tuple[dict[str, Any], BytesIO]:
    """The head of a checkpoint and what is below it; both empty where there is none.

    Raises `ConfigError` where its head has another `name` than `of`.
    """
    file = BytesIO(path.read_bytes() if path.exists() else b"{}")
    head = json.loads(file.readline())
    if head and head[name] != of:
        raise ConfigError(f"{path} is of another run: {name} {head[name]}. Name another file.")
    return head, file
