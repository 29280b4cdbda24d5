"""The compiled search and the plain one are the same, to the last bit."""

import pytest

from cardsharp.deadmansdraw.strategies.captain import Captain, Weighing
from cardsharp.deadmansdraw.strategies.search.leaves import SearchLimits
from cardsharp.deadmansdraw.strategies.search.tree import Search
from cardsharp.deadmansdraw.strategies.search.weights import model
from research.deadmansdraw.engine import load
from research.tests.decisions import code_of, compiled_options, needs_compiler, plain_decisions


@needs_compiler
@pytest.mark.parametrize(
    "limits",
    [
        SearchLimits(),
        SearchLimits(levels=1, second_draws=-1, endgame=0),
        SearchLimits(samples=2, root_samples=3, endgame=8, most_ends=500),
    ],
)
def test_same_values_for_every_option(limits: SearchLimits) -> None:
    engine = load()
    assert engine is not None
    kinds, weights = set(), model("captain")
    captain = engine.captain(weights, limits)
    for number in range(2):
        found = compiled_options(captain, 5, number)
        plain = plain_decisions(lambda _rng: Captain(weights, limits), 5, number)
        for (position, _), compiled in zip(plain, found, strict=True):
            if len(position.legal_actions()) == 1:
                assert compiled == []
                continue
            kinds.add(position.pending and position.pending.effect_type)
            options = Weighing(position, Search(weights, limits)).options()
            assert [(code_of(option.action), option.value) for option in options] == compiled
    assert len(kinds) >= 5
