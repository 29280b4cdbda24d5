"""Weights against an opponent as its matches show it, for `cardsharp learn`."""

import json
from array import array
from ctypes import Structure
from dataclasses import asdict
from statistics import fmean

from cardsharp.deadmansdraw.strategies.adaptive_belief import Entry
from cardsharp.deadmansdraw.strategies.captain import WEIGHTS
from cardsharp.deadmansdraw.strategies.search.model import Model
from cardsharp.deadmansdraw.strategies.search.weights import (
    dump_weights,
    model,
    read_weights,
    shipped,
)
from research.deadmansdraw.engine import Engine, Twin, share
from research.deadmansdraw.training import WHOLE, Settings, Training
from workbench.lab.sprt import Sequential, elo_of
from workbench.show.progress import Bar, each

MOST_PAIRS = 12_000  # decks after which a test that has not ended counts as lost
_STEP = 50
GAIN = elo_of(0.505)
"""Of the half difference to the captain: one point in 100, rather than none."""


class Specialists:
    """Trains from the captain's weights on, and tests what comes out; seeded."""

    def __init__(self, engine: Engine, seed: int, matches: int) -> None:
        self.engine, self.seed = engine, seed
        self.settings = Settings(
            matches=matches, seed=seed, rate_first=0.003, rate_last=0.0003, opponent="fitted"
        )

    def make(self, entry: Entry) -> dict[str, object]:
        """The document of a weight file against the opponent of an entry."""
        numbers = self.against(self.engine.fitted(entry), entry.name)
        made = dump_weights(Model(numbers, shipped()), {"settings": asdict(self.settings)})
        return dict(json.loads(made))

    def against(self, opponent: Twin, name: str, belief: Structure | None = None) -> "array[int]":
        """The numbers of a best reply to an opponent, who begins each match with that belief."""
        training = Training(self.engine, self.settings, 1, opponent, belief)
        training.numbers[:] = array("d", (one / WHOLE for one in model(WEIGHTS).numbers))
        for _ in each(range(self.settings.batches), f"training against {name}"):
            training.batch()
        return training.average()

    def gains(self, weights: dict[str, object], entry: Entry) -> tuple[bool, str]:
        """Whether weights do better than the captain's against the opponent of an entry."""
        opponent = self.engine.fitted(entry)
        special = self.engine.captain(read_weights(json.dumps(weights)))
        players = (special, self.engine.twin(WEIGHTS))
        test, gains = Sequential(elo1=GAIN), list[float]()
        with Bar(MOST_PAIRS, "testing, at most") as bar:
            while len(gains) < MOST_PAIRS and not test.ended:
                decks = range(len(gains), len(gains) + _STEP)
                played = [self.engine.play((one, opponent), self.seed, decks) for one in players]
                fresh = [
                    share(one) - share(captains) for one, captains in zip(*played, strict=True)
                ]
                test.take(0.5 + gain / 2 for gain in fresh)
                gains += fresh
                bar.advance(_STEP)
        mean = 100 * fmean(gains)
        said = f"{mean:+.1f} points against its likeness in {2 * len(gains)} matches"
        return test.ended and test.ratio > 0, said
