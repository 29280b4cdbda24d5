"""What a long command has found, match by match, in a file from which the same command goes on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from cardsharp.errors import ConfigError


class OfMatch(BaseModel):
    """What was found in a match; a class of this is a line of the file."""

    match: int


Row = TypeVar("Row", bound=OfMatch)


class Kept(Generic[Row]):
    """The rows so far, in `path` where that is not None, below its `head`.

    The head tells what the rows hang on.

    Raises:
        ConfigError: the file is of another run, or none of these.
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

    def add(self, fresh: Sequence[Row]) -> None:
        """Keep what was found in one more match."""
        self.rows += fresh
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as out:
                out.writelines(f"{row.model_dump_json()}\n" for row in fresh)
