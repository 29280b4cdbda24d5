"""Chance in the arena: the original's numbers exactly, fair ones by default, repeatable both."""

from itertools import islice

import pytest

from cardsharp.deadmansdraw.arena.creation import DEFAULT_DRAW_DECK
from cardsharp.deadmansdraw.arena.randomness import (
    Randomness,
    draws_for_request,
    draws_for_start,
    fractions,
)

FROM_THE_PACKAGE = {
    # seed: the first eight range(1000) of random-seed 0.3.0
    "20221105HelloWorld": [832, 101, 421, 989, 36, 701, 560, 287],
    " a b\u00a0": [796, 19, 986, 463, 521, 387, 721, 958],
    "\u00fcn\u00efc\u00f6d\u00e9 \U0001f3f4": [435, 715, 790, 216, 854, 926, 44, 583],
}


@pytest.mark.parametrize("seed", FROM_THE_PACKAGE)
def test_the_originals_generator_gives_the_packages_numbers(seed: str) -> None:
    """Same numbers as the npm package, also for seeds with blanks and beyond ASCII."""
    numbers = [int(1000 * fraction) for fraction in islice(fractions(seed), 8)]
    assert numbers == FROM_THE_PACKAGE[seed]


def picks_of_requests(randomness: Randomness, requests: int) -> list[tuple[object, ...]]:
    """What each of some requests picks from the same pile."""
    used = 0
    picks: list[tuple[object, ...]] = []
    for _ in range(requests):
        draws = draws_for_request("a seed", randomness, used)
        picks.append(draws(DEFAULT_DRAW_DECK, 3))
        used = draws.used
    return picks


def test_fair_chance_goes_on_through_the_match_and_the_originals_begins_again() -> None:
    """docs/spec/arena.md section 6: the original's requests all use the same numbers."""
    fair = picks_of_requests(Randomness.FAIR, 8)
    original = picks_of_requests(Randomness.ORIGINAL, 8)
    assert len(set(fair)) == 8
    assert len(set(original)) == 1


def test_fair_chance_favours_no_card() -> None:
    """10,000 first cards: each of 50 within five standard deviations of its share."""
    counts = dict.fromkeys(range(50), 0)
    for seed in range(10_000):
        counts[draws_for_start(str(seed), Randomness.FAIR).below(50)] += 1
    deviation = (10_000 * 0.02 * 0.98) ** 0.5
    assert all(abs(count - 200) < 5 * deviation for count in counts.values())


def test_a_draw_depends_on_nothing_but_seed_and_index() -> None:
    """So the number of draws is all that a restart has to know."""
    whole = draws_for_start("seed", Randomness.FAIR)
    numbers = [whole.below(1000) for _ in range(20)]
    later = draws_for_request("seed", Randomness.FAIR, 12)
    assert [later.below(1000) for _ in range(8)] == numbers[12:]
