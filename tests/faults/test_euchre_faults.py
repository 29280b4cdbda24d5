"""Tests of the Euchre service under store faults and crashes: its answers stay the same."""

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
DISCARDING_SEED = (
    6  # the deal in which our seats are 1 and 3, so that we discard; else they are 0 and 2
)

STORE_CALLS = frozenset({"begin", "read", "append"})


def service_with_faults(
    faults: Mapping[int, FaultKind], calls: Collection[str] = STORE_CALLS
) -> tuple[EuchreServiceHarness, FaultPlan]:
    """Return a service and its fault plan; faults are given by the number of the store call."""
    plan = FaultPlan(VirtualClock(), faults)
    return EuchreServiceHarness("rules", FaultInjector(memory_store(), plan, calls)), plan


def play(
    seed: int, faults: Mapping[int, FaultKind]
) -> tuple[Deal, EuchreServiceHarness, FaultPlan, int]:
    """Play a deal with our two seats over the protocol; return the deal, and how it went."""
    service, plan = service_with_faults(faults)
    remote, adapter = in_process_player(service)
    seats = (1, 3) if seed == DISCARDING_SEED else (0, 2)
    player, opponent = remote.for_match(seats), strategy_player("rules")
    deal = play_deal(
        shuffled_deck(Random(seed)), [player if seat in seats else opponent for seat in range(4)]
    )
    return deal, service, plan, adapter.restart_count


@cache
def faultless_deal(seed: int) -> tuple[Deal, int]:
    """Return the deal without any fault, and the number of its store calls."""
    deal, service, plan, _ = play(seed, {})
    assert service.log.strategy_failures == []
    return deal, len(plan.steps)


FAULT_SEQUENCES = [
    *(
        (kind,)
        for kind in (*CRASHES, FaultKind.THROTTLED, FaultKind.RESPONSE_LOST, FaultKind.CONFLICT)
    ),
    # The call after the one that failed is the first of the next attempt.
    (FaultKind.THROTTLED, FaultKind.RESPONSE_LOST),
]
"""What befalls calls of the store; in the sample each call suffers one of them."""


@pytest.mark.parametrize("kinds", FAULT_SEQUENCES)
def test_a_fault_at_any_store_call_changes_no_answer(
    kinds: tuple[FaultKind, ...],
) -> None:
    """A client repeats its request after a crash; the new process resumes from the store."""
    expected, call_count = faultless_deal(DISCARDING_SEED)
    is_crash = kinds[0] in CRASHES
    for call_index in range(
        FAULT_SEQUENCES.index(kinds), call_count, case_count(len(FAULT_SEQUENCES), full=1)
    ):
        deal, service, _, restart_count = play(DISCARDING_SEED, dict(enumerate(kinds, call_index)))
        assert deal == expected, call_index
        assert service.log.strategy_failures == [], call_index
        assert restart_count == is_crash, call_index
        assert is_crash or service.log.other_errors, call_index


@pytest.mark.parametrize("seed", SEEDS)
def test_a_store_that_fails_for_good_leaves_every_answer_legal(seed: int) -> None:
    """The coordinator accepts every answer, and every error is logged, from any call on."""
    for start in range(0, faultless_deal(seed)[1], case_count(8, full=1)):
        assert play(seed, {start: FaultKind.STORE_DOWN})[1].log.other_errors


@pytest.mark.parametrize("call", ["read", "append"])
def test_a_store_that_fails_is_tried_three_times_a_request(call: str) -> None:
    """If only writing fails, the response is still the answer of the strategy."""
    service, plan = service_with_faults({0: FaultKind.STORE_DOWN}, {call})
    deal = DealMessages(service)
    deal.begin([*CARDS[15:20], *CARDS[:15], *CARDS[20:]])
    response = deal.request_bid(1, 0)
    assert plan.steps == [call] * 3
    assert service.log.other_errors == [
        "trying again: StoreError: The store is down.",
        "trying again: StoreError: The store is down.",
        "an answer is not stored: StoreError: The store is down.",
    ]
    assert bool(service.log.strategy_failures) == (call == "read")
    assert response["suit"] == (-1 if call == "read" else SPADES), "who holds all of them calls"
