"""The commands of each game: its own, and those that every game with such a part has."""

import cyclopts

from cardsharp.errors import Malformed
from cardsharp.game import Game
from cardsharp.games import game

_OLD = {"versus": ("play",)}  # what a command was called before


_ALIKE: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("strategies", (), "List the strategies; each name works wherever one is asked for."),
    ("show", ("replay",), "Show a match turn by turn, and why we did what we did."),
    ("why", ("replay",), "Explain our decisions in one turn."),
    ("watch", ("replay", "board"), "Look at a match in the browser, step by step or live."),
    ("try", ("decisions",), "Let a strategy decide again what was decided in stored matches."),
    (
        "analyse",
        ("judge", "decisions", "replay"),
        "Show what each decision of a match cost, and what was luck.",
    ),
    (
        "stats",
        ("judge", "decisions", "replay"),
        "Measure how well we decided and how lucky we were, over many matches.",
    ),
    (
        "lesson",
        ("judge", "decisions", "terminal"),
        "Answer again where you lost most in your matches, with answers and reasons.",
    ),
    ("duel", ("simulation",), "Let two strategies play each deal from every side."),
    ("versus", ("terminal",), "Play yourself, in this terminal or a browser, against any player."),
    ("serve", ("service",), "Serve games through the handler that the cloud runs, until Ctrl-C."),
)
"""Commands that games have alike: the parts of a game that each takes, and its line in the list."""

_BOT = ("bot", "Join a game and play it, each step explained; the same again takes it up.")


def app_of(game: Game) -> cyclopts.App:
    """All commands of a game; its own go before those that are alike for all games."""
    if game.commands is None:
        app = cyclopts.App(name=game.name, help=game.about, help_format="plaintext")
    else:
        app = game.commands.load()
    alike = [
        (name, summary)
        for name, parts, summary in _ALIKE
        if all(getattr(game, part) is not None for part in parts)
    ]
    if game.order is not None and game.listen is None:
        alike.append(_BOT)
    for name, summary in alike:
        names = [one for one in (name, *_OLD.get(name, ())) if one not in app]
        if name in names:
            app.command(f"workbench.cli.each:{game.name}_{name}", name=names, help=summary)
    return app


def __getattr__(name: str) -> cyclopts.App:
    """The commands of the game of that name, which are made when they are asked for."""
    try:
        return app_of(game(name))
    except Malformed as error:
        raise AttributeError(str(error)) from None
