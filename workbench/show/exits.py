"""Exit codes of the command, the same everywhere (docs/cli.md)."""

from enum import IntEnum

from cardsharp import errors


class Exit(IntEnum):
    """What a command's exit code means."""

    OK = 0
    FAILED = 1
    USAGE = 2
    UNREACHABLE = 3
    LATE = 3
    INTERRUPTED = 130


def exit_for(error: errors.CardsharpError) -> Exit:
    """The exit code that tells of an error."""
    wrong = errors.ConfigError | errors.RulesError | errors.Unauthorized | errors.Untrusted
    if isinstance(error, wrong):
        return Exit.USAGE
    if isinstance(error, errors.Unreachable | errors.Garbled | errors.RateLimited):
        return Exit.UNREACHABLE
    return Exit.FAILED
