"""One contract for every home of documents: versions, all or nothing, order, life, and races."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import stamina
from botocore.exceptions import EndpointConnectionError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.cloud_benches import moto_client
from support.cloud_clock import FakeClock
from support.cloud_threads import at_once

from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.errors import Conflict
from cardsharp.keep.dynamodb import RECEIPTS, DynamoKeep
from cardsharp.keep.port import Add, Delete, Keep, Key, Listed, Put
from cardsharp.keep.sqlite import SqliteKeep
from workbench.cloud.template import create_table

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
            name = create_table(client, "blefTable")
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


def test_a_list_has_what_stands_in_it_since_a_moment_the_last_first(bench: Bench) -> None:
    now = bench.clock.now()

    def put(n: int, expected: int = 0, name: str = "open") -> None:
        shown = {"nicknames_json": f"[{n}]", "is_started": n > 2}
        listed = Listed(name, now + n * SECOND, shown) if name else None
        bench.keep.commit(Put(Key("p", f"m{n}"), {}, expected, listed=listed))

    for number in (3, 1, 2, 4):
        put(number)
    put(4, 1, name="")
    put(5, name="another")
    found = bench.reopen().entries("open", now + SECOND, 9)
    assert [(key, (one.at - now) / SECOND, dict(one.shown)) for key, one in found] == [
        (Key("p", "m3"), 3, {"nicknames_json": "[3]", "is_started": True}),
        (Key("p", "m2"), 2, {"nicknames_json": "[2]", "is_started": False}),
    ]
    assert len(bench.keep.entries("open", now, 1)) == 1


def test_of_those_who_count_at_once_nobody_is_lost_and_none_beyond_the_most(bench: Bench) -> None:
    end = bench.clock.now() + 9 * SECOND

    def add(_: int) -> bool:
        try:
            bench.reopen().commit(Add(ONE, 1, end, most=5))
        except Conflict:
            return False
        return True

    assert sum(at_once(8, add)) == 5
    bench.keep.commit(Put(OTHER, {}), Add(ONE, -2, end))
    with pytest.raises(Conflict):
        bench.keep.commit(Put(OTHER, {}), Add(ONE, 9, end))
    assert [one.body for one in bench.keep.range("game#1")] == [{"count": 3}, {}]
    bench.clock.advance(9 * SECOND)
    assert bench.keep.get(ONE) is None


class Losing:
    """A client to whom the answer to its first write does not come."""

    def __init__(self, client: Any, meanwhile: Callable[[], object]) -> None:  # noqa: ANN401
        self._client, self._meanwhile = client, [meanwhile]

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._client, name)

    def update_item(self, **asked: Any) -> Any:  # noqa: ANN401
        answer = self._client.update_item(**asked)
        for meanwhile in (self._meanwhile.pop() for _ in self._meanwhile[:]):
            meanwhile()
            raise EndpointConnectionError(endpoint_url="https://aws.example")
        return answer


def test_a_writer_knows_its_own_write_again_also_under_those_of_others() -> None:
    clock = FakeClock()
    with moto_client() as client, stamina.set_testing(True, attempts=2):
        name = create_table(client, "blefTable")
        others = DynamoKeep(name, clock, client)
        others.commit(Put(ONE, {}))

        def write_on(number: int = RECEIPTS - 1) -> None:
            for version in range(2, 2 + number):
                others.commit(Put(ONE, {}, version))

        mine = DynamoKeep(name, clock, Losing(client, write_on))  # type: ignore[arg-type]
        mine.commit(Put(ONE, {"mine": True}, 1))
        with pytest.raises(Conflict):
            mine.commit(Put(ONE, {}, 2))


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


WAYS = st.sampled_from(["put", "list", "delete", "add"])


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(WAYS, st.sampled_from("abc"), st.integers(0, 3)), max_size=16))
def test_every_home_is_as_a_file_in_memory(bench: Bench, done: list[tuple[str, str, int]]) -> None:
    """Any sequence of changes, right or wrong about the versions."""
    model, now = SqliteKeep(MEMORY, bench.clock), bench.clock.now()
    name, day = f"partition {next(bench.numbers)}", timedelta(days=1)
    for way, sort, number in done:
        key, shown = Key(name, sort), Listed(name, now, {"nicknames_json": f"{number}"})
        change = {
            "put": Put(key, {"s": sort}, number),
            "list": Put(key, {"s": sort}, number, listed=shown),
            "delete": Delete(key, number or 1),
            "add": Add(Key(name, f"{sort} counted"), number - 1, now + day, most=2),
        }[way]
        ends = []
        for keep in (bench.keep, model):
            try:
                keep.commit(change)
            except Conflict:
                ends.append(False)
            else:
                ends.append(True)
        assert ends[0] is ends[1]
    assert list(bench.keep.range(name)) == list(model.range(name))
    found, wanted = (sorted(one.entries(name, now - day, 9)) for one in (bench.keep, model))
    assert found == wanted


def test_a_document_is_removed_unread_whatever_is_there(bench: Bench) -> None:
    bench.keep.commit(Put(ONE, {}))
    for _ in range(2):
        bench.keep.commit(Delete(ONE, None))
        assert bench.reopen().get(ONE) is None
