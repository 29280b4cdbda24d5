"""Play the network in `network.json` in the same folder, which train.py writes.

    cardsharp play --strategy network.py

It needs only Python, so it plays wherever a bot can play.
"""

import json
from math import tanh
from pathlib import Path
from random import Random

from cardsharp.env import encode, legal_actions
from cardsharp.games.deadmansdraw import Decision, PointsOption, Position, strategy

LAYERS = json.loads(Path(__file__).with_name("network.json").read_text("utf-8"))


@strategy("network")
class NetworkBot:
    """Bot that takes the legal action with the highest preference."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def decide(self, position: Position) -> Decision:
        """Return the action with the highest preference."""
        actions = legal_actions(position)
        preferences = preferences_of([*encode(position)])
        options = [PointsOption(action, preferences[number]) for number, action in actions.items()]
        best = max(actions, key=preferences.__getitem__)
        return Decision(actions[best], "The network prefers it.", tuple(options))


def preferences_of(numbers: list[float]) -> list[float]:
    """Return the outputs of the network, which has tanh between its layers."""
    for depth, layer in enumerate(LAYERS):
        inputs = [tanh(number) for number in numbers] if depth else numbers
        numbers = list(layer["bias"])
        for value, weights in zip(inputs, layer["weights"], strict=True):
            if value:  # most numbers of a position are 0
                both = zip(numbers, weights, strict=True)
                numbers = [number + value * weight for number, weight in both]
    return numbers
