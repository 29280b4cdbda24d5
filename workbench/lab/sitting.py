"""A match on this machine between a person and strategies, by the real rules."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any, Generic, NamedTuple

from cardsharp.deciding import Decided
from cardsharp.simulation import A, P, S, Simulation
from cardsharp.strategy import Decision
from workbench.lab.extras import Taken
from workbench.show.person import Left, Person, Told

PERSON = "you"
"""What the person is called, also in the match log."""


class Bot(NamedTuple):
    """A strategy at the table, and what it is called in the match log."""

    name: str
    strategy: Any


@dataclass
class Sitting(Generic[S, P, A]):
    """A match that the person at seat `you` plays against the `bots` of the other seats.

    With `whys` the bots' reasons are told when a chapter, such as a round, is over.
    """

    simulation: Simulation[S, P, A]
    you: int
    person: Person[P, A]
    bots: Mapping[int, Bot]
    whys: bool = False
    taken: list[Taken] = field(default_factory=list, init=False)
    left: bool = field(default=False, init=False)
    _reasons: list[str] = field(default_factory=list, init=False)

    def play(self, dice: Random) -> S:
        """Play until the match has ended, or the person has `left`; where it stands then."""
        state = self.simulation.deal(dice)
        while (seat := self.simulation.to_act(state)) is not None:
            try:
                decided = self._decide(state, seat)
            except Left:
                self.left = True
                return state
            action = decided.decision.action
            after = self.simulation.act(state, action, dice)
            self.taken.append(Taken(state, action, decided))
            self._tell(self.person.screen.told(state, action, after), seat, decided.decision)
            state = after
        return state

    def _decide(self, state: S, seat: int) -> Decided[Decision[A]]:
        position = self.simulation.position(state)
        player = self.person if seat == self.you else self.bots[seat].strategy
        began = time.perf_counter()
        decision = player.decide(position)
        return Decided(decision, timedelta(seconds=time.perf_counter() - began))

    def _tell(self, told: Told, seat: int, decision: Decision[A]) -> None:
        if self.whys and seat != self.you:
            name = self.person.screen.names[seat]
            self._reasons.append(f"   {name}: {decision.reason}")
        reasons, self._reasons = (self._reasons, []) if told.closes else ([], self._reasons)
        self.person.tell(Told([*told.lines, *reasons], told.closes))
