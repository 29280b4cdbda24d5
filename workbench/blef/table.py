"""The table of the games, as template.yaml describes it."""

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
        {"AttributeName": "listed_as", "AttributeType": "S"},
        {"AttributeName": "changed_at", "AttributeType": "N"},
    ],
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by-change",
            "KeySchema": [
                {"AttributeName": "listed_as", "KeyType": "HASH"},
                {"AttributeName": "changed_at", "KeyType": "RANGE"},
            ],
            # What the list shows and nothing else: no hand is ever in the index.
            "Projection": {
                "ProjectionType": "INCLUDE",
                "NonKeyAttributes": ["nicknames_json", "is_started"],
            },
        }
    ],
    "TimeToLiveSpecification": {"AttributeName": "expires_at", "Enabled": True},
    "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
    "SSESpecification": {"SSEEnabled": True},
}
"""The properties of the resource `BlefGames`; a test holds them against the template's."""


def create_table(client: "DynamoDBClient") -> str:
    """Make the table in an emulator; return its name."""
    name = f"blef-{uuid.uuid4()}"
    client.create_table(TableName=name, **table_request(TABLE))  # type: ignore[arg-type]
    return name
