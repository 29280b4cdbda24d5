"""One contract for every home of documents: versions, all or nothing, order, life, and races."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.cloud_clock import FakeClock
from support.cloud_threads import at_once

from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.errors import Conflict
from cardsharp.keep.dynamodb import DynamoKeep
from cardsharp.keep.port import Delete, Keep, Key, Put
from cardsharp.keep.sqlite import SqliteKeep
from workbench.cloud.tables import create_table

SECOND = timedelta(seconds=1)
ONE, OTHER = Key("game#1", "header"), Key("game#1", "move#1")


class Bench:
    """A keep, its clock, and what opens it as another process would."""

    def __init__(self, clock: FakeClock, reopen: Callable[[], Keep]) -> None:
        self.clock, self.reopen = clock, reopen
        self.keep, self.numbers = reopen(), count()


@pytest.fixture(params=["sqlite", "ministack"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    clock = FakeClock()
    with ExitStack() as stack:
        if request.param == "sqlite":
            path = tmp_path / "deep" / "store.db"
            make = partial(SqliteKeep, path, clock)
            yield Bench(clock, lambda: stack.enter_context(closing(make())))
        else:
            client = request.getfixturevalue("emulator").client("dynamodb")
            name = create_table(client, "Matches")
            stack.callback(client.delete_table, TableName=name)
            yield Bench(clock, lambda: DynamoKeep(name, clock, client))


def body(keep: Keep, key: Key = ONE) -> Any:  # noqa: ANN401 - any JSON
    found = keep.get(key)
    return None if found is None else (found.version, dict(found.body))


def test_what_is_written_is_read_at_once_also_by_another_process(bench: Bench) -> None:
    assert bench.keep.get(ONE) is None
    bench.keep.commit(Put(ONE, {"a": ["ü", None, 1.5]}))
    for keep in (bench.keep, bench.reopen()):
        assert body(keep) == (1, {"a": ["ü", None, 1.5]})
    bench.reopen().commit(Put(ONE, {}, expected=1))
    assert body(bench.keep) == (2, {})


@pytest.mark.parametrize(
    "stale",
    [Put(ONE, {"b": 1}), Put(ONE, {}, expected=2), Delete(ONE, 2), Delete(OTHER, 1)],
)
def test_a_commit_that_expects_something_else_changes_nothing(bench: Bench, stale: Any) -> None:  # noqa: ANN401
    third = Key("game#2", "header")
    bench.keep.commit(Put(ONE, {"a": 1}))
    with pytest.raises(Conflict):
        bench.keep.commit(Put(third, {}), stale)
    assert body(bench.keep) == (1, {"a": 1})
    assert bench.keep.get(third) is bench.keep.get(OTHER) is None


def test_a_document_can_be_written_unread_and_whoever_read_it_before_is_too_late(
    bench: Bench,
) -> None:
    bench.keep.commit(Put(ONE, {"a": 1}, expected=None))
    assert body(bench.keep) == (1, {"a": 1})
    bench.reopen().commit(Put(ONE, {"b": 2}, expected=None), Put(OTHER, {}, expected=None))
    assert body(bench.keep) == (2, {"b": 2})
    assert body(bench.keep, OTHER) == (1, {})
    with pytest.raises(Conflict):
        bench.keep.commit(Put(ONE, {}, expected=1))


def test_several_documents_change_together(bench: Bench) -> None:
    bench.keep.commit(Put(ONE, {}), Put(OTHER, {}))
    third = Key("game#1", "move#2")
    bench.keep.commit(Put(ONE, {}, 1), Delete(OTHER, 1), Put(third, {"c": 3}))
    assert [one.key for one in bench.keep.range("game#1")] == [ONE, third]


def test_a_range_is_in_order_from_a_key_on_and_of_one_partition(bench: Bench) -> None:
    numbers = [3, 1, 10, 2]
    bench.keep.commit(*(Put(Key("p", f"m{n:03}"), {"n": n}) for n in numbers), Put(ONE, {}))
    assert [one.body["n"] for one in bench.keep.range("p")] == sorted(numbers)
    assert [one.body["n"] for one in bench.keep.range("p", after="m001", most=2)] == [2, 3]
    assert list(bench.keep.range("q")) == []


def test_what_has_expired_is_not_there_and_can_be_written_anew(bench: Bench) -> None:
    end = bench.clock.now() + 2 * SECOND
    bench.keep.commit(Put(ONE, {"old": 1}, expires=end), Put(OTHER, {}))
    bench.clock.advance(SECOND)
    assert body(bench.keep) == (1, {"old": 1})
    bench.clock.advance(SECOND)
    assert bench.keep.get(ONE) is None
    assert [one.key for one in bench.keep.range("game#1")] == [OTHER]
    with pytest.raises(Conflict):
        bench.keep.commit(Put(ONE, {}, expected=1))
    bench.keep.commit(Put(ONE, {"new": 1}))
    assert body(bench.keep) == (1, {"new": 1})


def test_writers_that_race_lose_no_update(bench: Bench) -> None:
    """Each counts both documents up, in one commit, as often as it takes."""
    keys = (ONE, OTHER)
    bench.keep.commit(*(Put(key, {"n": 0}) for key in keys))

    def raise_both(_: int) -> None:
        keep, left = bench.reopen(), 5
        while left:
            now = [keep.get(key) for key in keys]
            counted = [
                Put(one.key, {"n": one.body["n"] + 1}, one.version)  # type: ignore[operator]
                for one in now
                if one is not None
            ]
            try:
                keep.commit(*counted)
            except Conflict:
                continue
            left -= 1

    at_once(4, raise_both)
    assert [body(bench.keep, key) for key in keys] == [(21, {"n": 20})] * 2


def test_of_writers_that_begin_a_document_one_is_first(bench: Bench) -> None:
    def begin(number: int) -> bool:
        try:
            bench.reopen().commit(Put(ONE, {"by": number}))
        except Conflict:
            return False
        return True

    assert sum(at_once(8, begin)) == 1


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.booleans()), max_size=12))
def test_every_home_is_as_a_file_in_memory(bench: Bench, done: list[tuple[str, int, bool]]) -> None:
    """Any sequence of writes and removals, right or wrong about the versions."""
    model = SqliteKeep(MEMORY, bench.clock)
    partition = f"partition {next(bench.numbers)}"
    for sort, expected, removed in done:
        key = Key(partition, sort)
        change = Delete(key, expected) if removed and expected else Put(key, {"s": sort}, expected)
        ends = []
        for keep in (bench.keep, model):
            try:
                keep.commit(change)
            except Conflict:
                ends.append(False)
            else:
                ends.append(True)
        assert ends[0] is ends[1]
    assert list(bench.keep.range(partition)) == list(model.range(partition))


def test_a_document_is_removed_unread_whatever_is_there(bench: Bench) -> None:
    bench.keep.commit(Put(ONE, {}))
    for _ in range(2):
        bench.keep.commit(Delete(ONE, None))
        assert bench.reopen().get(ONE) is None
