"""Games in numbers for environments: each with its simulation, and the rewards of its matches."""

from collections.abc import Mapping
from typing import Any

from cardsharp.encoding import Encoding
from cardsharp.errors import ConfigError
from cardsharp.games import game
from cardsharp.simulation import Simulation


def told_in_numbers(
    name: str, seats: int | None
) -> tuple[Simulation[Any, Any, Any], Encoding[Any, Any]]:
    """A game's simulation for so many, and how it is told in numbers; raises `ConfigError`."""
    of = game(name)
    if of.encoding is None or of.simulation is None:
        raise ConfigError(f"{of.title} is no environment: nothing tells it in numbers.")
    return of.simulation.load()(*([] if seats is None else [seats])), of.encoding.load()


def rewards(simulation: Simulation[Any, Any, Any], ended: object) -> list[float]:
    """What each seat has of an ended match: 1 for the winners, 0 for a tie, the sides' sum is 0."""
    points, fair = simulation.points(ended), 1 / len(simulation.sides)
    found = [0.0] * simulation.seats
    for side in simulation.sides:
        share = sum(points[seat] for seat in side)
        for seat in side:
            found[seat] = (share - fair) / (1 - fair)
    return found


def number_of(choices: Mapping[int, Any], action: object) -> int:
    """The number of a legal action."""
    return next(number for number, one in choices.items() if one == action)
