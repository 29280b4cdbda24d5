"""The contests of a deployed stack: founded, opened, and had go on."""

import time
from dataclasses import dataclass
from functools import cached_property

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.sqs import SqsQueue
from cardsharp.contest.kept import ContestsKept
from cardsharp.deadmansdraw.arena.ticks import PAUSE, wake
from cardsharp.deadmansdraw.game import GAME
from cardsharp.errors import ConfigError
from cardsharp.keep.dynamodb import DynamoKeep
from workbench.operate.stack import Stack


@dataclass(frozen=True)
class Contests:
    """The contests in the arena of a stack."""

    stack: Stack

    @property
    def url(self) -> str:
        """Where teams find the arena."""
        return self.stack.output(f"{GAME.name}Url")

    @cached_property
    def _table(self) -> DynamoTable:
        found = self.stack.ids.get(f"{GAME.name}Table")
        if not found:
            raise ConfigError(
                f"The stack {self.stack.name} has no arena; name one that has with --stack, or "
                "deploy one: sam deploy --config-env arena (docs/arena.md)."
            )
        return DynamoTable(found, self.stack.client("dynamodb"))

    @property
    def kept(self) -> ContestsKept:
        """What is kept of them."""
        dynamodb = self.stack.client("dynamodb")
        return ContestsKept(DynamoKeep(self._table.name, SystemClock(), dynamodb))

    def go_on(self) -> None:
        """Have the director look at once, and not only within two minutes."""
        wake(self._table, lambda url: SqsQueue(url, self.stack.client("sqs")))

    @staticmethod
    def wait() -> None:
        """Wait between two looks at a contest: nothing new is there before a tick."""
        time.sleep(PAUSE.total_seconds() / 2)
