"""The matches recorded on the real server (TRACES.md), for the tests that replay them."""

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

REFERENCE = Path(__file__).parents[3] / "shared" / "reference" / "arena"
TRACES = REFERENCE / "traces_dev.jsonl.gz"

needs_traces = pytest.mark.skipif(
    not TRACES.exists(), reason=f"the recorded matches are not here: {TRACES.name} is missing"
)


@cache
def traces() -> tuple[dict[str, Any], ...]:
    """All recorded matches, one dict a match, as TRACES.md describes them."""
    with gzip.open(TRACES, "rt", encoding="utf-8") as lines:
        return tuple(json.loads(line) for line in lines)


def started_traces() -> Iterator[dict[str, Any]]:
    """The recorded matches whose creation succeeded."""
    return (trace for trace in traces() if trace["create"]["status"] == 200)
