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
    ("setting", "faults", "least"),
    [(ALONE, 1, 300), (TWO_CARDS, 0, 500), (WITH_OBSERVER, 0, 30), (TWO_POLLERS, 0, 500)],
)
def test_r36_no_interleaving_harms_a_match(setting: ModelConfig, faults: int, least: int) -> None:
    """The real pollers are explored too: a question that they have learned to ask is noticed."""
    found = search(StateSpace(setting), faults)
    assert found.violation is None, found.trace
    assert found.states > least


@pytest.mark.parametrize("rule", ["no intent is stored", "a page counts as a refusal"])
def test_a_broken_rule_is_found(rule: str) -> None:
    (mutant,) = (one for one in MUTATION_SEARCHES if one.title == rule)
    with mutant.with_mutation():
        found = search(StateSpace(ALONE), 1)
    assert found.violation is not None
    assert found.trace


@pytest.mark.parametrize("setting", [TWO_CARDS, WITH_OBSERVER])
def test_what_is_merged_does_as_the_code_does_from_its_start(setting: ModelConfig) -> None:
    """By chance through both: the states as explored, and each process run anew from its start."""
    rng = Random(1)
    for _ in range(12):
        short, long = StateSpace(setting), StateSpace(setting, merge=False)
        here, there = short.initial_state(), long.initial_state()
        for _ in range(40):
            ways, same = list(short.successors(here)), list(long.successors(there))
            assert [one.description for one in ways] == [one.description for one in same]
            at = rng.randrange(len(ways))
            here, there = ways[at].state, same[at].state


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_r36_make_explore_finds_nothing_but_what_is_broken_on_purpose() -> None:
    assert main() == 0
