"""Number of cases that a test tries: a sample in `make test`, all in `make test-all`."""

import os

ALL = os.environ.get("TESTS") == "all"


def case_count(sample: int, full: int) -> int:
    """Return the number of cases to generate; `TESTS=all pytest ...` selects `full` by hand."""
    return full if ALL else sample
