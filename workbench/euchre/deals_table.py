"""The table of the deals, as template.yaml describes it."""

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.cloud.template import table_request

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

TABLE: Mapping[str, object] = {
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "S"},
    ],
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ],
    # No call marks the end of a game: nothing else ever cleans up.
    "TimeToLiveSpecification": {"AttributeName": "expires_at", "Enabled": True},
    "SSESpecification": {"SSEEnabled": True},
}
"""The properties of the resource `EuchreDeals`; a test holds them against the template's."""


def create_table(client: "DynamoDBClient") -> str:
    """Make the table in an emulator; return its name."""
    name = f"euchre-{uuid.uuid4()}"
    client.create_table(TableName=name, **table_request(TABLE))  # type: ignore[arg-type]
    return name
