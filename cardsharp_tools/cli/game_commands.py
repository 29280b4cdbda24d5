"""The commands of each game: its own, and those that every game with such a part has.

`cardsharp_tools.cli.game_commands:GAME` are all of a game's,
`cardsharp_tools.cli.game_commands:GAME_COMMAND` is one that games
have alike. So a command's module is imported when the command is called, and not before.
"""

from functools import partial
from importlib import import_module
from typing import Annotated, Any

import cyclopts
from cyclopts import Parameter

from cardsharp.errors import InvalidInput
from cardsharp.play.catalog import get_game
from cardsharp.play.game import Game
from cardsharp_tools.cli.console import borderless_table, print_json, result_console
from cardsharp_tools.cli.options import Json

RequiredGame = Annotated[Game, Parameter(parse=False)]  # whose command it is: nothing that is typed
OptionalGame = Annotated[Game | None, Parameter(parse=False)]  # or None, for matches of any game
FIRST_GAME = get_game(None)  # whose commands go without a game's name too

_PLACES = {  # else as they are called
    "bot": "commands.game_bot:bot",
    "strategies": "game_commands:strategies",
    "stats": "commands.stats:print_game_stats",
    "why": "commands.show:why",
}

_ALIKE = {
    "strategies": (
        "",
        "List the strategies that can play. Use the names for --strategy and --opponent.",
    ),
    "show": ("replay", "Show a match turn by turn, with the reasons of our decisions."),
    "why": ("replay", "Explain our decisions in one turn."),
    "watch": ("replay board_renderer", "Watch a match in the browser, step by step or live."),
    "backtest": (
        "list_decisions",
        "Let a strategy repeat the decisions of stored matches.",
    ),
    "analyse": (
        "judge list_decisions replay",
        "Show what each decision of a match cost, and how much was luck.",
    ),
    "stats": (
        "judge list_decisions replay",
        "Show over many matches how well we decided and how lucky we were.",
    ),
    "lesson": (
        "judge list_decisions terminal_ui",
        "Repeat the decisions that cost you most in your matches.",
    ),
    "duel": ("simulation", "Let two strategies play each deal from every seat, and compare them."),
    "versus": ("terminal_ui", "Play against any strategy, in this terminal or in a browser."),
    "serve": ("http_service", "Serve the game's HTTP API on this machine until Ctrl-C."),
    "bot": (
        "place_order",
        "Join a game at a service and play it. Run it again to resume a game.",
    ),
}
"""Commands that games have alike: the parts of a game that each takes, and its line in the list."""

_EXAMPLES = {
    "strategies": "strategies",
    "show": "show last",
    "why": "why last 7",
    "watch": "watch last",
    "backtest": "backtest mine.py --all",
    "analyse": "analyse last",
    "stats": "stats --by strategy",
    "lesson": "lesson -n 3",
    "duel": "duel mine.py random",
    "versus": "versus mine.py --hints",
    "serve": "serve --port 8000",
    "bot": "bot --url http://127.0.0.1:8000",
}
"""An example of each, as it follows the game's name."""


def strategies(*, as_json: Json = False, game: OptionalGame = None) -> None:
    """Print each strategy's name with a line about it; for programs a game has the names alone."""
    from cardsharp.play.strategy_registry import registry_for  # noqa: PLC0415 - for this alone

    registry = registry_for((game or FIRST_GAME).strategy_package)
    summaries = {name: registry.summary(name) for name in registry.names()}
    if as_json:
        documents = [{"name": name, "about": summary} for name, summary in summaries.items()]
        print_json(documents if game is None else list(summaries))
        return
    table = borderless_table("", "")
    table.show_header = False
    for name, summary in summaries.items():
        table.add_row(name, summary)
    result_console().print(table)
    if game is None:
        result_console().print()
        result_console().print(
            "Your own: FILE.py, or a command in quotes; `cardsharp new` writes one.", style="dim"
        )


def game_app(game: Game) -> cyclopts.App:
    """Return the commands of a game: its own, then those that every game has."""
    if game.cli_app is None:
        app = cyclopts.App(name=game.name, help=game.summary, help_format="plaintext")
    else:
        app = game.cli_app.load()
    for name, (attribute_names, summary) in _ALIKE.items():
        lacks = any(
            getattr(game, attribute_name) is None for attribute_name in attribute_names.split()
        )
        if name not in app and not lacks and (name != "bot" or game.run_poller is None):
            app.command(
                f"cardsharp_tools.cli.game_commands:{game.name}_{name}",
                name=name,
                help=f"{summary}\n\nExample: cardsharp {game.name} {_EXAMPLES[name]}",
            )
    return app


def __getattr__(name: str) -> Any:  # noqa: ANN401 - an app, or the function of a command
    """The commands of the game of that name, or one of them."""
    of, _, command = name.partition("_")
    try:
        game = get_game(of)
    except InvalidInput as error:
        raise AttributeError(str(error)) from None
    if not command:
        return game_app(game)
    module, _, function = _PLACES.get(command, f"commands.{command}:{command}").partition(":")
    return partial(getattr(import_module(f"cardsharp_tools.cli.{module}"), function), game=game)
