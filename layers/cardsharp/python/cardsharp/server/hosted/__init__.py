"""Service, bot, replay, drawing and judge of a game that supplies only its rules.

Look first at `define_hosted_game`, which makes the description of such a game, and at
`HostedGame`, the parts of such a game as this package uses them (docs/add-a-game.md).
"""

from typing import TYPE_CHECKING

from cardsharp.core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from cardsharp.server.hosted.bot_match import HostedBotMatch
    from cardsharp.server.hosted.game_entry import define_hosted_game
    from cardsharp.server.hosted.game_store import HostedGameRecord, HostedGameStore
    from cardsharp.server.hosted.hosted_game import HostedGame, load_hosted_game
    from cardsharp.server.hosted.playout_judge import PlayoutJudge
    from cardsharp.server.hosted.routes import hosted_http_service
    from cardsharp.server.hosted.service import HostedService

__all__ = (
    "HostedBotMatch",
    "HostedGame",
    "HostedGameRecord",
    "HostedGameStore",
    "HostedService",
    "PlayoutJudge",
    "define_hosted_game",
    "hosted_http_service",
    "load_hosted_game",
)

__getattr__ = lazy_exports(
    __name__,
    {
        "HostedBotMatch": "bot_match",
        "HostedGame": "hosted_game",
        "HostedGameRecord": "game_store",
        "HostedGameStore": "game_store",
        "HostedService": "service",
        "PlayoutJudge": "playout_judge",
        "define_hosted_game": "game_entry",
        "hosted_http_service": "routes",
        "load_hosted_game": "hosted_game",
    },
)
