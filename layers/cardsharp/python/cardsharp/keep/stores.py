"""Which keep a store's name means: `sqlite:FILE` or `dynamodb:TABLE`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from cardsharp.cloud.ports import Clock
from cardsharp.errors import ConfigError
from cardsharp.keep.port import Keep

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

    from cardsharp.keep.sqlite import SqliteKeep

T_co = TypeVar("T_co", covariant=True)


class Store(NamedTuple, Generic[T_co]):
    """A store, which `make` makes over a keep, in a file or in a table of DynamoDB.

    Only the adapter that is meant is imported: SQLite is not needed in the cloud, and boto3 is
    slow. `variable` is the environment variable that names the store, `what` the words for its
    file. The steps of `script` make the file, and `table` says by which names the table has what
    version 0.2 kept (decision 20).
    """

    make: Callable[[Keep, Clock], T_co]
    variable: str
    what: str = "file of documents"
    script: Path = Path(__file__).with_name("documents.sql")
    table: Mapping[str, Any] = {}

    def open(self, name: str, clock: Clock) -> T_co:
        """The store of that name, `~` the home folder in a file's; raises `ConfigError`."""
        kind, _, place = name.partition(":")
        if kind == "sqlite" and place:
            return self.in_file(Path(place).expanduser(), clock)
        if kind == "dynamodb" and place:
            return self.in_table(place, clock)
        raise ConfigError(f"{self.variable} must be sqlite:FILE or dynamodb:TABLE, not {name!r}.")

    def in_file(self, path: str | Path, clock: Clock) -> T_co:
        """The one in a file, made with its folder if that is not there, or `:memory:`."""
        return self.make(self.kept_in(path, clock), clock)

    def kept_in(self, path: str | Path, clock: Clock, *, to_read: bool = False) -> "SqliteKeep":
        """What keeps it in a file, which must be there `to_read` it."""
        from cardsharp.cloud.sqlite_file import Contents, steps_in  # noqa: PLC0415 - as said
        from cardsharp.keep.sqlite import SqliteKeep  # noqa: PLC0415 - as said

        contents = Contents(self.what, self.variable, steps_in(self.script))
        return SqliteKeep(path, clock, contents, to_read=to_read)

    def in_table(self, table: str, clock: Clock, client: "DynamoDBClient | None" = None) -> T_co:
        """The one in the DynamoDB table of that name, which may have other things too."""
        from cardsharp.keep.dynamodb import DynamoKeep  # noqa: PLC0415 - as said

        return self.make(DynamoKeep(table, clock, client, **self.table), clock)
