"""Connections to a WebSocket API of API Gateway. Actions used: execute-api:ManageConnections."""

from contextlib import suppress
from functools import cached_property
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from cardsharp.aws import client
from cardsharp.server.websocket_feed import ConnectionGone

SEND_TIMEOUT_SECONDS = (
    1  # seconds that API Gateway may take; it does not wait for the client behind it
)


class ApiGatewayConnections:
    """The connections of the API whose stage is at that https address."""

    def __init__(self, address: str) -> None:
        self._address = address

    def send(self, connection: str, text: str) -> None:
        """Send a text, once; raise `ConnectionGone` for any failure to send it."""
        try:
            self._client.post_to_connection(ConnectionId=connection, Data=text.encode())
        except (BotoCoreError, ClientError) as error:
            raise ConnectionGone("API Gateway does not reach the connection.") from error

    def close(self, connection: str) -> None:
        """Close a connection; ignore failures, because API Gateway closes it sooner or later."""
        with suppress(BotoCoreError, ClientError):
            self._client.delete_connection(ConnectionId=connection)

    @cached_property
    def _client(self) -> Any:  # noqa: ANN401 - boto3 has no types for it here
        return client.client("apigatewaymanagementapi", SEND_TIMEOUT_SECONDS, self._address)
