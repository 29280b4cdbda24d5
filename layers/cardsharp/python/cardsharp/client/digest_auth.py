"""Digest authentication with limits on the challenge."""

import re

import requests
from requests.auth import HTTPDigestAuth
from requests.utils import parse_dict_header

_MAX_CHALLENGE_BYTES = 4 * 1024  # bytes of a challenge's body, which requests reads without a limit


class LimitedDigestAuth(HTTPDigestAuth):
    """Digest authentication that answers only complete, short challenges.

    The body of a challenge would be read without limits.
    """

    def handle_401(self, r: requests.Response, **kwargs: object) -> requests.Response:
        """Return the response to the answered challenge, or the 401 itself."""
        content_length = r.headers.get("Content-Length", "")
        challenge = r.headers.get("WWW-Authenticate", "")
        fields = re.sub("digest ", "", challenge, count=1, flags=re.IGNORECASE)
        # The stubs of requests leave this function and the method untyped.
        challenge_params = parse_dict_header(fields)  # type: ignore[no-untyped-call]
        is_short = content_length.isdecimal() and int(content_length) <= _MAX_CHALLENGE_BYTES
        if r.status_code == requests.codes.unauthorized and not (
            is_short and {"realm", "nonce"} <= challenge_params.keys()
        ):
            return r
        response: requests.Response = super().handle_401(r, **kwargs)  # type: ignore[no-untyped-call]
        return response
