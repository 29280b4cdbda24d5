"""Encodings and simulations of games for environments, and the rewards of their matches."""

from collections.abc import Mapping
from typing import Any

from cardsharp.errors import ConfigError
from cardsharp.play.catalog import get_game
from cardsharp.play.encoding import Encoding
from cardsharp.play.simulation import Simulation


def load_simulation_and_encoding(
    name: str, seats: int | None
) -> tuple[Simulation[Any, Any, Any], Encoding[Any, Any]]:
    """Return a game's simulation and its numeric encoding; raise `ConfigError` if it has none."""
    of = get_game(name)
    if of.rl_encoding is None or of.simulation is None:
        raise ConfigError(f"{of.title} has no environment: it has no encoding as numbers.")
    return of.simulation.load()(*([] if seats is None else [seats])), of.rl_encoding.load()


def final_rewards(simulation: Simulation[Any, Any, Any], final_state: object) -> list[float]:
    """Return each seat's reward: 1 for a winner, 0 for a tie; the sides' rewards add up to 0."""
    points, fair = simulation.scores(final_state), 1 / len(simulation.sides)
    rewards = [0.0] * simulation.seats
    for side in simulation.sides:
        side_score = sum(points[seat] for seat in side)
        for seat in side:
            rewards[seat] = (side_score - fair) / (1 - fair)
    return rewards


def action_number(choices: Mapping[int, Any], action: object) -> int:
    """Return the number of a legal action."""
    return next(index for index, choice in choices.items() if choice == action)
