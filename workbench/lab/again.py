"""Stored decisions made again, by another player, on the very positions of then."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.deciding import Decided
from cardsharp.errors import ConfigError
from cardsharp.game import Game
from cardsharp.judge import Judge
from cardsharp.replay import Asked, Thought, header_of
from workbench.lab.extras import extras_of
from workbench.lab.plan import AnyStrategy, Plan
from workbench.lab.players import bare_strategy_of, decided_again


@dataclass(frozen=True)
class TriedAgain:
    """A stored decision, and what the player decides in its place; `judge` values both."""

    asked: Asked
    decided: Decided[Any]
    judge: Judge | None

    @property
    def then(self) -> Thought:
        """The decision as it was made."""
        return self.asked.step.ours or Thought()

    @property
    def answer(self) -> str:
        """What the player does, as the log calls it."""
        return self.named(self.decided.decision.action)

    @property
    def differs(self) -> bool:
        """Whether that is not what was done."""
        return self.answer != self.then.action

    @cached_property
    def worth(self) -> dict[str, float]:
        """What the judge thinks of the actions by name; of many, of those weighed or chosen."""
        weighed = {self.answer, self.then.action, *(one.action for one in self.then.options)}
        weighed |= {self.named(one.action) for one in self.decided.decision.options}
        few = len(self.asked.options) <= FEW
        return self._judged(set(self.asked.options.values()) if few else weighed)

    @cached_property
    def cost(self) -> float | None:
        """How much less the judge thinks of the answer than of what was done; None if unknown."""
        both = self._judged({self.answer, self.then.action}) if self.differs else {}
        if len(both) < 2:  # noqa: PLR2004 - both of them
            return None
        return both[self.then.action] - both[self.answer]

    @property
    def gain(self) -> float | None:
        """How much more the judge thinks of the answer than of what was done; None if unknown."""
        return None if self.cost is None else 0.0 - self.cost

    def _judged(self, wanted: set[str]) -> dict[str, float]:
        if self.judge is None:
            return {}
        names = {one: name for one, name in self.asked.options.items() if name in wanted}
        decision = self.judge.weigh(self.asked.position, tuple(names))
        options = () if decision is None else decision.options
        values = {one.action: one.value for one in options}
        found = {name: values.get(one) for one, name in names.items()}
        return {name: value for name, value in found.items() if value is not None}

    def named(self, action: Any) -> str:  # noqa: ANN401 - any game's
        """What the log calls an action."""
        return self.asked.options.get(action, str(action))


FEW = 12  # so many actions are all looked at


class TrialPlayer:
    """Who decides again what was decided in stored matches of a game; else a `ConfigError`."""

    def __init__(self, game: Game, player: str) -> None:
        if game.decisions is None or game.decider is None:
            raise ConfigError(f"Decisions in {game.title} cannot be made again.")
        self.game = game
        self._decisions, self._decider = game.decisions.load(), game.decider.load()
        self._plan = Plan(game=game.name, first=player, second=player, pairs=1)
        self._judge = None if game.judge is None else game.judge.load()
        self._strategy()

    def asked(self, record: MatchRecord, moves: Sequence[MoveRecord]) -> list[Asked]:
        """The decisions of our seats, of every seat where none is ours; raises `StoreError`."""
        found = list(self._decisions(record, moves))
        reasoned = (one.step for one in found if one.step.ours and one.step.ours.strategy)
        ours: set[int | None] = {*header_of(record).seats} or {step.seat for step in reasoned}
        return [one for one in found if not ours or one.step.seat in ours]

    def again(self, asked: Sequence[Asked]) -> Iterator[TriedAgain]:
        """The same decisions by this trial's player, each made anew as a worker makes it."""
        for one in asked:
            decided = decided_again(self._decider, self._strategy(), one.position)
            yield TriedAgain(one, decided, self._judge)

    def _strategy(self) -> AnyStrategy:
        dice = extras_of(self.game.name).dice(self._plan.seed, 0).first
        return bare_strategy_of(self._plan, self._plan.first, dice)
