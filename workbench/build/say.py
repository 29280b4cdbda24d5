"""Lines for whoever ran a command."""

import sys


def say(line: str) -> None:
    """Print a line at once, so that it stands before whatever comes slowly."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
