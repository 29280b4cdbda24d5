"""Weights against an opponent as its matches show it, for `test-opponent-model`."""

import json
from array import array
from ctypes import Structure
from statistics import fmean

from cardsharp.games.deadmansdraw.strategies.captain import WEIGHT_FILE
from cardsharp.games.deadmansdraw.strategies.opponent_belief import OpponentProfile
from cardsharp.games.deadmansdraw.strategies.search.value_model import ValueModel
from cardsharp.games.deadmansdraw.strategies.search.weights import (
    dump_weights,
    load_model,
    load_shipped_network,
    parse_value_model,
)
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.lab.sprt import SequentialTest, elo_from_share
from cardsharp_tools.research.deadmansdraw.native import (
    NativeEngine,
    NativePlayer,
    first_player_points_share,
)
from cardsharp_tools.research.deadmansdraw.training import (
    WEIGHT_SCALE,
    TrainingConfig,
    WeightTraining,
)
from cardsharp_tools.terminal.progress import ProgressBar, track

MAX_TEST_PAIRS = 12_000  # decks after which an undecided test counts as failed
_STEP = 50
MIN_GAIN = elo_from_share(0.505)
"""Elo difference to prove: half the gain over the captain, one point in 100 instead of none."""


class CounterWeightTrainer:
    """Trainer of weights against an opponent, from captain's weights; also tests them."""

    def __init__(self, engine: NativeEngine, seed: int, matches: int) -> None:
        self.engine, self.seed = engine, seed
        self.settings = TrainingConfig(
            matches=matches, seed=seed, rate_first=0.003, rate_last=0.0003, opponent="fitted"
        )

    def train_weight_document(self, profile: OpponentProfile) -> dict[str, object]:
        """Return a weight file's document, trained against the opponent of an entry."""
        weight_values = self.train_best_reply(
            self.engine.player_from_profile(profile), profile.name
        )
        text = dump_weights(
            ValueModel(weight_values, load_shipped_network()), {"settings": self.settings.document}
        )
        return dict(json.loads(text))

    def train_best_reply(
        self, opponent: NativePlayer, opponent_name: str, belief: Structure | None = None
    ) -> "array[int]":
        """Return weights trained as a best reply to an opponent with an initial belief.

        `belief` is the opponent's belief at the start of each match.
        """
        training = WeightTraining(self.engine, self.settings, 1, opponent, belief)
        training.weight_values[:] = array(
            "d", (weight / WEIGHT_SCALE for weight in load_model(WEIGHT_FILE).numbers)
        )
        for _ in track(range(self.settings.batch_count), f"training against {opponent_name}"):
            training.play_and_train_batch()
        return training.average_weights()

    def beats_captain_weights(
        self, weights: dict[str, object], profile: OpponentProfile
    ) -> tuple[bool, str]:
        """Return True if weights do better than captain's against an opponent, with a summary."""
        opponent = self.engine.player_from_profile(profile)
        special = self.engine.captain_player(parse_value_model(json.dumps(weights)))
        players = (special, self.engine.player_for_strategy(BuiltIn(WEIGHT_FILE)))
        test, gains = SequentialTest(elo1=MIN_GAIN), list[float]()
        with ProgressBar(MAX_TEST_PAIRS, "testing, at most") as bar:
            while len(gains) < MAX_TEST_PAIRS and not test.is_decided:
                decks = range(len(gains), len(gains) + _STEP)
                played = [
                    self.engine.play_pairs((player, opponent), self.seed, decks)
                    for player in players
                ]
                fresh = [
                    first_player_points_share(pair) - first_player_points_share(captains)
                    for pair, captains in zip(*played, strict=True)
                ]
                test.add_pairs_until_decided(0.5 + gain / 2 for gain in fresh)
                gains += fresh
                bar.advance(_STEP)
        mean = 100 * fmean(gains)
        summary = f"{mean:+.1f} points against its likeness in {2 * len(gains)} matches"
        return test.is_decided and test.log_likelihood_ratio > 0, summary
