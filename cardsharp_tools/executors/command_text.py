"""Text of a command, as a user types it."""

import shlex


def split_command(command: str) -> list[str]:
    """Return the arguments of a command; an empty list if a quotation mark is not closed."""
    try:
        return shlex.split(command)
    except ValueError:
        return []
