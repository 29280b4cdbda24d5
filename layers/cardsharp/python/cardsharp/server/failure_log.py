"""Log entries about requests that failed, without anything that a client sent."""

import traceback

from cardsharp.aws.telemetry import logger
from cardsharp.errors import ConfigError


def log_failure(error: Exception, route: str | None = None) -> None:
    """Log an error and its location without its text, which might quote a hand or a secret."""
    cause = error.__cause__ or error
    response = getattr(cause, "response", None)
    aws_code = response.get("Error", {}).get("Code") if isinstance(response, dict) else None
    account = {
        "route": route,
        "error": type(error).__name__,
        # A setting's fault says what to do about it, and knows of no game.
        "text": str(error) if isinstance(error, ConfigError) else None,
        "cause": type(cause).__name__,
        "aws_code": aws_code,
        "frames": [f"{f.name}:{f.lineno}" for f in traceback.extract_tb(error.__traceback__)],
    }
    logger.error("a request failed", extra=account)
