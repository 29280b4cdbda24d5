"""A store that fails, a process that dies: no answer changes, and none is ever illegal."""

from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Any

import pytest
from support.euchre_api import Service, memory_store
from support.euchre_direct import Died, direct_player

from cardsharp.errors import Conflict, StoreError
from cardsharp.euchre.cards import Card
from cardsharp.euchre.records import DealKey, Event, Record
from cardsharp.euchre.simulation import shuffled
from cardsharp.euchre.state import Deal
from cardsharp.euchre.store import DealStore
from cardsharp.euchre.strategies import build
from workbench.euchre.coordinator import StrategyPlayer, play_deal

Disturbance = Callable[[int, bool], None]

SEEDS = (4, 6, 48)
"""Deals that are called early, late and alone; a test looks whether they are."""

DEALING = 6
"""The deal in which our seats are 1 and 3, so that we discard; else they are 0 and 2."""


def deals(*more: object) -> list[Any]:
    """Every deal, with `more` beside it; `make test` plays one of them."""
    slow = {seed: [pytest.mark.slow] if seed != DEALING else [] for seed in SEEDS}
    return [pytest.param(seed, *more, marks=slow[seed]) for seed in SEEDS]


class Watched:
    """A store in which every call is counted and may be disturbed.

    `disturb` is called with the number of the call, from 0, before it is made and again after.
    """

    def __init__(self, store: DealStore, disturb: Callable[[int, bool], None]) -> None:
        self.store, self.disturb, self.calls = store, disturb, 0

    def begin(self, key: DealKey, cards: tuple[Card, ...]) -> None:
        self._around(lambda: self.store.begin(key, cards))

    def read(self, key: DealKey) -> Record | None:
        found: list[Record | None] = []
        self._around(lambda: found.append(self.store.read(key)))
        return found[0]

    def append(self, record: Record, event: Event) -> None:
        self._around(lambda: self.store.append(record, event))

    def _around(self, work: Callable[[], None]) -> None:
        number, self.calls = self.calls, self.calls + 1
        self.disturb(number, False)  # noqa: FBT003 - before
        work()
        self.disturb(number, True)  # noqa: FBT003 - after


def undisturbed(_number: int, _after: bool) -> None:
    pass


def play(seed: int, disturb: Disturbance) -> tuple[Deal, Service, Watched, int]:
    """A deal, our two seats asked over the protocol and the others told; how it went."""
    store = Watched(memory_store(), disturb)
    service = Service("rules", store)
    player, adapter = direct_player(service)
    other = StrategyPlayer(build("rules"))
    ours = (other, player) if seed == DEALING else (player, other)
    deal, _ = play_deal(shuffled(Random(seed)), (*ours, *ours))
    return deal, service, store, adapter.deaths


@cache
def normal(seed: int) -> tuple[Deal, int]:
    """The deal without any fault, and how many calls of the store it needs."""
    deal, service, store, _ = play(seed, undisturbed)
    assert service.diary.faults == []
    return deal, store.calls


def faults(seed: int) -> Iterator[tuple[int, bool]]:
    """Before and after every call of the store."""
    _, calls = normal(seed)
    return ((number, after) for number in range(calls) for after in (False, True))


def once(number: int, after: bool, error: BaseException) -> Disturbance:
    """A disturbance that raises at one place and never again."""
    left = [error]

    def disturb(now: int, now_after: bool) -> None:
        if left and (now, now_after) == (number, after):
            raise left.pop()

    return disturb


def test_the_deals_are_worth_playing() -> None:
    tables = [normal(seed)[0].table for seed in SEEDS]
    calls = [table.call for table in tables]
    assert all(call is not None for call in calls)
    assert any(call.picks_up for call in calls if call)
    assert any(not call.picks_up for call in calls if call)
    assert any(call.alone for call in calls if call)
    assert all(normal(seed)[1] > 25 for seed in SEEDS)


@pytest.mark.parametrize(("seed", "error"), [*deals(StoreError), (DEALING, Conflict)])
def test_a_fault_before_or_after_any_store_call_changes_no_answer(
    seed: int, error: type[StoreError]
) -> None:
    expected, _ = normal(seed)
    for number, after in faults(seed):
        deal, service, _, _ = play(seed, once(number, after, error("the store failed")))
        assert deal == expected, (number, after)
        assert service.diary.faults == [], (number, after)
        assert len(service.diary.troubles) == 1, (number, after)


@pytest.mark.parametrize("seed", deals())
def test_a_death_before_or_after_any_store_call_changes_no_answer(seed: int) -> None:
    """If the client asks again: a new process goes on from what is stored."""
    expected, _ = normal(seed)
    for number, after in faults(seed):
        deal, service, _, deaths = play(seed, once(number, after, Died()))
        assert deal == expected, (number, after)
        assert deaths == 1, (number, after)
        assert service.diary.faults == [], (number, after)


def test_two_faults_in_a_row_change_no_answer_either() -> None:
    seed = DEALING
    expected, _ = normal(seed)
    for number, after in faults(seed):
        first = once(number, after, StoreError("once"))
        # The call after the one that failed is the first of the next attempt.
        second = once(number + 1, after, StoreError("twice"))

        def disturb(
            now: int,
            now_after: bool,
            both: tuple[Disturbance, Disturbance] = (first, second),
        ) -> None:
            for one in both:
                one(now, now_after)

        deal, service, _, _ = play(seed, disturb)
        assert deal == expected, (number, after)
        assert service.diary.faults == [], (number, after)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_store_that_fails_for_good_leaves_every_answer_legal(seed: int) -> None:
    """From any call on: the coordinator refuses nothing, and every trouble is written down."""
    for start in range(0, normal(seed)[1], 2):  # every other one, for time's sake

        def disturb(now: int, _after: bool, start: int = start) -> None:
            if now >= start:
                raise StoreError("the store is gone")

        _, service, _, _ = play(seed, disturb)
        assert service.diary.troubles


def test_a_store_that_cannot_be_read_is_tried_three_times_a_request() -> None:
    def disturb(_now: int, _after: bool) -> None:
        raise StoreError("the store is gone")

    store = Watched(memory_store(), disturb)
    service = Service("rules", store)
    target = "/play?token=a&gameNum=0&dealNum=0&trickNum=0&trickSeq=0&pos=0&playableCards=4"
    assert service.ok("GET", target)["card"] == 4
    assert store.calls == 3
    assert [trouble.partition(": ")[2] for trouble in service.diary.troubles] == [
        "trying again: the store is gone",
        "trying again: the store is gone",
        "an answer is not stored: the store is gone",
    ]


def test_a_decision_that_cannot_be_kept_is_still_the_strategys() -> None:
    """Only the writing fails: the answer is the one that would have been stored."""
    seed = SEEDS[0]
    expected, _ = normal(seed)

    class ReadOnly(Watched):
        def append(self, *_: object) -> None:
            raise StoreError("the store is full")

    service = Service("rules", ReadOnly(memory_store(), undisturbed))
    player, _ = direct_player(service)
    player.begin(expected, frozenset())
    first = play_first_bid(service, expected)
    assert first == expected.table.bids[0].suit or first == -1
    assert service.diary.faults == []


def play_first_bid(service: Service, deal: Deal) -> object:
    query = f"token=7f0e&gameNum=0&dealNum=0&round=1&turnCard={deal.table.turn_card}&pos=0"
    return service.ok("GET", f"/bid?{query}")["suit"]
