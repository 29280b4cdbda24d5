"""A request out of an event of an HTTP API (format 2.0), read as far as somebody asks."""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address, ip_network
from urllib.parse import parse_qs

from cardsharp.errors import Malformed
from cardsharp.web.events import Context, Event
from cardsharp.web.route import Refused, TimeLeft

MAX_BODY = 8_192  # bytes of the largest request body that is read
LONGEST_WAIT = timedelta(seconds=25)  # of a long poll: API Gateway gives up after 30 s
MARGIN = timedelta(seconds=3)  # what is left of an invocation's time for the answer itself

_OWN_STAGE = "$default"

_CUSTOMER = 64  # bits of an IPv6 address that are the network's; the rest a customer chooses


class TooLarge(Refused):
    """413: the body is beyond the limit."""

    def __init__(self) -> None:
        told = f"The body is larger than {MAX_BODY} bytes"
        super().__init__(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, told)


class Request:
    """A request as it was sent; what of it cannot be read, is found out by whoever reads it."""

    def __init__(self, event: Event, *, merge_slashes: bool = False) -> None:
        self._event = event
        self.method = str(event["requestContext"]["http"]["method"]).upper()
        stage = event["requestContext"].get("stage") or _OWN_STAGE
        path = str(event["rawPath"])
        path = path if stage == _OWN_STAGE else path.removeprefix(f"/{stage}")
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
    def caller(self) -> str | None:
        """From where the request came, as `caller_at` has it."""
        return caller_at(self._event["requestContext"]["http"].get("sourceIp"))

    def body(self) -> bytes:
        """The body, maybe empty; raises `Malformed` if it is no text, `TooLarge` over the limit."""
        body = sent(self._event)
        if len(body) > MAX_BODY:
            raise TooLarge
        return body


def caller_at(source: object) -> str | None:
    """Whence an event came, of IPv6 a customer's network; None for this machine, or unknown."""
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


def sent(event: Event) -> bytes:
    """The body of an event, whatever its size; raises `Malformed` where it is no base64 or text."""
    try:
        raw = (event.get("body") or "").encode()
        return base64.b64decode(raw, validate=True) if event.get("isBase64Encoded") else raw
    except (binascii.Error, UnicodeEncodeError):
        raise Malformed("The body is no text.") from None


def time_left(context: Context) -> TimeLeft:
    """How long a long poll may still wait, counted from now."""
    end = context.get_remaining_time_in_millis()
    wait = min(LONGEST_WAIT, timedelta(milliseconds=end) - MARGIN)

    def left() -> timedelta:
        passed = timedelta(milliseconds=end - context.get_remaining_time_in_millis())
        return wait - passed

    return left
