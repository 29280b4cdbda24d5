"""The deals in one DynamoDB table, one item a deal.

| pk           | sk                    | attributes                                              |
|--------------|-----------------------|---------------------------------------------------------|
| token#TOKEN  | deal#GAME#DEAL (10    | cards (24 numbers with commas), events (a list of JSON  |
|              | digits each)          | texts), version (how many), born (a new one at every    |
|              |                       | POST /deal), expires_at (seconds; the time to live)     |

Actions used: GetItem, PutItem, UpdateItem.
"""

import math
import uuid
from typing import TYPE_CHECKING

from cardsharp.cloud import dynamodb_items as items
from cardsharp.cloud.aws import Unmet
from cardsharp.cloud.dynamodb_items import number, text
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.ports import Clock
from cardsharp.errors import Conflict
from cardsharp.euchre.cards import Card
from cardsharp.euchre.records import DealKey, Event, Record, decode_record, encode_event
from cardsharp.euchre.store import LIFE

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

    from cardsharp.cloud.dynamodb_items import Value


class DynamoDeals:
    """A `DealStore` in the DynamoDB table of that name, in the region of AWS_DEFAULT_REGION."""

    def __init__(self, table: str, clock: Clock, client: "DynamoDBClient | None" = None) -> None:
        self._table = DynamoTable(table, client)
        self._clock = clock

    def begin(self, key: DealKey, cards: tuple[Card, ...]) -> None:
        """Keep a new deal in the place of any older one of that key."""
        expires = math.ceil((self._clock.now() + LIFE).timestamp())
        self._table.put(
            {
                **_key(key),
                "cards": text(",".join(map(str, cards))),
                "events": {"L": []},
                "version": number(0),
                "born": text(uuid.uuid4().hex),
                "expires_at": number(expires),
            }
        )

    def read(self, key: DealKey) -> Record | None:
        """A deal with every event that was acknowledged, or None."""
        item = self._table.get(_key(key))
        if item is None:
            return None
        events = (event["S"] for event in item["events"]["L"])
        return decode_record(key, item["cards"]["S"], item["born"]["S"], events)

    def append(self, record: Record, event: Event) -> None:
        """Add an event to the deal as it was read; raises `Conflict` if that has changed."""
        try:
            self._table.update(
                _key(record.key),
                "SET events = list_append(events, :event), version = :next",
                "born = :born AND version = :version",
                {
                    ":event": {"L": [text(encode_event(event))]},
                    ":next": number(len(record.log) + 1),
                    ":born": text(record.born),
                    ":version": number(len(record.log)),
                },
            )
        except Unmet as unmet:
            raise Conflict("The deal was changed by somebody else.") from unmet


def _key(key: DealKey) -> "dict[str, Value]":
    return items.key(f"token#{key.token}", f"deal#{key.game:010}#{key.deal:010}")
