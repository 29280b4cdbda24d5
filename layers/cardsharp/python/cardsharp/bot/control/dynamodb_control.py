"""Poller generations and runtime settings, stored in the match log's table.

No index lists these items.
"""

from cardsharp.aws.dynamodb_attributes import item_key, number_attribute, string_attribute
from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.bot.control.poller_shift import PollerGenerations
from cardsharp.bot.control.runtime_settings import (
    RuntimeSettings,
    RuntimeSettingsStore,
    parse_leniently,
)

_GENERATION_KEY = item_key("control", "poller")
_SETTINGS_KEY = item_key(
    "control", "pause"
)  # named after the first setting, which stored items keep


class DynamoPollerGenerations(PollerGenerations):
    """`PollerGenerations` in the table of a match log."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def start_generation(self) -> int:
        """Return the number of a new generation.

        A retry after a lost response skips a number.
        """
        item = self._table.update_and_return(
            _GENERATION_KEY, "ADD generation :one", "", {":one": number_attribute(1)}
        )
        return int(item["generation"]["N"])

    def latest_generation(self) -> int:
        """Return the number of the latest generation; the value may be a moment old."""
        item = self._table.get(_GENERATION_KEY, consistent_read=False)
        return 0 if item is None else int(item["generation"]["N"])


class DynamoRuntimeSettings(RuntimeSettingsStore):
    """`RuntimeSettingsStore` in the table of a match log; `set` is for the operator.

    Readers other than the operator can use eventually consistent reads, which cost half as
    much.
    """

    def __init__(self, table: DynamoTable, *, consistent_read: bool = True) -> None:
        self._table = table
        self._consistent_read = consistent_read

    def read(self) -> RuntimeSettings:
        """Return the current settings."""
        item = self._table.get(_SETTINGS_KEY, consistent_read=self._consistent_read) or {}
        return parse_leniently({name: next(iter(value.values())) for name, value in item.items()})

    def set(self, settings: RuntimeSettings) -> None:
        """Write all settings; functions use them within seconds."""
        attributes = {
            name: string_attribute(",".join(value) if isinstance(value, tuple) else str(value))
            for name, value in settings
            if value is not None
        }
        self._table.put({**_SETTINGS_KEY, **attributes})
