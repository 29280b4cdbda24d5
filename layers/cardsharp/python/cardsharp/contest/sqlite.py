"""A contest in a SQLite file, in a folder of its own."""

from pathlib import Path

from cardsharp.cloud.clock import SystemClock
from cardsharp.contest.entries import Settings
from cardsharp.contest.kept import ContestsKept
from cardsharp.contest.records import Records
from cardsharp.errors import ConfigError
from cardsharp.keep.stores import Store

FILE = "contest.db"

_STORE = Store(
    lambda keep, _: ContestsKept(keep),
    "the contest's folder",
    "contest's file",
    Path(__file__).with_name("contest.sql"),
)


def found_in(folder: Path, settings: Settings) -> Records:
    """A new contest in `folder`; raises `ConfigError` where one is, or where none can be."""
    if (folder / FILE).exists():
        raise ConfigError(f"There is a contest in {folder} already.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be made: {error.strerror}.") from None
    return _STORE.in_file(folder / FILE, SystemClock()).found(settings)


def kept_in(folder: Path) -> Records:
    """The contest of a folder, whatever its name; raises `ConfigError` where there is none."""
    none = ConfigError(f"There is no contest in {folder}; `cardsharp contest new` founds one.")
    if not (folder / FILE).exists():
        raise none
    contests = _STORE.in_file(folder / FILE, SystemClock())
    for name in contests.names():
        return contests.named(name)
    raise none
