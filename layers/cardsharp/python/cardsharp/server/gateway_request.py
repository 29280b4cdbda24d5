"""Request of an event of an HTTP API (format 2.0), parsed on access."""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address, ip_network
from urllib.parse import parse_qs

from cardsharp.errors import InvalidInput
from cardsharp.server.gateway_events import GatewayEvent, LambdaContext
from cardsharp.server.routing import HttpError, RemainingWait

MAX_BODY = 8_192  # bytes of the largest request body that is read
MAX_LONG_POLL = timedelta(seconds=25)  # API Gateway ends a request after 30 s
RESPONSE_MARGIN = timedelta(seconds=3)  # time of an invocation that is reserved for the response

_DEFAULT_STAGE = "$default"

_CUSTOMER = 64  # bits of an IPv6 address that identify a network; its owner chooses the other ones


class PayloadTooLarge(HttpError):
    """413: the body is beyond the limit."""

    def __init__(self) -> None:
        message = f"The body is larger than {MAX_BODY} bytes"
        super().__init__(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)


class GatewayRequest:
    """A request as it was sent; whatever is invalid in it is detected on access."""

    def __init__(self, event: GatewayEvent, *, merge_slashes: bool = False) -> None:
        self._event = event
        self.method = str(event["requestContext"]["http"]["method"]).upper()
        stage = event["requestContext"].get("stage") or _DEFAULT_STAGE
        path = str(event["rawPath"])
        path = path if stage == _DEFAULT_STAGE else path.removeprefix(f"/{stage}")
        self.path = re.sub("/+", "/", path) if merge_slashes else path

    def header(self, name: str) -> str | None:
        """A header by its lower-case name, None if it was not sent."""
        headers: Mapping[str, str] = self._event.get("headers") or {}
        return next((value for key, value in headers.items() if key.lower() == name), None)

    def query(self) -> Mapping[str, Sequence[str]]:
        """The values in the query string by name, in order."""
        raw = self._event.get("rawQueryString")
        if raw is not None:
            return parse_qs(raw, keep_blank_values=True)
        # An event made by hand; in these API Gateway has joined what repeats.
        joined: Mapping[str, str] = self._event.get("queryStringParameters") or {}
        return {name: [value] for name, value in joined.items()}

    @property
    def client_address(self) -> str | None:
        """Address of the client, as `client_address_of` returns it."""
        return client_address_of(self._event["requestContext"]["http"].get("sourceIp"))

    def body(self) -> bytes:
        """Return the body, which may be empty.

        Raises `InvalidInput` if it is no text, and `PayloadTooLarge` if it is over the limit.
        """
        body = event_body(self._event)
        if len(body) > MAX_BODY:
            raise PayloadTooLarge
        return body


def client_address_of(source: object) -> str | None:
    """Return an event's source address; for IPv6 the customer's network.

    None for this machine or an unknown address.
    """
    try:
        address = ip_address(str(source))
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped  # as a socket for both kinds has it
    if address.is_loopback:
        return None
    if isinstance(address, IPv6Address):
        return str(ip_network((address, _CUSTOMER), strict=False))
    return str(address)


def event_body(event: GatewayEvent) -> bytes:
    """Return an event's body of any size; raise `InvalidInput` if it is no base64 or text."""
    try:
        raw = (event.get("body") or "").encode()
        return base64.b64decode(raw, validate=True) if event.get("isBase64Encoded") else raw
    except (binascii.Error, UnicodeEncodeError):
        raise InvalidInput("The body is not valid text.") from None


def make_remaining_wait(context: LambdaContext) -> RemainingWait:
    """Return a function that tells how long a long poll may still wait, from this call on."""
    end = context.get_remaining_time_in_millis()
    wait = min(MAX_LONG_POLL, timedelta(milliseconds=end) - RESPONSE_MARGIN)

    def remaining() -> timedelta:
        passed = timedelta(milliseconds=end - context.get_remaining_time_in_millis())
        return wait - passed

    return remaining
