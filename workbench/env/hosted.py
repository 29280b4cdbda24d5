"""Positions and actions of a hosted game as numbers, as its rules tell them."""

from random import Random
from typing import Any

from cardsharp.errors import ConfigError
from cardsharp.host.house import house
from workbench.env.encoding import Encoding


def encoding_of(folder: str) -> Encoding[Any, Any]:
    """How the game in a folder is told in numbers; raises `ConfigError` where nothing says."""
    game = house(folder)
    rules, dice = game.rules(), Random(0)
    if not rules.every:
        raise ConfigError(f"{game.game.title} is no environment: nothing tells it in numbers.")
    numbers = {action: number for number, action in enumerate(rules.every)}
    return Encoding(
        blocks={"position": len(rules.numbers(rules.position(rules.deal(dice))))},
        marks=lambda position: {"position": [*enumerate(rules.numbers(position))]},
        actions=len(numbers),
        choices=lambda position: {numbers[one]: one for one in rules.options(position)},
    )
