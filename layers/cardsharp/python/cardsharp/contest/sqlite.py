"""A contest in a SQLite file, in a folder of its own."""

from pathlib import Path

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.sqlite_file import Contents, steps_in
from cardsharp.contest.entries import Settings
from cardsharp.contest.kept import ContestsKept
from cardsharp.contest.records import Records
from cardsharp.errors import ConfigError
from cardsharp.keep.sqlite import SqliteKeep

FILE = "contest.db"

_CONTENTS = Contents(
    "contest's file", "the contest's folder", steps_in(Path(__file__).with_name("contest.sql"))
)


def found_in(folder: Path, settings: Settings) -> Records:
    """A new contest in `folder`; raises `ConfigError` where one is, or where none can be."""
    if (folder / FILE).exists():
        raise ConfigError(f"There is a contest in {folder} already.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be made: {error.strerror}.") from None
    return _contests(folder).found(settings)


def kept_in(folder: Path) -> Records:
    """The contest of a folder, whatever its name; raises `ConfigError` where there is none."""
    none = ConfigError(f"There is no contest in {folder}; `cardsharp contest new` founds one.")
    if not (folder / FILE).exists():
        raise none
    contests = _contests(folder)
    for name in contests.names():
        return contests.named(name)
    raise none


def _contests(folder: Path) -> ContestsKept:
    return ContestsKept(SqliteKeep(folder / FILE, SystemClock(), _CONTENTS))
