"""Exit codes of the command, the same everywhere (docs/cli.md)."""

from enum import IntEnum

from cardsharp.errors import (
    CardsharpError,
    ConfigError,
    Garbled,
    RateLimited,
    RulesError,
    Unauthorized,
    Unreachable,
    Untrusted,
)


class Exit(IntEnum):
    """What a command's exit code means."""

    OK = 0
    FAILED = 1
    USAGE = 2
    UNREACHABLE = 3
    LATE = 3
    INTERRUPTED = 130


def exit_for(error: CardsharpError) -> Exit:
    """The exit code that tells of an error."""
    if isinstance(error, ConfigError | RulesError | Unauthorized | Untrusted):
        return Exit.USAGE
    if isinstance(error, Unreachable | Garbled | RateLimited):
        return Exit.UNREACHABLE
    return Exit.FAILED
