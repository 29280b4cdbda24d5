"""Backtest: another player decides again in the positions of stored decisions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cardsharp.analysis.judge import Judge
from cardsharp.analysis.replay import DecisionPoint, StoredDecision, header_of
from cardsharp.errors import ConfigError
from cardsharp.play.decision_runner import DecisionResult
from cardsharp.play.game import Game
from cardsharp.store.match_log import MatchRecord, MoveRecord
from cardsharp_tools.executors.strategy_reference import StrategyReference
from cardsharp_tools.lab.game_adapter import LAB_WORKER, lab_adapter
from cardsharp_tools.lab.plan import AnyStrategy, DuelPlan
from cardsharp_tools.lab.players import build_unguarded_player, decide_guarded


@dataclass(frozen=True)
class BacktestedDecision:
    """Stored decision and the player's new decision; `judge` evaluates both."""

    decision_point: DecisionPoint
    new_decision: DecisionResult[Any]
    judge: Judge | None

    @property
    def original_decision(self) -> StoredDecision:
        """Stored decision as it was made in the match."""
        return self.decision_point.step.decision or StoredDecision()

    @property
    def new_action_name(self) -> str:
        """Name of the player's new action, as in the log."""
        return self.action_name(self.new_decision.decision.action)

    @property
    def is_different(self) -> bool:
        """True if the new action differs from the original one."""
        return self.new_action_name != self.original_decision.action

    @cached_property
    def judge_values(self) -> dict[str, float]:
        """Judge's values of the actions, by name.

        If a position has many actions, only those are valued that were considered or chosen.
        """
        weighed = {
            self.new_action_name,
            self.original_decision.action,
            *(option.action for option in self.original_decision.options),
        }
        weighed |= {
            self.action_name(option.action) for option in self.new_decision.decision.options
        }
        few = len(self.decision_point.option_names) <= MAX_VALUED_ACTIONS
        return self._evaluate_options(
            set(self.decision_point.option_names.values()) if few else weighed
        )

    @cached_property
    def cost_of_change(self) -> float | None:
        """Value that the new action loses against the original one; None if unknown."""
        both = (
            self._evaluate_options({self.new_action_name, self.original_decision.action})
            if self.is_different
            else {}
        )
        if len(both) < 2:  # noqa: PLR2004 - both of them
            return None
        return both[self.original_decision.action] - both[self.new_action_name]

    @property
    def gain(self) -> float | None:
        """Value that the new action gains over the original one; None if unknown."""
        return None if self.cost_of_change is None else 0.0 - self.cost_of_change

    def _evaluate_options(self, selected_names: set[str]) -> dict[str, float]:
        if self.judge is None:
            return {}
        names_by_action = {
            action: name
            for action, name in self.decision_point.option_names.items()
            if name in selected_names
        }
        decision = self.judge.evaluate(self.decision_point.position, tuple(names_by_action))
        options = () if decision is None else decision.options
        values = {option.action: option.value for option in options}
        values_by_name = {name: values.get(action) for action, name in names_by_action.items()}
        return {name: value for name, value in values_by_name.items() if value is not None}

    def action_name(self, action: Any) -> str:  # noqa: ANN401 - any game's
        """Return the name of an action in the log."""
        return self.decision_point.option_names.get(action, str(action))


MAX_VALUED_ACTIONS = 12  # up to this number of legal actions, all are valued


class BacktestPlayer:
    """Player that decides again in stored matches of a game.

    Raises `ConfigError` if the game or the player does not allow it.
    """

    def __init__(self, game: Game, player: StrategyReference) -> None:
        if game.list_decisions is None or game.decision_runner is None:
            raise ConfigError(f"{game.title} does not support decisions on stored positions.")
        self.game = game
        self._list_decisions, self._decision_runner = (
            game.list_decisions.load(),
            game.decision_runner.load(),
        )
        self._plan = DuelPlan(game=game.name, first=player, second=player, pairs=1)
        self._judge = None if game.judge is None else game.judge.load()
        self._build_strategy()

    def decision_points(
        self, record: MatchRecord, moves: Sequence[MoveRecord]
    ) -> list[DecisionPoint]:
        """Return the decisions of our seats, or of all seats if none is ours.

        Raises `StoreError` if the log cannot be read.
        """
        points = list(self._list_decisions(record, moves))
        reasoned = (
            point.step for point in points if point.step.decision and point.step.decision.strategy
        )
        seats: set[int | None] = {*header_of(record).seats} or {step.seat for step in reasoned}
        return [point for point in points if not seats or point.step.seat in seats]

    def decide_again(
        self, decision_points: Sequence[DecisionPoint]
    ) -> Iterator[BacktestedDecision]:
        """Yield each decision with the one that this player makes in its place."""
        for decision_point in decision_points:
            strategy = self._build_strategy()
            stored_decision = decision_point.step.decision
            if stored_decision is None or stored_decision.worker != LAB_WORKER:
                strategy = lab_adapter(self.game.name).with_match_time(strategy)
            decided = decide_guarded(self._decision_runner, strategy, decision_point.position)
            yield BacktestedDecision(decision_point, decided, self._judge)

    def _build_strategy(self) -> AnyStrategy:
        dice = lab_adapter(self.game.name).rngs_of_pair(self._plan.seed, 0).first
        return build_unguarded_player(self._plan, self._plan.first, dice)
