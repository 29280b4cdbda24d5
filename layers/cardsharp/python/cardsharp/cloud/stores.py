"""Which adapter a store's name means: `sqlite:FILE` or `dynamodb:TABLE`."""

from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Generic, TypeVar, cast

from cardsharp.cloud.ports import Clock
from cardsharp.errors import ConfigError

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Stores(Generic[T_co]):
    """The adapters of one port, as `module:name`, each made of a place and a clock.

    Only the one that is meant is imported: SQLite is not needed in the cloud, and boto3 is slow.
    `variable` is the environment variable that names the store.
    """

    variable: str
    sqlite: str
    dynamodb: str

    def open(self, name: str, clock: Clock) -> T_co:
        """The store of that name; in that of a file `~` is the home folder.

        Raises:
            ConfigError: it names none.
        """
        kind, _, place = name.partition(":")
        if kind == "sqlite" and place:
            return self._make(self.sqlite, Path(place).expanduser(), clock)
        if kind == "dynamodb" and place:
            return self._make(self.dynamodb, place, clock)
        raise ConfigError(f"{self.variable} must be sqlite:FILE or dynamodb:TABLE, not {name!r}.")

    def _make(self, adapter: str, place: str | Path, clock: Clock) -> T_co:
        return cast("T_co", resolve_name(adapter)(place, clock))
