"""Definition of a hosted game; separate, so that reading it imports nothing of the game."""

from typing import Any

from cardsharp.play.game import Game, LazyImport

_DEFAULT_PARTS = {
    "http_service": "cardsharp.server.hosted.routes:hosted_http_service",
    "run_session": "cardsharp.server.hosted.bot_match:session_runner",
    "place_order": "cardsharp.server.hosted.bot_match:join_order_handler",
    "list_decisions": "cardsharp.server.hosted.replay:decisions_lister",
    "restore_states": "cardsharp.server.hosted.replay:state_restorer",
    "decision_runner": "cardsharp.server.hosted.hosted_game:decision_runner_for",
    "judge": "cardsharp.server.hosted.playout_judge:PlayoutJudge",
    "board_renderer": "cardsharp.server.hosted.replay:board_renderer_for",
    "rl_encoding": "cardsharp.server.hosted.encoding:encoding_of",
    "duel_extras": "cardsharp_tools.lab.hosted_game_adapter:hosted_lab_adapter_factory",
    "program_protocol": "cardsharp_tools.lab.hosted_game_adapter:hosted_program_codec",
    "terminal_ui": "cardsharp_tools.terminal.hosted_screen:hosted_screen",
}
"""Parts of a game that are derived from its rules, with their builders."""


STARTER_MODULE = (
    "cardsharp_tools.terminal.game_starter"  # `cardsharp new` writes the game's own names into it
)


def define_hosted_game(
    package: str,
    title: str,
    summary: str,
    default_strategy: str,
    **overrides: Any,  # noqa: ANN401 - a game's own parts
) -> Game:
    """Return the definition of the game in a package.

    The package has `RULES` (module simulation), `DRAWING` (module drawing) and a package
    `strategies`. `overrides` are parts that the game defines itself.
    """
    parts = {
        field_name: LazyImport[Any](import_path, (package,))
        for field_name, import_path in _DEFAULT_PARTS.items()
    }
    return Game(
        name=package.rpartition(".")[2],
        title=title,
        summary=summary,
        strategy_package=f"{package}.strategies",
        default_strategy=default_strategy,
        simulation=LazyImport(f"{package}.simulation:RULES"),
        **{
            "starter_module": STARTER_MODULE,
            "replay": LazyImport("cardsharp.server.hosted.replay:replay_steps"),
            **parts,
            **overrides,
        },
    )
