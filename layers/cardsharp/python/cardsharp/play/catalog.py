"""Catalog of all games: the only list of them, one line per game."""

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from cardsharp.core.metrics import Metrics
from cardsharp.errors import InvalidInput
from cardsharp.play.game import Game, InvocationContext, LazyImport

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

GAME_MODULES: tuple[str, ...] = (
    "cardsharp.games.deadmansdraw.game:GAME",
    "cardsharp.games.blef.game:GAME",
    "cardsharp.games.euchre.game:GAME",
)
"""Import path of each game's definition. A message that names no game means the first one."""


def all_games() -> tuple[Game, ...]:
    """Return all games, in the order in which they are mounted."""
    return tuple(map(load_game, GAME_MODULES))


def load_game(module_path: str) -> Game:
    """Return the game that is defined at this import path."""
    return LazyImport[Game](module_path).load()


def get_game(name: str | None) -> Game:
    """Return the game with this name, or the first game for None.

    Raises `InvalidInput` if there is no such game.
    """
    games = map(load_game, GAME_MODULES)
    game = next((candidate for candidate in games if name in {None, candidate.name}), None)
    if game is None:
        names = ", ".join(existing.name for existing in all_games())
        raise InvalidInput(f"No game is called '{name}' here. There are: {names}.")
    return game


def all_setting_names() -> frozenset[str]:
    """Return the names of the settings of all games."""
    settings_types = (
        game.settings_type.load() for game in all_games() if game.settings_type is not None
    )
    return frozenset(name for settings in settings_types for name in settings.descriptions())


def invocation_context(
    context: "LambdaContext", environment: Mapping[str, str], metrics: Metrics
) -> InvocationContext:
    """Return the context of a Lambda invocation."""
    return InvocationContext(
        env=environment,
        other_setting_names=all_setting_names,
        metrics=metrics,
        worker_id=context.aws_request_id,
        remaining_time=lambda: timedelta(milliseconds=context.get_remaining_time_in_millis()),
    )
