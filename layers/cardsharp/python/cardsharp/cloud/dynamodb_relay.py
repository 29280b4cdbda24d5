"""The generations of the poller in the match log's DynamoDB table: items that no index lists."""

from datetime import datetime

from cardsharp.cloud import dynamodb_items as items
from cardsharp.cloud.codec import from_micros
from cardsharp.cloud.dynamodb_table import DynamoTable

_KEY = items.key("control", "poller")
_AWAKE = items.key("control", "awake")


class DynamoRelay:
    """A `Relay` in the table of a match log."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def begin(self) -> int:
        """A new generation's number; a repeat after a lost answer leaves one out."""
        always = "attribute_not_exists(pk) OR generation >= :one"
        item = self._table.update(_KEY, "ADD generation :one", always, {":one": items.number(1)})
        return int(item["generation"]["N"])

    def newest(self) -> int:
        """The number of the generation that began last, a moment late at the most."""
        item = self._table.get(_KEY, of_now=False)
        return 0 if item is None else int(item["generation"]["N"])

    def awake_until(self) -> datetime:
        """Until when an operator wants a quiet poller to listen at all times."""
        item = self._table.get(_AWAKE)
        return from_micros(0 if item is None else int(item["until"]["N"]))

    def stay_awake(self, until: datetime) -> None:
        """Have quiet pollers listen at all times until then, from the next minute on."""
        self._table.put({**_AWAKE, "until": items.moment(until)})
