"""Repetition of a change after a conflict: how often, and with which pauses."""

from collections.abc import Callable

import pytest

from cardsharp.errors import StoreError, WriteConflict
from cardsharp.server.write_retries import retry_on_conflict


def make_change(errors: list[StoreError], pauses: list[int]) -> Callable[[str], str]:
    """Return a change that is tried three times, and whose first attempts raise these errors."""

    @retry_on_conflict(3, pauses.append)
    def write(text: str) -> str:
        if errors:
            raise errors.pop(0)
        return text

    return write


@pytest.mark.parametrize(("conflict_count", "expected_pauses"), [(0, []), (2, [1, 2])])
def test_a_change_is_repeated_after_a_pause(
    conflict_count: int, expected_pauses: list[int]
) -> None:
    pauses, conflicts = list[int](), [WriteConflict("Another was first.")] * conflict_count
    assert make_change([*conflicts], pauses)("written") == "written"
    assert pauses == expected_pauses


def test_the_conflict_of_the_last_attempt_is_raised() -> None:
    pauses = list[int]()
    with pytest.raises(WriteConflict):
        make_change([WriteConflict("Another was first.")] * 3, pauses)("written")
    assert pauses == [1, 2]


def test_another_failure_of_the_store_is_not_tried_again() -> None:
    pauses = list[int]()
    with pytest.raises(StoreError, match="full"):
        make_change([StoreError("The disk is full.")], pauses)("written")
    assert pauses == []
