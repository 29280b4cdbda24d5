"""What wakes an arena in the cloud every few seconds while it is needed: one chain of messages.

Each tick has a number, its ticket, and sends the next one. A ticket is taken once, by the message
that comes first with it; every other message with the same or an earlier ticket finds it gone. So
whatever is sent, delivered or tried twice, late or out of order, there is one chain; and whoever
would begin one that is there already only has its next tick come sooner. The message that has a
ticket keeps it: where its function died, the queue delivers it again, and it goes on.

A chain that broke all the same (its message is a dead letter) has a ticket that stands still;
`broken` sees that the second time it looks.

| pk      | sk       | attributes                                                        |
|---------|----------|-------------------------------------------------------------------|
| control | director | ticket, the next to be taken; holder, of the last one; seen, what |
|         |          | `broken` saw; queue_url, where the messages go                    |
"""

import logging
from collections.abc import Callable
from datetime import timedelta

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cardsharp.cloud.aws import Unmet
from cardsharp.cloud.dynamodb_items import Item, key, number, text
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.messages import MatchMessage
from cardsharp.cloud.ports import NOW, Queue
from cardsharp.cloud.sqs import SqsQueue
from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.errors import Malformed, StoreError

PAUSE = timedelta(seconds=5)  # between two ticks, by which a late turn goes on as well
_KEY = key("control", "director")
_ALWAYS = "attribute_exists(pk) OR attribute_not_exists(pk)"
_log = logging.getLogger(__name__)


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
    """The chain as its functions have it, in an arena's table; `queue` is that at `url`."""

    def __init__(self, table: DynamoTable, queue: Queue, url: str) -> None:
        self._table = table
        self._queue = queue
        self._url = url

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
        _send(self._queue, ticket + 1, PAUSE)

    def broken(self) -> int | None:
        """The ticket that nobody took since the last call of this, if it stood there already."""
        item = self._table.get(_KEY) or {}
        ticket = _number(item, "ticket")
        if item and ticket == _number(item, "seen") and item["queue_url"]["S"] == self._url:
            return ticket
        seen = {":ticket": number(ticket), ":url": text(self._url)}
        self._table.update(_KEY, "SET seen = :ticket, queue_url = :url", _ALWAYS, seen)
        return None


def wake(table: DynamoTable, queue: Callable[[str], Queue] = SqsQueue) -> bool:
    """Have a tick come at once; call it after what it is to find has been written.

    `queue` makes the queue at an address. False where nothing has told yet where ticks go: what
    is deployed tells it within a minute, and looks for itself a minute after that.
    """
    item = table.get(_KEY) or {}
    if "queue_url" in item:
        _send(queue(item["queue_url"]["S"]), _number(item, "ticket"))
    return "queue_url" in item


def tells_of_moves(
    table: DynamoTable, is_played: Callable[[str | None], object], *, wakes: bool
) -> Callable[[Match], None]:
    """Sends what a move has to follow: a turn to play, and where it `wakes`, a tick.

    A turn is played of those for whom it `is_played`, and a tick comes for every match that is new.
    What could not be sent is sent again by a tick, and that by the schedule.
    """

    def moved(match: Match) -> None:
        try:
            if wakes and match.moves == 1:
                wake(table)
            item = (table.get(_KEY) or {}) if is_played(match.active_player) else {}
            if "queue_url" in item:
                SqsQueue(item["queue_url"]["S"]).send(MatchMessage(match_id=match.id).body)
        except StoreError:
            _log.exception("What follows a move in match %s could not be sent", match.id)

    return moved


def _send(queue: Queue, ticket: int, delay: timedelta = NOW) -> None:
    queue.send(Tick(ticket=ticket).model_dump_json(), delay)


def _number(item: Item, name: str) -> int:
    return int(item[name]["N"]) if name in item else 0
