"""Storage: the document store and the match log, each for SQLite and for DynamoDB.

Look first at `DocumentStore`, the port for what is read and replaced by its key: games, deals,
contests, secrets. `MatchLog` is the port under which the bot stores matches, moves and leases.
A `StoreFactory` opens what is stored in documents, by a location such as `sqlite:FILE` or
`dynamodb:TABLE`. Stores outside this package that are beside both ports use the same
`SqliteFile` and `DynamoTable`; docs/architecture.md lists them.
"""

from typing import TYPE_CHECKING

from cardsharp.core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from cardsharp.store.codec import decode, encode
    from cardsharp.store.documents import (
        Delete,
        Document,
        DocumentStore,
        Increment,
        Key,
        Put,
        Write,
        try_commit,
    )
    from cardsharp.store.dynamodb_documents import DynamoDocumentStore
    from cardsharp.store.dynamodb_match_log import DynamoMatchLog
    from cardsharp.store.dynamodb_match_reader import DynamoMatchReader
    from cardsharp.store.factories import StoreFactory
    from cardsharp.store.match_log import (
        Body,
        DebugNote,
        ExpiredLease,
        Lease,
        MatchLog,
        MatchReader,
        MatchRecord,
        MatchStatus,
        MoveRecord,
    )
    from cardsharp.store.match_log_factory import build_match_log
    from cardsharp.store.match_snapshots import MatchSnapshot, SnapshotMatchReader
    from cardsharp.store.secret_vault import SecretVault
    from cardsharp.store.sqlite_documents import SqliteDocumentStore
    from cardsharp.store.sqlite_file import SqliteFile
    from cardsharp.store.sqlite_match_log import SqliteMatchLog

__all__ = (
    "Body",
    "DebugNote",
    "Delete",
    "Document",
    "DocumentStore",
    "DynamoDocumentStore",
    "DynamoMatchLog",
    "DynamoMatchReader",
    "ExpiredLease",
    "Increment",
    "Key",
    "Lease",
    "MatchLog",
    "MatchReader",
    "MatchRecord",
    "MatchSnapshot",
    "MatchStatus",
    "MoveRecord",
    "Put",
    "SecretVault",
    "SnapshotMatchReader",
    "SqliteDocumentStore",
    "SqliteFile",
    "SqliteMatchLog",
    "StoreFactory",
    "Write",
    "build_match_log",
    "decode",
    "encode",
    "try_commit",
)

__getattr__ = lazy_exports(
    __name__,
    {
        "Body": "match_log",
        "DebugNote": "match_log",
        "Delete": "documents",
        "Document": "documents",
        "DocumentStore": "documents",
        "DynamoDocumentStore": "dynamodb_documents",
        "DynamoMatchLog": "dynamodb_match_log",
        "DynamoMatchReader": "dynamodb_match_reader",
        "ExpiredLease": "match_log",
        "Increment": "documents",
        "Key": "documents",
        "Lease": "match_log",
        "MatchLog": "match_log",
        "MatchReader": "match_log",
        "MatchRecord": "match_log",
        "MatchSnapshot": "match_snapshots",
        "MatchStatus": "match_log",
        "MoveRecord": "match_log",
        "Put": "documents",
        "SecretVault": "secret_vault",
        "SnapshotMatchReader": "match_snapshots",
        "SqliteDocumentStore": "sqlite_documents",
        "SqliteFile": "sqlite_file",
        "SqliteMatchLog": "sqlite_match_log",
        "StoreFactory": "factories",
        "Write": "documents",
        "build_match_log": "match_log_factory",
        "decode": "codec",
        "encode": "codec",
        "try_commit": "documents",
    },
)
