"""R36: all interleavings of the real code in a small match."""

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

ALONE = ModelConfig(card_count=1, clock_skews=(timedelta(0),), observer_count=0)
TWO_POLLERS = replace(WITH_OBSERVER, observer_count=2)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    with inline_lease_keeper():
        yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize(
    ("setting", "faults", "min_states"),
    [(ALONE, 1, 300), (TWO_CARDS, 0, 500), (WITH_OBSERVER, 0, 30), (TWO_POLLERS, 0, 500)],
)
def test_r36_no_interleaving_harms_a_match(
    setting: ModelConfig, faults: int, min_states: int
) -> None:
    """The real pollers are explored too: a question that they have learned to ask is noticed."""
    result = search(StateSpace(setting), faults)
    assert result.violation is None, result.trace
    assert result.states > min_states


@pytest.mark.parametrize("rule", ["no intent is stored", "a page counts as a refusal"])
def test_a_mutated_rule_is_detected(rule: str) -> None:
    (mutant,) = (
        mutation_search for mutation_search in MUTATION_SEARCHES if mutation_search.title == rule
    )
    with mutant.with_mutation():
        result = search(StateSpace(ALONE), 1)
    assert result.violation is not None
    assert result.trace


@pytest.mark.parametrize("setting", [TWO_CARDS, WITH_OBSERVER])
def test_merged_states_behave_like_a_replay_from_the_start(setting: ModelConfig) -> None:
    """Walk both state spaces at random: the merged one, and one that replays each process."""
    rng = Random(1)
    for _ in range(12):
        short, long = StateSpace(setting), StateSpace(setting, merge=False)
        merged_state, replayed_state = short.initial_state(), long.initial_state()
        for _ in range(40):
            ways, same = list(short.successors(merged_state)), list(long.successors(replayed_state))
            assert [successor.description for successor in ways] == [
                successor.description for successor in same
            ]
            at = rng.randrange(len(ways))
            merged_state, replayed_state = ways[at].state, same[at].state


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_r36_make_explore_reports_only_the_planted_faults() -> None:
    assert main() == 0
