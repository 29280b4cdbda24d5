"""The commands of each game: its own, and those that every game with such a part has.

`workbench.cli.games:GAME` are all of a game's, `workbench.cli.games:GAME_COMMAND` is one that games
have alike. So a command's module is imported when the command is called, and not before.
"""

from functools import partial
from importlib import import_module
from typing import Annotated, Any

import cyclopts
from cyclopts import Parameter

from cardsharp.errors import Malformed
from cardsharp.game import Game
from cardsharp.games import game
from cardsharp.registry import strategies_of
from workbench.show.options import Json
from workbench.show.output import plain_table, print_json, results

OneGame = Annotated[Game, Parameter(parse=False)]  # whose command it is: nothing that is typed
AnyGame = Annotated[Game | None, Parameter(parse=False)]  # or None, for matches of any game
FIRST = game(None)  # whose commands go without a game's name too

_OLD = {"versus": ("play",)}  # what a command was called before
_PLACES = {  # else as they are called
    "strategies": "games:strategies",
    "try": "trying:again",
    "stats": "stats:of_game",
    "why": "show:why",
    "analyse": "show:analyse",
}

_ALIKE = {
    "strategies": ("", "List the strategies; each name works wherever one is asked for."),
    "show": ("replay", "Show a match turn by turn, and why we did what we did."),
    "why": ("replay", "Explain our decisions in one turn."),
    "watch": ("replay board", "Look at a match in the browser, step by step or live."),
    "try": ("decisions", "Let a strategy decide again what was decided in stored matches."),
    "analyse": (
        "judge decisions replay",
        "Show what each decision of a match cost, and what was luck.",
    ),
    "stats": (
        "judge decisions replay",
        "Measure how well we decided and how lucky we were, over many matches.",
    ),
    "lesson": (
        "judge decisions terminal",
        "Answer again where you lost most in your matches, with answers and reasons.",
    ),
    "duel": ("simulation", "Let two strategies play each deal from every side."),
    "versus": ("terminal", "Play yourself, in this terminal or a browser, against any player."),
    "serve": ("service", "Serve games through the handler that the cloud runs, until Ctrl-C."),
    "bot": ("order", "Join a game and play it, each step explained; the same again takes it up."),
}
"""Commands that games have alike: the parts of a game that each takes, and its line in the list."""


def strategies(*, as_json: Json = False, game: AnyGame = None) -> None:
    """Print each strategy's name with a line about it; for programs a game has the names alone."""
    registry = strategies_of((game or FIRST).strategies)
    lines = {name: registry.about(name) for name in registry.names()}
    if as_json:
        told = [{"name": name, "about": line} for name, line in lines.items()]
        print_json(told if game is None else list(lines))
        return
    table = plain_table("", "")
    table.show_header = False
    for name, line in lines.items():
        table.add_row(name, line)
    results().print(table)
    if game is None:
        results().print()
        results().print(
            "Your own: FILE.py, or a command in quotes; `cardsharp new` writes one.", style="dim"
        )


def app_of(of: Game) -> cyclopts.App:
    """All commands of a game; its own go before those that are alike for all games."""
    if of.commands is None:
        app = cyclopts.App(name=of.name, help=of.about, help_format="plaintext")
    else:
        app = of.commands.load()
    for name, (parts, summary) in _ALIKE.items():
        names = [one for one in (name, *_OLD.get(name, ())) if one not in app]
        lacks = any(getattr(of, part) is None for part in parts.split())
        if name in names and not lacks and (name != "bot" or of.listen is None):
            app.command(f"workbench.cli.games:{of.name}_{name}", name=names, help=summary)
    return app


def __getattr__(name: str) -> Any:  # noqa: ANN401 - an app, or the function of a command
    """The commands of the game of that name, or one of them."""
    of, _, command = name.partition("_")
    try:
        found = game(of)
    except Malformed as error:
        raise AttributeError(str(error)) from None
    if not command:
        return app_of(found)
    module, _, function = _PLACES.get(command, f"{command}:{command}").partition(":")
    return partial(getattr(import_module(f"workbench.cli.{module}"), function), game=found)
