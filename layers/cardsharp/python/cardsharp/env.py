"""From a `Position` to a network's numbers, and back to an action (docs/environments.md).

With these three functions a strategy plays by a network that was trained in the environments of
`cardsharp_tools.environments`. They need nothing but Python; `numpy.asarray` takes what they
return.
"""

from array import array
from functools import cache
from typing import Any

from cardsharp.errors import ConfigError
from cardsharp.play.catalog import all_games, get_game
from cardsharp.play.encoding import Encoding


def encode(position: object, game_name: str | None = None) -> "array[float]":
    """Return a position as the numbers that the game's environment gives to an agent.

    They are 32-bit floats from 0 to 1, the same to the bit as `observation["observation"]`, whose
    first number is 0 for a player who is to act. The class of the position tells the game, except
    in a hosted game without a class of its own, which `game_name` has to name. Raises
    `ConfigError` if no game has such positions, or if the game has no environment.
    """
    return array("f", (0.0,)) + _find_encoding(position, game_name).observed(position)


def legal_mask(position: object, game_name: str | None = None) -> "array[int]":
    """Return 1 for each action that is legal in a position and 0 for others, by their numbers.

    It is the environment's `action_mask`. Raises as `encode` does.
    """
    encoding = _find_encoding(position, game_name)
    mask = array("b", bytes(encoding.actions))
    for action_index in encoding.choices(position):
        mask[action_index] = 1
    return mask


def legal_actions(position: object, game_name: str | None = None) -> dict[int, Any]:
    """Return the legal actions of a position by their numbers; raises as `encode` does."""
    return dict(_find_encoding(position, game_name).choices(position))


def _find_encoding(position: object, game_name: str | None) -> Encoding[Any, Any]:
    return _load_encoding(game_name or _find_game_name(type(position).__module__))


def _find_game_name(module: str) -> str:
    """Return the name of the game in whose folder a module lies."""
    for mounted in all_games():
        if module.startswith(f"{mounted.strategy_package.rpartition('.')[0]}."):
            return mounted.name
    raise ConfigError(
        f"No game has positions of {module}; give a strategy's Position, or name the game as well."
    )


@cache  # an entry for each game
def _load_encoding(game_name: str) -> Encoding[Any, Any]:
    game = get_game(game_name)
    if game.rl_encoding is None:
        raise ConfigError(f"{game.title} is no environment: nothing tells it in numbers.")
    encoding: Encoding[Any, Any] = game.rl_encoding.load()
    return encoding
