"""The commands of each game: its own, and those that every game with such a part has."""

from collections.abc import Iterator

import cyclopts

from cardsharp.game import Game
from workbench.cli.each import for_each_game

_OLD = {"versus": ("play",)}
"""What a command was called before, where no other of the game is called so."""


def app_of(game: Game) -> cyclopts.App:
    """All commands of a game; its own go before those that are alike for all games."""
    if game.commands is None:
        app = cyclopts.App(name=game.name, help=game.about, help_format="plaintext")
    else:
        app = game.commands.load()
    for name, summary in _alike(game):
        names = [one for one in (name, *_OLD.get(name, ())) if one not in app]
        if name in names:
            module = "trying" if name == "try" else name  # no module can be called as a keyword
            app.command(f"workbench.cli.{module}:{game.name}", name=names, help=summary)
    return app


def _alike(game: Game) -> Iterator[tuple[str, str]]:
    """The commands for which a game has what it takes, and a line about each."""
    yield "strategies", "List the strategies; each name works wherever one is asked for."
    if game.replay is not None:
        yield "show", "Show a match turn by turn, and why we did what we did."
        yield "why", "Explain our decisions in one turn."
    if game.decisions is not None:
        yield "try", "Let a strategy decide again what was decided in stored matches."
    if game.judge is not None and game.decisions is not None and game.replay is not None:
        yield "analyse", "Say what each decision of a match cost, and what the cards brought."
        yield "stats", "Say how well was decided and how lucky we were, over many matches."
    if game.simulation is not None:
        yield "duel", "Let two strategies play each deal from every side."
    if game.terminal is not None:
        yield "versus", "Play yourself, in this terminal, against any player."
    if game.service is not None:
        yield "serve", "Serve games through the handler that the cloud runs, until Ctrl-C."
    if game.order is not None and game.listen is None:
        yield "bot", "Join a game and play it, each step explained; the same again takes it up."


__getattr__ = for_each_game(app_of)
