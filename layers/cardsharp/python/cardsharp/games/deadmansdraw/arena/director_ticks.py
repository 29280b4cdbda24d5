"""Ticks that run the director of a cloud arena every few seconds: one chain of messages.

Each tick has a number, its ticket, and sends the next tick. The first message with a ticket
claims it; any other message with the same or an earlier ticket is ignored. So there is one
chain, even if messages are sent or delivered twice, late or out of order. Starting a chain that
already runs only makes its next tick come sooner. The message that claimed a ticket stays its
holder: if its function dies, the queue delivers the message again and the chain continues.

If a chain breaks all the same, because its message became a dead letter, its ticket no longer
advances. `TickChain.stalled_ticket` detects that on its second call.

| pk      | sk       | attributes                                                        |
|---------|----------|-------------------------------------------------------------------|
| control | director | ticket, the next to claim; holder, of the last one; seen, by      |
|         |          | `stalled_ticket`; queue_url, where the messages go, by both       |
"""

import logging
from collections.abc import Callable
from datetime import timedelta

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cardsharp.aws.client import ConditionFailed
from cardsharp.aws.dynamodb_attributes import Item, item_key, number_attribute, string_attribute
from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.aws.sqs_queue import SqsQueue
from cardsharp.bot.queueing.messages import MatchMessage
from cardsharp.core.queue import NO_DELAY, Queue
from cardsharp.errors import InvalidInput, StoreError
from cardsharp.games.deadmansdraw.arena.match import ArenaMatch

TICK_INTERVAL = timedelta(seconds=5)  # between two ticks, by which a late turn goes on as well
_TICKET_KEY = item_key("control", "director")
_log = logging.getLogger(__name__)


class TickMessage(BaseModel):
    """The message of a tick."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ticket: int = Field(ge=0)

    @classmethod
    def parse(cls, body: str) -> "TickMessage":
        """Parse the tick of a message; raise `InvalidInput`."""
        try:
            return cls.model_validate_json(body)
        except ValidationError as error:
            raise InvalidInput(f"The message is not a tick: {error.errors()[0]['msg']}.") from None


class TickChain:
    """Chain of the director's ticks: each tick claims its ticket and sends the next one.

    Its state is in an arena's table; `queue` is the queue at `url`.
    """

    def __init__(self, table: DynamoTable, queue: Queue, url: str) -> None:
        self._table = table
        self._queue = queue
        self._queue_url = url

    def claim(self, ticket: int, message_id: str) -> bool:
        """Claim a ticket for a message; return True if the message holds it, or held it already."""
        try:
            self._table.update_and_return(
                _TICKET_KEY,
                "SET ticket = :next, holder = :holder, queue_url = :url",
                "attribute_not_exists(ticket) OR ticket = :ticket "
                "OR (ticket = :next AND holder = :holder)",
                {
                    ":ticket": number_attribute(ticket),
                    ":next": number_attribute(ticket + 1),
                    ":holder": string_attribute(message_id),
                    ":url": string_attribute(self._queue_url),
                },
            )
        except ConditionFailed:
            return False
        return True

    def schedule_next(self, ticket: int) -> None:
        """Send the tick that follows `ticket`, delayed by the tick interval."""
        _send_tick(self._queue, ticket + 1, TICK_INTERVAL)

    def stalled_ticket(self) -> int | None:
        """Return the current ticket if it has not advanced since the last call, else None."""
        item = self._table.get(_TICKET_KEY) or {}
        ticket = _read_number(item, "ticket")
        if (
            item
            and ticket == _read_number(item, "seen")
            and item["queue_url"]["S"] == self._queue_url
        ):
            return ticket
        expression_values = {
            ":ticket": number_attribute(ticket),
            ":url": string_attribute(self._queue_url),
        }
        self._table.update_and_return(
            _TICKET_KEY, "SET seen = :ticket, queue_url = :url", "", expression_values
        )
        return None


def send_immediate_tick(
    table: DynamoTable,
    queue: Callable[[str], Queue] = SqsQueue,
    new_stack_url: str | None = None,
) -> bool:
    """Send a tick without delay; call it once the changes that it is to see are written.

    `queue` makes the queue at an address. The deployed director stores that address within a
    minute; until then it is `new_stack_url`. Returns False if neither is known: the director
    then checks by itself a minute later.
    """
    item = table.get(_TICKET_KEY) or {}
    url = item["queue_url"]["S"] if "queue_url" in item else new_stack_url
    if url is not None:
        _send_tick(queue(url), _read_number(item, "ticket"))
    return url is not None


def build_move_notifier(
    table: DynamoTable, is_house_player: Callable[[str | None], object], *, wake_director: bool
) -> Callable[[ArenaMatch], None]:
    """Return a listener that sends the messages that follow a move.

    If `is_house_player` is true of the player to move, that is a turn to play. If
    `wake_director`, a new match also sends a tick. A message that could not be sent is sent
    again by the next tick, and a tick by the schedule.
    """

    def moved(match: ArenaMatch) -> None:
        try:
            if wake_director and match.moves == 1:
                send_immediate_tick(table)
            item = (table.get(_TICKET_KEY) or {}) if is_house_player(match.active_player) else {}
            if "queue_url" in item:
                SqsQueue(item["queue_url"]["S"]).send(MatchMessage(match_id=match.id).to_json)
        except StoreError:
            _log.exception("The messages after a move in match %s could not be sent", match.id)

    return moved


def _send_tick(queue: Queue, ticket: int, delay: timedelta = NO_DELAY) -> None:
    queue.send(TickMessage(ticket=ticket).model_dump_json(), delay)


def _read_number(item: Item, name: str) -> int:
    return int(item[name]["N"]) if name in item else 0
