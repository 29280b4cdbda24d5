"""`cardsharp GAME bot`: our bot takes a seat at a service of any game and plays it to the end.

Without a game it takes a seat in each public one that comes, until Ctrl-C.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from cyclopts import Parameter, validators

from cardsharp.play.game import Game
from cardsharp_tools.cli.game_commands import FIRST_GAME, RequiredGame
from cardsharp_tools.cli.options import CommandOptions, ProxyAddress, StoreFile
from cardsharp_tools.cli.strategy_option import OptionalStrategy, UserCodeOptions
from cardsharp_tools.executors.strategy_file import register_strategy
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.proxy_option import override_proxy_during_block


@dataclass(frozen=True, kw_only=True)
class JoinGameOptions(CommandOptions):
    """Options of a bot that joins a game, or public games: the service, and how to play."""

    url: str
    """The service's address, e.g. http://127.0.0.1:8000."""
    game: str | None = None
    """The id of the game to join. Default: join public games as they open, until Ctrl-C."""
    concurrency: Annotated[int, Parameter(validator=validators.Number(gte=1, lte=100))] = 4
    """Without --game: the maximum number of games at the same time."""
    proxy: ProxyAddress = None
    rooms: Annotated[
        tuple[int, ...],
        Parameter(
            negative=(), help="Without --game: join only games in this room. Can be repeated."
        ),
    ] = ()
    nickname: str = "Cardsharp"
    """The bot's name at the service."""
    strategy: OptionalStrategy = None
    """The strategy: its name, FILE.py, or a 'command'. Default: the game's best."""
    user_code: UserCodeOptions = field(default_factory=UserCodeOptions)
    store: StoreFile = None
    as_json: Annotated[bool, Parameter(name="--json")] = False
    """Print one JSON document per line."""

    @property
    def is_user_code(self) -> bool:
        """True if a user wrote the strategy."""
        return self.strategy is not None and self.strategy.is_user_code

    def join_game_order(self, game: Game, match: str | None) -> Mapping[str, object]:
        """Return the order to join a game; raise `ConfigError` for an unknown strategy."""
        strategy = register_strategy(self.strategy or BuiltIn(game.default_strategy), game)
        return {"url": self.url, "game": match, "nickname": self.nickname, "strategy": strategy}


def bot(*, options: JoinGameOptions, game: RequiredGame = FIRST_GAME) -> int:
    """Join a game at a service and play it. Run it again to resume a game."""
    # What plays is slow to import, and --help and a wrong option need none of it.
    from cardsharp_tools.cli.game_bot_runner import play_games  # noqa: PLC0415

    with override_proxy_during_block(options.proxy):
        return play_games(game, options)
