"""Requests made up from a published document, by schemathesis."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import schemathesis

from support.size import ALL

Test = TypeVar("Test")


def operations(document: Mapping[str, Any]) -> Callable[[Test], Test]:
    """Run a test with cases for each operation of a document.

    In `make test-all` also with one for each way in which a request can be out of the document: to
    make these up takes every process that collects the test a second.
    """
    schema = schemathesis.openapi.from_dict({**document})
    schema.config.phases.coverage.enabled = ALL
    run_with_each: Callable[[Test], Test] = schema.parametrize()
    return run_with_each
