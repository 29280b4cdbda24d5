"""A bot that plays the network in `network.json` beside it, which train.py writes.

    cardsharp play --strategy network.py

It needs nothing but Python, so it plays wherever a bot does.
"""

import json
from math import tanh
from pathlib import Path
from random import Random

from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import Decision, Option, strategy
from cardsharp.env import encode, legal_actions

LAYERS = json.loads(Path(__file__).with_name("network.json").read_text("utf-8"))


@strategy("network")
class NetworkBot:
    """Takes the legal action that the network prefers."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def decide(self, position: Position) -> Decision:
        """The action of the highest preference."""
        actions = legal_actions(position)
        preferences = preferences_of([*encode(position)])
        options = [Option(action, preferences[number]) for number, action in actions.items()]
        best = max(actions, key=preferences.__getitem__)
        return Decision(actions[best], "The network prefers it.", tuple(options))


def preferences_of(numbers: list[float]) -> list[float]:
    """The outputs of the network, which has tanh between its layers."""
    for depth, layer in enumerate(LAYERS):
        inputs = [tanh(number) for number in numbers] if depth else numbers
        numbers = list(layer["bias"])
        for value, weights in zip(inputs, layer["weights"], strict=True):
            if value:  # most numbers of a position are 0
                both = zip(numbers, weights, strict=True)
                numbers = [number + value * weight for number, weight in both]
    return numbers
