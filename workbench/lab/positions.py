"""Positions to look at closely: of real matches between two strategies, decision by decision."""

from collections.abc import Iterator
from itertools import count
from typing import Any

from workbench.lab.extras import extras_of
from workbench.lab.plan import Plan
from workbench.lab.players import strategy_of


def met_states(plan: Plan) -> Iterator[Any]:
    """States in which `first` has a choice to make, of one match after the other."""
    simulation = plan.simulation
    own = simulation.sides[0]
    for number in count():
        dice = extras_of(plan.game).dice(plan.seed, number)
        first = strategy_of(plan, plan.first, dice.first)
        second = strategy_of(plan, plan.second, dice.second)
        state = simulation.deal(dice.deal)
        while (seat := simulation.to_act(state)) is not None:
            if seat in own and len(simulation.actions(state)) > 1:
                yield state
            player = first if seat in own else second
            action = player.decide(simulation.position(state)).action
            state = simulation.act(state, action, dice.chance)
