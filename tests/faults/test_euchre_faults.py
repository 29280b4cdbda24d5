"""A store that fails, a process that dies: no answer changes, and none is ever illegal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

import pytest
from support.euchre_api import Service
from support.euchre_direct import Died, direct_player

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.errors import Conflict, StoreError
from cardsharp.euchre.cards import Card
from cardsharp.euchre.records import DealKey, Event, Record
from cardsharp.euchre.simulation import shuffled
from cardsharp.euchre.state import Deal
from cardsharp.euchre.store import Deals
from cardsharp.euchre.strategies import build
from cardsharp.keep.sqlite import SqliteKeep
from workbench.euchre.coordinator import StrategyPlayer, play_deal

Disturbance = Callable[[int, bool], None]

SEEDS = (4, 6, 48)
"""Deals that are called early, late and alone."""

DEALING = 6
"""The deal in which our seats are 1 and 3, so that we discard; else they are 0 and 2."""

CALLING = 24
"""A deal in which the first seat calls, so that its answer is no safe one."""


@dataclass(frozen=True)
class Watched(Deals):
    """A store in which every call is noted and may be disturbed.

    `disturb` is called with the number of the call, from 0, before it is made and again after.
    """

    disturb: Disturbance
    calls: list[str] = field(default_factory=list)

    def begin(self, key: DealKey, cards: tuple[Card, ...]) -> None:
        with self._around("begin"):
            super().begin(key, cards)

    def read(self, key: DealKey) -> Record | None:
        with self._around("read"):
            return super().read(key)

    def append(self, record: Record, event: Event) -> None:
        with self._around("append"):
            super().append(record, event)

    @contextmanager
    def _around(self, call: str) -> Iterator[None]:
        number = len(self.calls)
        self.calls.append(call)
        self.disturb(number, False)  # noqa: FBT003 - before
        yield
        self.disturb(number, True)  # noqa: FBT003 - after


def watched(disturb: Disturbance) -> Watched:
    clock = SystemClock()
    return Watched(SqliteKeep(MEMORY, clock), clock, disturb)


def play(seed: int, disturb: Disturbance) -> tuple[Deal, Service, Watched, int]:
    """A deal, our two seats asked over the protocol and the others told; how it went."""
    store = watched(disturb)
    service = Service("rules", store)
    player, adapter = direct_player(service)
    other = StrategyPlayer(build("rules"))
    ours = (other, player) if seed == DEALING else (player, other)
    deal, _ = play_deal(shuffled(Random(seed)), (*ours, *ours))
    return deal, service, store, adapter.deaths


@cache
def normal(seed: int) -> tuple[Deal, int]:
    """The deal without any fault, and how many calls of the store it needs."""
    deal, service, store, _ = play(seed, lambda _number, _after: None)
    assert service.diary.faults == []
    return deal, len(store.calls)


def raising(number: int, after: bool, *errors: BaseException) -> Disturbance:
    """A disturbance that raises at one place, at the next call the next error, and never again."""
    left = dict(enumerate(errors, number))

    def disturb(now: int, now_after: bool) -> None:
        if now_after == after and now in left:
            raise left.pop(now)

    return disturb


STORE = (StoreError("the store failed"),)
DEATH = (Died(),)
# The call after the one that failed is the first of the next attempt.
TWICE = (StoreError("once"), StoreError("twice"))


@pytest.mark.parametrize("errors", [STORE, (Conflict("taken"),), DEATH, TWICE])
def test_a_fault_before_or_after_any_store_call_changes_no_answer(errors: Any) -> None:  # noqa: ANN401
    """A client asks a service that died once more: the new process goes on from what is stored."""
    expected, calls = normal(DEALING)
    for number, after in ((number, after) for number in range(calls) for after in (False, True)):
        deal, service, _, deaths = play(DEALING, raising(number, after, *errors))
        assert deal == expected, (number, after)
        assert service.diary.faults == [], (number, after)
        assert deaths == (errors is DEATH), (number, after)
        assert errors is DEATH or service.diary.troubles, (number, after)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_store_that_fails_for_good_leaves_every_answer_legal(seed: int) -> None:
    """From any call on: the coordinator refuses nothing, and every trouble is written down."""
    for start in range(0, normal(seed)[1], 2):  # every other one, for time's sake

        def disturb(now: int, _after: bool, start: int = start) -> None:
            if now >= start:
                raise StoreError("the store is gone")

        _, service, _, _ = play(seed, disturb)
        assert service.diary.troubles


@pytest.mark.parametrize("call", ["read", "append"])
def test_a_store_that_fails_is_tried_three_times_a_request(call: str) -> None:
    """If only the writing fails, the answer is the strategy's that would have been stored."""
    deal, _ = normal(CALLING)

    def disturb(_now: int, _after: bool) -> None:
        if store.calls[-1] == call:
            raise StoreError("the store is gone")

    store = watched(disturb)
    service = Service("rules", store)
    player, _ = direct_player(service)
    player.begin(deal, frozenset())
    query = f"token=7f0e&gameNum=0&dealNum=0&round=1&turnCard={deal.table.turn_card}&pos=0"
    answer = service.ok("GET", f"/bid?{query}")
    assert store.calls.count(call) == 3
    assert [trouble.partition(": ")[2] for trouble in service.diary.troubles] == [
        "trying again: the store is gone",
        "trying again: the store is gone",
        "an answer is not stored: the store is gone",
    ]
    assert bool(service.diary.faults) == (call == "read")
    called = deal.table.bids[0].suit
    assert called is not None
    assert answer["suit"] == (-1 if call == "read" else called)
