"""Fixture of the compiled engine. Tests that need it are skipped without a compiler."""

import pytest

from cardsharp_tools.research.c_library import unavailable_reason
from cardsharp_tools.research.deadmansdraw.native import NativeEngine, load_engine


@pytest.fixture
def engine() -> NativeEngine:
    """Return the compiled engine; skip the test if it is not available."""
    native_engine = load_engine()
    return pytest.skip(str(unavailable_reason())) if native_engine is None else native_engine
