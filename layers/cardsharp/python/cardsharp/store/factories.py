"""Document stores by their setting: `sqlite:FILE` or `dynamodb:TABLE`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from cardsharp.core.clock import Clock
from cardsharp.store.documents import DocumentStore
from cardsharp.store.locations import dynamodb_table_name, invalid_location_error, sqlite_path

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

    from cardsharp.store.sqlite_documents import SqliteDocumentStore

T_co = TypeVar("T_co", covariant=True)


class StoreFactory(NamedTuple, Generic[T_co]):
    """Factory of a store: `build` creates it over documents in a file or a DynamoDB table.

    Only the adapter that is needed is imported: SQLite is not used in the cloud, and boto3 is
    slow to import. `setting_name` is the environment variable that names the store, and
    `description` names its file in messages. The migrations in `schema_file` create the file.
    `dynamodb_options` has the attribute names of tables from version 0.2 (decision 20).
    """

    build: Callable[[DocumentStore, Clock], T_co]
    setting_name: str
    description: str = "file of documents"
    schema_file: Path = Path(__file__).with_name("documents.sql")
    dynamodb_options: Mapping[str, Any] = {}

    def open(self, location: str, clock: Clock) -> T_co:
        """Return the store at this location; raise `ConfigError` if it is invalid."""
        path, table = sqlite_path(location), dynamodb_table_name(location)
        if path is not None:
            return self.open_file(path, clock)
        if table is not None:
            return self.open_dynamodb_store(table, clock)
        raise invalid_location_error(self.setting_name, location)

    def open_file(self, path: str | Path, clock: Clock) -> T_co:
        """Return the store in a file or `:memory:`; the file is created if missing."""
        return self.build(self.open_sqlite_document_store(path, clock), clock)

    def open_sqlite_document_store(
        self, path: str | Path, clock: Clock, *, read_only: bool = False
    ) -> "SqliteDocumentStore":
        """Return the document store in a file, which must exist if `read_only`."""
        from cardsharp.store.sqlite_documents import SqliteDocumentStore  # noqa: PLC0415 - as said
        from cardsharp.store.sqlite_file import FileSchema, parse_migrations  # noqa: PLC0415 - as said

        contents = FileSchema(
            self.description, self.setting_name, parse_migrations(self.schema_file)
        )
        return SqliteDocumentStore(path, clock, contents, read_only=read_only)

    def open_dynamodb_store(
        self, table: str, clock: Clock, client: "DynamoDBClient | None" = None
    ) -> T_co:
        """Return the store in a DynamoDB table, which may have other items too."""
        from cardsharp.store.dynamodb_documents import DynamoDocumentStore  # noqa: PLC0415 - as said

        return self.build(DynamoDocumentStore(table, clock, client, **self.dynamodb_options), clock)
