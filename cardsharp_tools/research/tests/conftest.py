"""Fixtures of the compiled engine; tests that need it are skipped without a compiler."""

import pytest

from cardsharp_tools.research.c_library import unavailable_reason
from cardsharp_tools.research.deadmansdraw.native import NativeEngine, load_engine


@pytest.fixture
def engine() -> NativeEngine:
    """Return the compiled engine; skip the test if it is not available."""
    loaded = load_engine()
    return pytest.skip(str(unavailable_reason())) if loaded is None else loaded
