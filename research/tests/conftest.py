"""What needs the compiled engine is left out where there is no compiler."""

import pytest

from research.compiling import why_not
from research.deadmansdraw.engine import Engine, load


@pytest.fixture
def engine() -> Engine:
    found = load()
    return pytest.skip(str(why_not())) if found is None else found
