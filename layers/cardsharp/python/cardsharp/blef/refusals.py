"""What the service refuses: statuses and texts as SPEC.md section 5 lists them."""

from cardsharp.errors import CardsharpError

BAD_REQUEST = 400
FORBIDDEN = 403
NOT_FOUND = 404
NOT_ALLOWED = 405
CONFLICT = 409
TOO_LARGE = 413
TOO_MANY = 429
INTERNAL = 500
UNAVAILABLE = 503


class Refused(CardsharpError):
    """A request that is answered with `status` and this text; nothing was changed."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.args = (status, text)  # what pickle hands to __init__ in another process
        self.status = status
        self.text = text

    def __str__(self) -> str:
        return self.text


def bad_request(text: str) -> Refused:
    """A refusal of what was sent."""
    return Refused(BAD_REQUEST, text)


def forbidden(text: str) -> Refused:
    """A refusal of who asks, or when."""
    return Refused(FORBIDDEN, text)
