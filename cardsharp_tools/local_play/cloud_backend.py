"""Kind of cloud that a local match runs in, as an option of `play` names it."""

from enum import StrEnum


class CloudBackendKind(StrEnum):
    """Kind of backend for queue and match log (docs/architecture.md, "Two homes")."""

    EMBEDDED = "embedded"
    EMULATOR = "emulator"
