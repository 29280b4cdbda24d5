"""A judge for a game that brings none: the default player plays on, in many worlds."""

import hashlib
from collections.abc import Sequence
from random import Random
from statistics import fmean
from typing import Any

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.host.house import house
from cardsharp.judge import Judge
from cardsharp.strategy import Decision, Option, ranked

WORLDS = 60  # deals of what is hidden in which each action is played to the end


class Playouts(Judge):
    """What each action brought in the mean, if all go on as the default player does."""

    def __init__(self, folder: str) -> None:
        self._house, self._rules = house(folder), house(folder).rules()
        self.name = self._house.game.default_strategy
        if self._rules.unit:
            self.unit, self.form, self.total = self._rules.unit, "+.2f", 0.0
            self.stake = 2 * self._rules.most

    def weigh(self, position: Any, _also: Sequence[Any] = ()) -> Decision[Any]:  # noqa: ANN401 - any game's
        """The best action, with the worth of everything that is legal; always the same."""
        told = self._house.codec.positions.adapter.dump_json(position)
        seed = int.from_bytes(hashlib.sha256(told).digest()[:8], "big")
        options = tuple(
            Option(action, fmean(self._worth(position, action, seed + at) for at in range(WORLDS)))
            for action in self._rules.options(position)
        )
        best = ranked(options)[0]
        return Decision(best.action, f"{best.action}: the best of {WORLDS} playouts.", options)

    def result(self, record: MatchRecord, _moves: Sequence[MoveRecord]) -> float | None:
        """What the first seat made of a match that has ended."""
        gains: Any = None if record.outcome is None else record.outcome.get("gains")
        if gains is None or self._rules.unit:
            return None if gains is None else float(gains[0])
        return (float(gains[0]) + self._rules.most) / (2 * self._rules.most)

    def _worth(self, position: Any, action: Any, seed: int) -> float:  # noqa: ANN401 - any game's
        """What the decider makes of one match that goes on so."""
        rules, dice = self._rules, Random(seed)
        state = rules.imagined(position, dice)
        decider, player = rules.to_act(state), rules.strategies.build(self.name, dice)
        state = rules.act(state, action, dice)
        while rules.to_act(state) is not None:
            state = rules.act(state, player.decide(rules.position(state)).action, dice)
        return (rules.gains if rules.unit else rules.points)(state)[decider or 0]
