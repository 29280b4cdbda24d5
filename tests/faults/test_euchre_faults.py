"""A store that fails, a process that dies: no answer changes, and none is ever illegal."""

from collections.abc import Collection, Mapping
from functools import cache
from random import Random

import pytest
from fault_simulation.faults import CRASHES, FaultInjector, FaultKind, FaultPlan
from fault_simulation.virtual_clock import VirtualClock
from support.case_counts import case_count
from support.euchre_deals import play_deal, strategy_player
from support.euchre_service import (
    CARDS,
    DealMessages,
    EuchreServiceHarness,
    in_process_player,
    memory_store,
)

from cardsharp.games.euchre.rules import Deal
from cardsharp.games.euchre.simulation import shuffled_deck

SEEDS = (4, 6, 48)  # deals that are called early, late and alone

SPADES = 3
DEALING = 6  # the deal in which our seats are 1 and 3, so that we discard; else they are 0 and 2

CALLS = frozenset({"begin", "read", "append"})


def disturbed(
    faults: Mapping[int, FaultKind], calls: Collection[str] = CALLS
) -> tuple[EuchreServiceHarness, FaultPlan]:
    """A service over a store of which these calls can go wrong, and do by their numbers."""
    plan = FaultPlan(VirtualClock(), faults)
    return EuchreServiceHarness("rules", FaultInjector(memory_store(), plan, calls)), plan


def play(
    seed: int, faults: Mapping[int, FaultKind]
) -> tuple[Deal, EuchreServiceHarness, FaultPlan, int]:
    """A deal, our two seats asked over the protocol and the others told; how it went."""
    service, plan = disturbed(faults)
    remote, adapter = in_process_player(service)
    seats = (1, 3) if seed == DEALING else (0, 2)
    player, other = remote.for_match(seats), strategy_player("rules")
    deal = play_deal(
        shuffled_deck(Random(seed)), [player if seat in seats else other for seat in range(4)]
    )
    return deal, service, plan, adapter.restarts


@cache
def normal(seed: int) -> tuple[Deal, int]:
    """The deal without any fault, and how many calls of the store it needs."""
    deal, service, plan, _ = play(seed, {})
    assert service.log.strategy_failures == []
    return deal, len(plan.steps)


BEFALLEN = [
    *(
        (kind,)
        for kind in (*CRASHES, FaultKind.THROTTLED, FaultKind.RESPONSE_LOST, FaultKind.CONFLICT)
    ),
    # The call after the one that failed is the first of the next attempt.
    (FaultKind.THROTTLED, FaultKind.RESPONSE_LOST),
]
"""What befalls calls of the store; in the sample each call suffers one of them."""


@pytest.mark.parametrize("kinds", BEFALLEN)
def test_a_fault_at_any_store_call_changes_no_answer(
    kinds: tuple[FaultKind, ...],
) -> None:
    """A client asks a service that died once more: the new process goes on from what is stored."""
    expected, calls = normal(DEALING)
    dies = kinds[0] in CRASHES
    for number in range(BEFALLEN.index(kinds), calls, case_count(len(BEFALLEN), full=1)):
        deal, service, _, deaths = play(DEALING, dict(enumerate(kinds, number)))
        assert deal == expected, number
        assert service.log.strategy_failures == [], number
        assert deaths == dies, number
        assert dies or service.log.other_errors, number


@pytest.mark.parametrize("seed", SEEDS)
def test_a_store_that_fails_for_good_leaves_every_answer_legal(seed: int) -> None:
    """From any call on: the coordinator refuses nothing, and every trouble is written down."""
    for start in range(0, normal(seed)[1], case_count(8, full=1)):
        assert play(seed, {start: FaultKind.STORE_DOWN})[1].log.other_errors


@pytest.mark.parametrize("call", ["read", "append"])
def test_a_store_that_fails_is_tried_three_times_a_request(call: str) -> None:
    """If only the writing fails, the answer is the strategy's that would have been stored."""
    service, plan = disturbed({0: FaultKind.STORE_DOWN}, {call})
    deal = DealMessages(service)
    deal.begin([*CARDS[15:20], *CARDS[:15], *CARDS[20:]])
    answer = deal.request_bid(1, 0)
    assert plan.steps == [call] * 3
    assert service.log.other_errors == [
        "trying again: StoreError: The store is down.",
        "trying again: StoreError: The store is down.",
        "an answer is not stored: StoreError: The store is down.",
    ]
    assert bool(service.log.strategy_failures) == (call == "read")
    assert answer["suit"] == (-1 if call == "read" else SPADES), "who holds all of them calls"
