"""Contests of a deployed stack: creation, opening and progress."""

import time
from dataclasses import dataclass
from functools import cached_property

from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.aws.sqs_queue import SqsQueue
from cardsharp.contest.repository import ContestRepository
from cardsharp.core.clock import SystemClock
from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.arena.director_ticks import TICK_INTERVAL, send_immediate_tick
from cardsharp.store.dynamodb_documents import DynamoDocumentStore
from cardsharp_tools.operations.stack import Stack


@dataclass(frozen=True)
class StackContests:
    """Contests in the arena of a stack."""

    stack: Stack

    @property
    def arena_url(self) -> str:
        """URL of the arena for teams."""
        return self.stack.output("ArenaUrl")

    @cached_property
    def _arena_table(self) -> DynamoTable:
        table_name = self.stack.ids.get("ArenaTable")
        if not table_name:
            raise ConfigError(
                f"The stack {self.stack.name} has no arena. Name a stack with an arena by --stack, "
                "or deploy one: cardsharp cloud deploy --stage arena (docs/arena.md)."
            )
        return DynamoTable(table_name, self.stack.client("dynamodb"))

    @property
    def repository(self) -> ContestRepository:
        """Repository of the contests."""
        dynamodb = self.stack.client("dynamodb")
        return ContestRepository(
            DynamoDocumentStore(self._arena_table.name, SystemClock(), dynamodb)
        )

    def wake_director(self) -> None:
        """Make the director act at once instead of within two minutes."""
        send_immediate_tick(
            self._arena_table,
            lambda url: SqsQueue(url, self.stack.client("sqs")),
            self.stack.ids.get("Ticks"),
        )

    @staticmethod
    def wait_for_tick() -> None:
        """Wait until the next tick of a contest may have changed something."""
        time.sleep(TICK_INTERVAL.total_seconds() / 2)
