"""Which adapter a store's name means: `sqlite:FILE` or `dynamodb:TABLE`."""

from collections.abc import Callable
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from cardsharp.cloud.ports import Clock
from cardsharp.errors import ConfigError
from cardsharp.game import Part

T_co = TypeVar("T_co", covariant=True)


class Stores(NamedTuple, Generic[T_co]):
    """The adapters of one port, each made of a place and a clock.

    Only the one that is meant is imported: SQLite is not needed in the cloud, and boto3 is slow.
    `variable` is the environment variable that names the store.
    """

    variable: str
    sqlite: Part[Callable[[Path, Clock], T_co]]
    dynamodb: Part[Callable[[str, Clock], T_co]]

    def open(self, name: str, clock: Clock) -> T_co:
        """The store of that name, `~` the home folder in a file's; raises `ConfigError`."""
        kind, _, place = name.partition(":")
        if kind == "sqlite" and place:
            return self.sqlite.load()(Path(place).expanduser(), clock)
        if kind == "dynamodb" and place:
            return self.dynamodb.load()(place, clock)
        raise ConfigError(f"{self.variable} must be sqlite:FILE or dynamodb:TABLE, not {name!r}.")
