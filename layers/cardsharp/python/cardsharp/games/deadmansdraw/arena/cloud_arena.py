"""The arena as many processes that know each other by one DynamoDB table alone."""

import hmac
import secrets
from collections.abc import Callable
from datetime import timedelta

from pydantic import SecretStr

from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.games.deadmansdraw.arena.access.dynamo_players import DynamoPlayers
from cardsharp.games.deadmansdraw.arena.access.presence import DynamoPresence
from cardsharp.games.deadmansdraw.arena.access.users import UserDirectory
from cardsharp.games.deadmansdraw.arena.app import Arena
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig, ArenaDependencies
from cardsharp.games.deadmansdraw.arena.long_poll import TableLongPoll
from cardsharp.games.deadmansdraw.arena.storage.dynamo_repository import (
    DynamoMatchRepository,
    DynamoWindowCounter,
)
from cardsharp.games.deadmansdraw.arena.storage.match_repository import (
    MoveListener,
    ignore_move,
)


class CloudArena(Arena):
    """An arena in a DynamoDB table.

    `admin_password` returns the organiser's password, or None if there is no organiser. A match
    is stored for `retention` after its last move, and `on_move` is called with it after every
    move.
    """

    def __init__(
        self,
        config: ArenaConfig,
        table: DynamoTable,
        admin_password: Callable[[], SecretStr | None],
        *,
        retention: timedelta,
        on_move: MoveListener = ignore_move,
    ) -> None:
        random_key = secrets.token_bytes(32)

        def seal() -> bytes:
            """Return the nonce key of all processes: each accepts the nonces of the others."""
            password = admin_password()
            secret = random_key if password is None else password.get_secret_value().encode()
            return hmac.digest(secret, b"nonces", "sha256")

        lobby = DynamoMatchRepository(table, retention, on_move)
        teams = (
            DynamoPlayers(table, config.clock)
            if config.load_players is None
            else config.load_players
        )
        backend = ArenaDependencies(
            matches=lobby,
            long_poll=TableLongPoll(lobby.topic_version),
            users=UserDirectory(teams, admin_password),
            window_counter=DynamoWindowCounter(table, config.clock),
            presence=DynamoPresence(table),
            nonce_key=seal,
            name="dynamodb",
            is_wait_billed=True,
        )
        super().__init__(config, backend)
