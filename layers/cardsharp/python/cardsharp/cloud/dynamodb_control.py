"""The poller's generations and the switches in the match log's table: items that no index lists."""

from cardsharp.cloud import dynamodb_items as items
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.ports import Relay
from cardsharp.cloud.switches import Switchboard, Switches, usable

_RELAY = items.key("control", "poller")
_SWITCHES = items.key("control", "pause")  # all that it had at first, and so its name


class DynamoRelay(Relay):
    """A `Relay` in the table of a match log."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def begin(self) -> int:
        """A new generation's number; a repeat after a lost answer leaves one out."""
        always = "attribute_not_exists(pk) OR generation >= :one"
        item = self._table.update(_RELAY, "ADD generation :one", always, items.values(one=1))
        return int(item["generation"]["N"])

    def newest(self) -> int:
        """The number of the generation that began last, a moment late at the most."""
        item = self._table.get(_RELAY, of_now=False)
        return 0 if item is None else int(item["generation"]["N"])


class DynamoSwitchboard(Switchboard):
    """A `Switchboard` in the table of a match log; `set` is for the operator.

    Whoever does not set reads what was set a moment ago, which costs half as much.
    """

    def __init__(self, table: DynamoTable, *, of_now: bool = True) -> None:
        self._table = table
        self._of_now = of_now

    def read(self) -> Switches:
        """What is set."""
        item = self._table.get(_SWITCHES, of_now=self._of_now) or {}
        return usable({name: next(iter(value.values())) for name, value in item.items()})

    def set(self, switches: Switches) -> None:
        """Write all of them; functions see it within seconds."""
        told = {
            name: items.text(",".join(value) if isinstance(value, tuple) else str(value))
            for name, value in switches
            if value is not None
        }
        self._table.put({**_SWITCHES, **told})
