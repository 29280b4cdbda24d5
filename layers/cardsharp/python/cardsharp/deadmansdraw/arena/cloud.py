"""The arena as many processes that know each other by one DynamoDB table alone."""

import hmac
import secrets
from collections.abc import Callable
from datetime import timedelta

from pydantic import SecretStr

from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.deadmansdraw.arena.app import Arena
from cardsharp.deadmansdraw.arena.config import ArenaConfig, Place
from cardsharp.deadmansdraw.arena.lobby import Moved, nobody_told
from cardsharp.deadmansdraw.arena.players import Book
from cardsharp.deadmansdraw.arena.presence import TablePresence
from cardsharp.deadmansdraw.arena.table import TableCounts, TableLobby
from cardsharp.deadmansdraw.arena.teams import Teams
from cardsharp.deadmansdraw.arena.waiting import Polling


class CloudArena(Arena):
    """An arena in a table; `word` brings the organiser's password, None where there is none.

    `life` is how long a match is kept after its last move, and `moved` is told of every move.
    """

    def __init__(
        self,
        config: ArenaConfig,
        table: DynamoTable,
        word: Callable[[], SecretStr | None],
        *,
        life: timedelta,
        moved: Moved = nobody_told,
    ) -> None:
        chance = secrets.token_bytes(32)

        def seal() -> bytes:
            """What all processes have in common: so each knows the nonces of the others."""
            known = word()
            secret = chance if known is None else known.get_secret_value().encode()
            return hmac.digest(secret, b"nonces", "sha256")

        lobby = TableLobby(table, life, moved)
        teams = Teams(table, config.clock) if config.teams is None else config.teams
        place = Place(
            lobby=lobby,
            waiting=Polling(lobby.look),
            book=Book(teams, word),
            counts=TableCounts(table, config.clock),
            presence=TablePresence(table),
            seal=seal,
            name="dynamodb",
            waits_cost=True,
        )
        super().__init__(config, place)
