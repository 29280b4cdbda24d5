"""R36: all interleavings of the real code in a small match; `make explore` does more of them."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from world.explore.__main__ import main
from world.explore.jobs import MUTANTS, explore
from world.explore.process import no_threads
from world.explore.world import TWO_CARDS, WATCHED, Setting, World

ALONE = Setting(cards=1, skews=(timedelta(0),), onlookers=0)
TWO_POLLERS = replace(WATCHED, onlookers=2)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    with no_threads():
        yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize(
    ("setting", "faults", "least"),
    [(ALONE, 1, 300), (TWO_CARDS, 0, 500), (WATCHED, 0, 30), (TWO_POLLERS, 0, 500)],
)
def test_r36_no_interleaving_harms_a_match(setting: Setting, faults: int, least: int) -> None:
    """The real pollers are explored too: a question that they have learned to ask is noticed."""
    found = explore(World(setting), faults)
    assert found.wrong is None, found.trace
    assert found.states > least


@pytest.mark.parametrize("rule", ["no intent is stored", "a page counts as a refusal"])
def test_a_broken_rule_is_found(rule: str) -> None:
    (mutant,) = (one for one in MUTANTS if one.words == rule)
    with mutant.planted():
        found = explore(World(ALONE), 1)
    assert found.wrong is not None
    assert found.trace


@pytest.mark.parametrize("setting", [TWO_CARDS, WATCHED])
def test_what_is_merged_does_as_the_code_does_from_its_start(setting: Setting) -> None:
    """By chance through both: the states as explored, and each process run anew from its start."""
    rng = Random(1)
    for _ in range(12):
        short, long = World(setting), World(setting, merge=False)
        here, there = short.start(), long.start()
        for _ in range(40):
            ways, same = list(short.steps(here)), list(long.steps(there))
            assert [one.words for one in ways] == [one.words for one in same]
            at = rng.randrange(len(ways))
            here, there = ways[at].state, same[at].state


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_r36_make_explore_finds_nothing_but_what_is_broken_on_purpose() -> None:
    assert main() == 0
