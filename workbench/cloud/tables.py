"""The tables of template.yaml, made one by one in an emulator."""

import uuid
from typing import TYPE_CHECKING

from workbench.cloud.template import all_resources, table_request

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient


def create_table(client: "DynamoDBClient", resource: str) -> str:
    """Make the table that the template calls `resource`, such as "blefTable"; return its name."""
    name = f"{resource}-{uuid.uuid4()}"
    request = table_request(all_resources()[resource].properties)
    client.create_table(TableName=name, **request)  # type: ignore[arg-type]
    return name
