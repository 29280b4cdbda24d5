"""Forms of pages: their fields, and the token that only the server's own pages contain."""

import hmac
from collections.abc import Mapping
from http import HTTPStatus
from secrets import token_urlsafe
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

from cardsharp.server.limited_body import read_limited_body

MAX_SMALL_FORM_BYTES = 2_000  # bytes of a form unless the caller says otherwise
MAX_SMALL_FORM_FIELDS = 8  # fields of a form unless the caller says otherwise
TOKEN_FIELD = "token"  # noqa: S105 - the name of a field, no secret

Form = Mapping[str, str]


async def read_form(
    request: Request, max_bytes: int = MAX_SMALL_FORM_BYTES, max_fields: int = MAX_SMALL_FORM_FIELDS
) -> Form:
    """Return the fields of a form; raise `HTTPException` if it is too large."""
    body = await read_limited_body(request, max_bytes)
    if body is None:
        raise HTTPException(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The form is larger than {max_bytes} bytes."
        )
    try:
        return dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=max_fields))
    except ValueError:
        raise HTTPException(
            HTTPStatus.BAD_REQUEST, f"The form has more than {max_fields} fields."
        ) from None


def create_form_token() -> str:
    """Return a new token for the forms of a site, which no other site can know."""
    return token_urlsafe(16)


def has_form_token(form_data: Form, token: str) -> bool:
    """Return True if a form was sent from a page that contained this token."""
    return hmac.compare_digest(form_data.get(TOKEN_FIELD, "").encode(), token.encode())
