"""Test of R36: the model check of all interleavings of the real code in a small match."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from fault_simulation.model_checking.__main__ import main
from fault_simulation.model_checking.process_model import inline_lease_keeper
from fault_simulation.model_checking.searches import MUTATION_SEARCHES, search
from fault_simulation.model_checking.state_space import (
    TWO_CARDS,
    WITH_OBSERVER,
    ModelConfig,
    StateSpace,
)

SINGLE_WORKER = ModelConfig(card_count=1, clock_skews=(timedelta(0),), observer_count=0)
TWO_POLLERS = replace(WITH_OBSERVER, observer_count=2)


@pytest.fixture(autouse=True)
def without_logs_or_threads() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    with inline_lease_keeper():
        yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize(
    ("config", "max_faults", "min_states"),
    [(SINGLE_WORKER, 1, 300), (TWO_CARDS, 0, 500), (WITH_OBSERVER, 0, 30), (TWO_POLLERS, 0, 500)],
)
def test_r36_no_interleaving_harms_a_match(
    config: ModelConfig, max_faults: int, min_states: int
) -> None:
    """No violation is reachable; the real pollers are explored too."""
    result = search(StateSpace(config), max_faults)
    assert result.violation is None, result.trace
    assert result.states > min_states


@pytest.mark.parametrize("rule", ["no intent is stored", "a page counts as a refusal"])
def test_a_mutated_rule_is_detected(rule: str) -> None:
    (mutation_search,) = (candidate for candidate in MUTATION_SEARCHES if candidate.title == rule)
    with mutation_search.with_mutation():
        result = search(StateSpace(SINGLE_WORKER), 1)
    assert result.violation is not None
    assert result.trace


@pytest.mark.parametrize("config", [TWO_CARDS, WITH_OBSERVER])
def test_merged_states_behave_like_a_replay_from_the_start(config: ModelConfig) -> None:
    """Walk both state spaces at random: the merged one, and one that replays each process."""
    rng = Random(1)
    for _ in range(12):
        merged_space, replayed_space = StateSpace(config), StateSpace(config, merge=False)
        merged_state, replayed_state = merged_space.initial_state(), replayed_space.initial_state()
        for _ in range(40):
            merged_steps, replayed_steps = (
                list(merged_space.successors(merged_state)),
                list(replayed_space.successors(replayed_state)),
            )
            assert [successor.description for successor in merged_steps] == [
                successor.description for successor in replayed_steps
            ]
            index = rng.randrange(len(merged_steps))
            merged_state, replayed_state = merged_steps[index].state, replayed_steps[index].state


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_r36_the_model_check_reports_only_mutated_rules() -> None:
    assert main() == 0
