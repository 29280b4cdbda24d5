"""A contest in a SQLite file, in a folder of its own."""

from pathlib import Path

from cardsharp.contest.models import ContestSettings
from cardsharp.contest.repository import ContestRepository
from cardsharp.contest.results import ContestRecords
from cardsharp.core.clock import SystemClock
from cardsharp.errors import ConfigError
from cardsharp.store.factories import StoreFactory

CONTEST_FILE_NAME = "contest.db"

_STORE = StoreFactory(
    lambda keep, _: ContestRepository(keep),
    "the contest's folder",
    "contest's file",
    Path(__file__).with_name("contest.sql"),
)


def create_contest_in(folder: Path, settings: ContestSettings) -> ContestRecords:
    """Create a contest in `folder`; raise `ConfigError` if it has one or cannot be written."""
    if (folder / CONTEST_FILE_NAME).exists():
        raise ConfigError(f"The folder {folder} already contains a contest. Choose another one.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"The folder {folder} cannot be created: {error.strerror}.") from None
    return _STORE.open_file(folder / CONTEST_FILE_NAME, SystemClock()).create(settings)


def open_contest_in(folder: Path) -> ContestRecords:
    """Return the contest of a folder, whatever its name; raise `ConfigError` if it has none."""
    none = ConfigError(
        f"The folder {folder} contains no contest. Create one with `cardsharp contest new`."
    )
    if not (folder / CONTEST_FILE_NAME).exists():
        raise none
    contests = _STORE.open_file(folder / CONTEST_FILE_NAME, SystemClock())
    for name in contests.contest_names():
        return contests.get(name)
    raise none
