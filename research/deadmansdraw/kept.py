"""Files from which a long command goes on: what it has found match by match, and checkpoints."""

import json
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from cardsharp.errors import ConfigError
from workbench.show.progress import Bar


class OfMatch(BaseModel):
    """What was found in a match; a class of this is a line of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    match: int


Row = TypeVar("Row", bound=OfMatch)


class Kept(Generic[Row]):
    """The rows so far, in `path` where that is not None, below its `head`, on which they hang.

    Raises `ConfigError` where the file is of another run, or none of these.
    """

    def __init__(self, path: Path | None, head: str, row: type[Row]) -> None:
        self._path, self.rows = path, list[Row]()
        if path is None:
            return
        if not path.exists():
            path.write_text(f"{head}\n", "utf-8")
        first, *lines = path.read_text("utf-8").rpartition("\n")[0].splitlines() or [""]
        if first != head:
            raise ConfigError(f"{path} is of another run: {first}. Give another file.")
        try:
            self.rows = [row.model_validate_json(line) for line in lines]
        except ValidationError:
            raise ConfigError(f"{path} does not hold what this finds; give another file.") from None

    @property
    def next(self) -> int:
        """The first match that is not there."""
        return max((row.match for row in self.rows), default=-1) + 1

    def filled(self, matches: int, find: Callable[[int], Sequence[Row]]) -> list[Row]:
        """The rows of so many matches; what is not there is found, and kept match by match."""
        with Bar(matches, "matches", done=min(self.next, matches)) as bar:
            for number in range(self.next, matches):
                fresh = find(number)
                self.rows += fresh
                if self._path is not None:
                    with self._path.open("a", encoding="utf-8") as out:
                        out.writelines(f"{row.model_dump_json()}\n" for row in fresh)
                bar.advance()
        return [row for row in self.rows if row.match < matches]


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
