"""The compiled search and the plain one are the same, to the last bit."""

from collections.abc import Iterable
from random import Random

import pytest

from cardsharp.deadmansdraw.actions import DRAW
from cardsharp.deadmansdraw.strategies.base import Option
from cardsharp.deadmansdraw.strategies.captain import Weighing
from cardsharp.deadmansdraw.strategies.search.leaves import Limits
from cardsharp.deadmansdraw.strategies.search.tree import Search
from cardsharp.deadmansdraw.strategies.search.weights import model
from workbench.lab.native import load, why_not
from workbench.lab.selfplay import Match, deal, fair_chance

compiled = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


def told(options: Iterable[Option]) -> list[tuple[object, float]]:
    return [(option.action, option.value) for option in options]


@compiled
@pytest.mark.parametrize(
    "limits",
    [
        Limits(),
        Limits(levels=1, second_draws=-1, endgame=0, whole_turns=0),
        Limits(samples=2, root_samples=3, endgame=5, most_nodes=500),
    ],
)
def test_same_values_for_every_option(limits: Limits) -> None:
    engine = load()
    assert engine is not None
    captain = engine.captain(model("captain").numbers, limits)
    kinds = set()
    for seed in range(2):
        rng = Random(f"native/{seed}")
        match = Match(deal(rng), fair_chance(rng))
        while match.state.active is not None:
            position = match.position()
            actions = position.legal_actions()
            if actions == (DRAW,):
                match.play(DRAW)
                continue
            kinds.add(position.pending and position.pending.effect_type)
            options = Weighing(position, Search(model("captain"), limits)).options()
            assert told(engine.weigh(captain, position)[0]) == told(options)
            best = max(options, key=lambda option: option.value).action
            match.play(best if rng.random() < 0.5 else rng.choice(actions))
    assert len(kinds) >= 5
