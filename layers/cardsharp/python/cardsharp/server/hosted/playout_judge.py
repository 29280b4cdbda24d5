"""Default judge of hosted games: random playouts by the default strategy."""

import hashlib
from collections.abc import Sequence
from random import Random
from statistics import fmean
from typing import Any

from cardsharp.analysis.judge import Judge
from cardsharp.play.strategy import Decision, Option, ranked
from cardsharp.server.hosted.hosted_game import load_hosted_game
from cardsharp.store.match_log import MatchRecord, MoveRecord

PLAYOUT_COUNT = 60  # deals of what is hidden in which each action is played to the end


class PlayoutJudge(Judge):
    """Judge by playouts: the mean result of each action if the default strategy plays on."""

    def __init__(self, package: str) -> None:
        self._hosted_game, self._rules = (
            load_hosted_game(package),
            load_hosted_game(package).build_rules(),
        )
        self.name = self._hosted_game.game.default_strategy
        if self._rules.unit:
            self.unit, self.value_format, self.value_sum = self._rules.unit, "+.2f", 0.0
            self.value_range = 2 * self._rules.max_return

    def evaluate(self, position: Any, _also: Sequence[Any] = ()) -> Decision[Any]:  # noqa: ANN401 - any game's
        """Return the best action, with the value of every legal action; deterministic."""
        position_json = self._hosted_game.json_codecs.positions.type_adapter.dump_json(position)
        seed = int.from_bytes(hashlib.sha256(position_json).digest()[:8], "big")
        options = tuple(
            Option(
                action,
                fmean(
                    self._run_playout(position, action, seed + at) for at in range(PLAYOUT_COUNT)
                ),
            )
            for action in self._rules.legal_actions_in(position)
        )
        best = ranked(options)[0]
        return Decision(
            best.action, f"{best.action}: the best of {PLAYOUT_COUNT} playouts.", options
        )

    def first_side_result(self, record: MatchRecord, _moves: Sequence[MoveRecord]) -> float | None:
        """Return the result of a finished match for the first seat."""
        gains: Any = None if record.outcome is None else record.outcome.get("gains")
        if gains is None or self._rules.unit:
            return None if gains is None else float(gains[0])
        return (float(gains[0]) + self._rules.max_return) / (2 * self._rules.max_return)

    def _run_playout(self, position: Any, action: Any, seed: int) -> float:  # noqa: ANN401 - any game's
        """Return the deciding player's result of one playout after `action`."""
        rules, dice = self._rules, Random(seed)
        state = rules.sample_state(position, dice)
        decider, player = rules.current_seat(state), rules.strategies.build(self.name, dice)
        state = rules.apply_action(state, action, dice)
        while rules.current_seat(state) is not None:
            state = rules.apply_action(
                state, player.decide(rules.current_position(state)).action, dice
            )
        return (rules.returns if rules.unit else rules.scores)(state)[decider or 0]
