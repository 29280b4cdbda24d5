"""The pause switch in the match log's DynamoDB table: one item that no index lists."""

from cardsharp.cloud import dynamodb_items as items
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.ports import Clock

_KEY = items.key("control", "pause")


class DynamoPause:
    """A `PauseSwitch` in the table of a match log; `turn` is for the operator."""

    def __init__(self, table: DynamoTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def is_on(self) -> bool:
        """Whether new matches are to be left alone, as of now."""
        item = self._table.get(_KEY)
        return item is not None and item["paused"].get("BOOL") is True

    def turn(self, *, on: bool) -> None:
        """Pause or resume; it takes effect at the next match that is found."""
        moment = items.moment(self._clock.now())
        self._table.put({**_KEY, "paused": {"BOOL": on}, "turned_at": moment})
