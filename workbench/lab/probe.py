"""Whether a strategy answers as it should: right where that is known, and fairly everywhere."""

from dataclasses import dataclass
from itertools import islice
from random import Random

from workbench.lab.extras import ProbeAnswer, extras_of
from workbench.lab.plan import Plan
from workbench.lab.players import strategy_of
from workbench.lab.positions import met_states


@dataclass(frozen=True, slots=True)
class LabProbed:
    """Answers to hand-made positions, and what was asked a second time over real ones.

    `changed` are answers that changed though the player could know no more: it was made anew
    with the same dice, and what is hidden from it was dealt anew.
    """

    answers: tuple[ProbeAnswer, ...]
    asked: int
    changed: int

    @property
    def is_right(self) -> bool:
        """Whether nothing was found."""
        return all(one.is_right for one in self.answers) and not self.changed


def probe(plan: Plan) -> LabProbed:
    """What is found of `plan.first` in the hand-made positions and in `plan.pairs` real ones."""
    simulation, extras = plan.simulation, extras_of(plan.game)
    answers = tuple(extras.answers(strategy_of(plan, plan.first, extras.dice(1, 0).first)))
    asked = changed = 0
    for state in islice(met_states(plan), plan.pairs):
        other = simulation.disguised(state, Random(asked))
        one, two = (
            strategy_of(plan, plan.first, extras.dice(plan.seed, asked).first)
            .decide(simulation.position(seen))
            .action
            for seen in (state, other)
        )
        asked += 1
        changed += one != two
    return LabProbed(answers, asked, changed)
