"""The generations of the poller in the match log's DynamoDB table: items that no index lists."""

from cardsharp.cloud import dynamodb_items as items
from cardsharp.cloud.dynamodb_table import DynamoTable

_KEY = items.key("control", "poller")


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
