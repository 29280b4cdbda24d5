"""Secrets that must never be shown: registered once, then redacted in every text."""

import json
import threading

REDACTED = "[redacted]"
MIN_SECRET_LENGTH = 4  # characters; redacting anything shorter would only make texts unreadable
_lock = threading.Lock()
_secrets: set[str] = set()


def register_secrets(*secrets: str) -> None:
    """Redact these in every text from now on, also as they look inside JSON."""
    forms = {
        form
        for secret in secrets
        if len(secret) >= MIN_SECRET_LENGTH
        for form in (secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
    }
    with _lock:
        _secrets.update(forms)


def redact(text: str) -> str:
    """Return the text with each registered secret replaced by `REDACTED`."""
    with _lock:
        # The longest first, or a secret within another would leave the rest of that one behind.
        secrets = sorted(_secrets, key=len, reverse=True)
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    return text
