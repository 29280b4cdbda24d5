"""The vault in the match log's DynamoDB table: partitions of their own, which no index lists.

It needs no right but those that the match log needs.
"""

from datetime import timedelta
from typing import TYPE_CHECKING

from cardsharp.cloud import dynamodb_items as items
from cardsharp.cloud.aws import Unmet
from cardsharp.cloud.codec import decode, encode
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.ports import Body, Clock
from cardsharp.cloud.vault import LIFE

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

    from cardsharp.cloud.dynamodb_items import Value


_ALWAYS = "attribute_not_exists(pk) OR expires_at <= :now OR expires_at > :now"
"""A condition that holds whatever is there, for every update needs one."""


class DynamoVault:
    """A `Vault` in the table of a match log, in the region of AWS_DEFAULT_REGION."""

    def __init__(self, table: str, clock: Clock, client: "DynamoDBClient | None" = None) -> None:
        self._table = DynamoTable(table, client)
        self._clock = clock

    def close(self) -> None:
        """Leave the connections open: they are for the whole process."""

    def add(self, match_id: str, secret: Body) -> bool:
        """Keep a secret; return False, and keep the old one, if there is one already."""
        try:
            self._write(match_id, secret, "attribute_not_exists(pk) OR expires_at <= :now")
        except Unmet:
            return self.find(match_id) == decode(encode(secret))  # our own write, sent again
        return True

    def replace(self, match_id: str, secret: Body) -> None:
        """Keep a secret whatever was kept before."""
        self._write(match_id, secret, _ALWAYS)

    def find(self, match_id: str) -> Body | None:
        """The secret as of now, or None."""
        item = self._table.get(_key(match_id))
        if item is None or int(item["expires_at"]["N"]) <= self._seconds():
            return None  # the table drops it hours or days too late
        return decode(item["secret_json"]["S"])

    def _write(self, match_id: str, secret: Body, condition: str) -> None:
        values = {
            ":secret": items.text(encode(secret)),
            ":expires": items.number(self._seconds(LIFE)),
            ":now": items.number(self._seconds()),
        }
        update = "SET secret_json = :secret, expires_at = :expires"
        self._table.update(_key(match_id), update, condition, values)

    def _seconds(self, later: timedelta = timedelta(0)) -> int:
        return int((self._clock.now() + later).timestamp())


def _key(match_id: str) -> "dict[str, Value]":
    return items.key(f"vault#{match_id}", "secret")
