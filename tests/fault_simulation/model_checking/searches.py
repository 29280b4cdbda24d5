"""Searches of `make evidence-model-check`: of the code as it is, and of mutated rules.

Every reachable state is visited once, states without a fault first. This module is
separate from the command, so that worker processes can import it.
"""

import logging
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from unittest import mock

from cardsharp.bot import lease_keeper, lease_observer, match_session
from cardsharp.bot.error_policy import DenialTracker, is_client_error
from cardsharp.errors import ArenaError
from cardsharp.store import sqlite_match_log
from cardsharp.store.match_log import ExpiredLease, Lease, MatchRecord
from fault_simulation.model_checking import card_match
from fault_simulation.model_checking.process_model import inline_lease_keeper
from fault_simulation.model_checking.state_space import (
    SINGLE_WORKER_CONFIG,
    TWO_CARDS,
    WITH_OBSERVER,
    ModelConfig,
    StateSpace,
)

Predecessors = dict[bytes, tuple[bytes, str]]
"""By which state, packed, and which step every state was reached first."""


@dataclass
class SearchResult:
    """Result of a search; `states_by_fault_count[n]` counts the states that need n faults."""

    states_by_fault_count: list[int] = field(default_factory=list)
    steps: int = 0
    seconds: float = 0  # of a processor
    max_unattended_seconds: float = 0  # for so many seconds at most nobody attended the match
    violation: str | None = None
    trace: list[str] = field(default_factory=list)

    @property
    def states(self) -> int:
        return sum(self.states_by_fault_count)


def search(state_space: StateSpace, faults: int) -> SearchResult:
    """Search all states with up to that many faults, and stop at the first violation."""
    began, result = time.process_time(), SearchResult()
    predecessors: Predecessors = {}
    level: Predecessors = {
        state_space.pack(state_space.canonical(state_space.initial_state())): (b"", "")
    }
    while level and result.violation is None and len(result.states_by_fault_count) <= faults:
        previous_count, is_last_level = (
            len(predecessors),
            len(result.states_by_fault_count) == faults,
        )
        level = _search_level(state_space, predecessors, level, result, is_last=is_last_level)
        result.states_by_fault_count.append(len(predecessors) - previous_count)
    result.seconds, result.max_unattended_seconds = (
        time.process_time() - began,
        state_space.max_unattended / 2,
    )
    return result


def _search_level(
    state_space: StateSpace,
    predecessors: Predecessors,
    level: Predecessors,
    result: SearchResult,
    *,
    is_last: bool,
) -> Predecessors:
    """Search all states that are reachable from `level` without a further fault.

    Return the states that one more fault leads to, or nothing if this is the last level.
    """
    next_level: Predecessors = {}
    while level:
        packed, predecessor = level.popitem()
        if packed in predecessors:
            continue
        predecessors[packed] = predecessor
        for step in state_space.successors(state_space.unpack(packed)):
            result.steps += 1
            if step.violation is not None:
                result.violation, result.trace = (
                    step.violation,
                    [*_trace(predecessors, packed), step.description],
                )
                return next_level
            if step.is_fault and is_last:
                continue
            reached = state_space.pack(state_space.canonical(step.state))
            if reached not in predecessors:
                description = sys.intern(step.description)
                (next_level if step.is_fault else level).setdefault(reached, (packed, description))
    return next_level


def _trace(predecessors: Predecessors, packed: bytes) -> list[str]:
    descriptions = []
    while packed:
        packed, description = predecessors[packed]
        descriptions.append(description)
    return descriptions[-2::-1]


HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class SearchJob:
    """Search to run: its configuration, the maximum of faults, and the mutation of the code."""

    title: str
    config: ModelConfig = SINGLE_WORKER_CONFIG
    max_faults: int = 1
    mutation: tuple[object, str, Any] | None = None

    @contextmanager
    def with_mutation(self) -> Iterator[None]:
        with mock.patch.object(*self.mutation) if self.mutation else nullcontext():
            yield


SEARCHES = (
    SearchJob("one worker at a time and an onlooker, two cards"),
    SearchJob(
        "one worker at a time and an onlooker, one card",
        replace(SINGLE_WORKER_CONFIG, card_count=1),
        2,
    ),
    SearchJob("two workers and an onlooker, one card", replace(TWO_CARDS, card_count=1)),
    SearchJob(
        "the same, the workers' clocks an hour before and behind",
        ModelConfig(card_count=1, clock_skews=(HOUR, -HOUR)),
    ),
    SearchJob("two workers and an onlooker, two cards", TWO_CARDS),
    SearchJob("two workers and a poller, one card", WITH_OBSERVER),
    SearchJob("two workers and two pollers, one card", replace(WITH_OBSERVER, observer_count=2)),
)


def _only_back_off(
    self: lease_keeper.LeaseKeeper, _error: ArenaError, _sent: object, _max_retry_after: object
) -> None:
    self.sleep_before_handover(self.timing.backoff)


_log_intent = lease_keeper.LeaseKeeper.log_intent_within_lease


def _log_intent_late(self: lease_keeper.LeaseKeeper, sequence: int, intent: Any) -> bool:  # noqa: ANN401
    _log_intent(self, sequence, intent)
    return True


_send_action = card_match.CardTurnPort.send


def _resend_action(self: card_match.CardTurnPort, action: str) -> Any:  # noqa: ANN401
    try:
        return _send_action(self, action)
    except ArenaError as error:
        if not error.outcome_unknown:
            raise
        return _send_action(self, action)


class _CredulousDenialTracker(DenialTracker):
    def repeated_denial_duration(self, error: ArenaError, current_time: float) -> timedelta:
        return (
            HOUR
            if is_client_error(error)
            else super().repeated_denial_duration(error, current_time)
        )


def _expire_only_without_lease(
    _self: lease_observer.LeaseObserver, match: MatchRecord, _current_time: float
) -> ExpiredLease | None:
    return ExpiredLease(match.lease_version, timedelta(0)) if match.ttl is None else None


def _accept_any_owner(db: sqlite3.Connection, lease: Lease) -> None:
    db.execute("UPDATE matches SET beat = beat + 1 WHERE id = ?", (lease.match_id,))


MUTATION_SEARCHES = (
    SearchJob(
        "no fence", TWO_CARDS, mutation=(sqlite_match_log, "_require_lease", _accept_any_owner)
    ),
    SearchJob(
        "an action without an answer is sent again",
        mutation=(card_match.CardTurnPort, "send", _resend_action),
    ),
    SearchJob(
        "a successor does not wait for what may arrive",
        mutation=(lease_keeper.LeaseKeeper, "wait_for_in_flight_actions", lambda *_: False),
    ),
    SearchJob(
        "no wait after an action without an answer",
        mutation=(lease_keeper.LeaseKeeper, "wait_until_failed_action_settled", _only_back_off),
    ),
    SearchJob(
        "no intent is stored",
        mutation=(lease_keeper.LeaseKeeper, "log_intent_within_lease", lambda *_: True),
    ),
    SearchJob(
        "an action is sent however long its intent took",
        TWO_CARDS,
        mutation=(lease_keeper.LeaseKeeper, "log_intent_within_lease", _log_intent_late),
    ),
    SearchJob(
        "a page counts as a refusal",
        mutation=(match_session, "is_action_rejected", lambda _error: True),
    ),
    SearchJob(
        "another's word is taken for how long nobody was there",
        mutation=(lease_observer.LeaseObserver, "idle_for", lambda *_: HOUR),
    ),
    SearchJob(
        "one denial closes a match",
        mutation=(lease_keeper, "DenialTracker", _CredulousDenialTracker),
    ),
    SearchJob(
        "a lease never runs out",
        WITH_OBSERVER,
        mutation=(lease_observer.LeaseObserver, "expired_lease", _expire_only_without_lease),
    ),
)

ALL_SEARCHES = (*SEARCHES, *MUTATION_SEARCHES)


def run_search(search_index: int) -> SearchResult:
    logging.disable(logging.CRITICAL)
    job = ALL_SEARCHES[search_index]
    with inline_lease_keeper(), job.with_mutation():
        return search(StateSpace(job.config), job.max_faults)
