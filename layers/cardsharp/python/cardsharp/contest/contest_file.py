"""A contest in a SQLite file, in a folder of its own."""

from pathlib import Path

from cardsharp.contest.models import ContestSettings
from cardsharp.contest.repository import ContestRepository
from cardsharp.contest.results import ContestRecords
from cardsharp.core.clock import SystemClock
from cardsharp.errors import ConfigError
from cardsharp.store.factories import StoreFactory

FILE = "contest.db"

_STORE = StoreFactory(
    lambda keep, _: ContestRepository(keep),
    "the contest's folder",
    "contest's file",
    Path(__file__).with_name("contest.sql"),
)


def create_in(folder: Path, settings: ContestSettings) -> ContestRecords:
    """A new contest in `folder`; raises `ConfigError` where one is, or where none can be."""
    if (folder / FILE).exists():
        raise ConfigError(f"There is a contest in {folder} already.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be made: {error.strerror}.") from None
    return _STORE.open_file(folder / FILE, SystemClock()).create(settings)


def open_in(folder: Path) -> ContestRecords:
    """The contest of a folder, whatever its name; raises `ConfigError` where there is none."""
    none = ConfigError(f"There is no contest in {folder}; `cardsharp contest new` founds one.")
    if not (folder / FILE).exists():
        raise none
    contests = _STORE.open_file(folder / FILE, SystemClock())
    for name in contests.names():
        return contests.get(name)
    raise none
