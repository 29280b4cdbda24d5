"""Reading of a request's body up to a limit, so that no client can fill the memory."""

from starlette.requests import Request


async def read_limited_body(request: Request, max_bytes: int) -> bytes | None:
    """Return the body, which may be empty; None once more than `max_bytes` have come."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            return None
    return bytes(body)
