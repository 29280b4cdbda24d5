"""What wakes an arena in the cloud every few seconds while it is needed: one chain of messages.

Each tick has a number, its ticket, and sends the next one. A ticket is taken once, by the message
that comes first with it; every other message with the same or an earlier ticket finds it gone. So
whatever is sent, delivered or tried twice, late or out of order, there is one chain; and whoever
would begin one that is there already only has its next tick come sooner. The message that has a
ticket keeps it: where its function died, the queue delivers it again, and it goes on.

A chain that broke all the same (its message is a dead letter) has a ticket that stands still;
`broken` sees that the second time it looks.
"""

from datetime import timedelta

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cardsharp.cloud.aws import Unmet
from cardsharp.cloud.dynamodb_items import key, number, text
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.ports import Queue
from cardsharp.errors import Malformed

PAUSE = timedelta(seconds=5)
"""Between two ticks: so long, and what a tick takes, a turn goes on beyond its limit."""

_KEY = key("control", "director")


class Tick(BaseModel):
    """The message of a tick."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ticket: int = Field(ge=0)

    @classmethod
    def parse(cls, body: str) -> "Tick":
        """The tick of a message; raises `Malformed`."""
        try:
            return cls.model_validate_json(body)
        except ValidationError as error:
            raise Malformed(f"Not a tick: {error.errors()[0]['msg']}.") from None


class Ticks:
    """The chain whose ticket is in an arena's table and whose messages are on `queue`."""

    def __init__(self, table: DynamoTable, queue: Queue) -> None:
        self._table = table
        self._queue = queue

    def wake(self) -> None:
        """Have a tick come at once; call it after what it is to find has been written."""
        self._send(self._ticket())

    def take(self, ticket: int, holder: str) -> bool:
        """Whether the ticket is now, or was before, that of the message `holder`."""
        try:
            self._table.update(
                _KEY,
                "SET ticket = :next, holder = :holder",
                "attribute_not_exists(ticket) OR ticket = :ticket "
                "OR (ticket = :next AND holder = :holder)",
                {":ticket": number(ticket), ":next": number(ticket + 1), ":holder": text(holder)},
            )
        except Unmet:
            return False
        return True

    def follow(self, ticket: int) -> None:
        """Have the tick after that of `ticket` come in a while."""
        self._send(ticket + 1, PAUSE)

    def broken(self) -> int | None:
        """The ticket that nobody took since the last call of this, if it stood there already."""
        item = self._table.get(_KEY) or {}
        ticket, seen = (int(item[name]["N"]) if name in item else 0 for name in ("ticket", "seen"))
        if item and ticket == seen:
            return ticket
        always = "attribute_exists(pk) OR attribute_not_exists(pk)"
        self._table.update(_KEY, "SET seen = :ticket", always, {":ticket": number(ticket)})
        return None

    def _ticket(self) -> int:
        item = self._table.get(_KEY) or {}
        return int(item["ticket"]["N"]) if "ticket" in item else 0

    def _send(self, ticket: int, delay: timedelta = timedelta()) -> None:
        self._queue.send(Tick(ticket=ticket).model_dump_json(), delay)
