"""How much a test tries: a sample in `make test`, all of it in `make test-all`."""

import os

ALL = os.environ.get("TESTS") == "all"


def case_count(sample: int, full: int) -> int:
    """How many cases to make up; `TESTS=all pytest ...` asks for every one by hand."""
    return full if ALL else sample
