"""`cardsharp strategies`: who can play."""

from collections.abc import Callable

from rich.table import Table

from cardsharp.game import Game
from cardsharp.games import game
from cardsharp.registry import strategies_of
from workbench.cli.each import for_each_game
from workbench.show.options import Json
from workbench.show.output import print_json, results


def strategies(*, as_json: Json = False) -> None:
    """Print each strategy's name with a line about it."""
    lines = about_all(game(None))
    if as_json:
        print_json([{"name": name, "about": line} for name, line in lines.items()])
        return
    _print(lines)
    results().print()
    results().print(
        "Your own: FILE.py, or a command in quotes; `cardsharp new` writes one.", style="dim"
    )


def names_of(game: Game) -> Callable[..., None]:
    """The command for a game; for programs it prints the names alone."""

    def strategies(*, as_json: Json = False) -> None:
        """List the strategies; each name works wherever a strategy is asked for."""
        lines = about_all(game)
        if as_json:
            print_json(list(lines))
        else:
            _print(lines)

    return strategies


def about_all(game: Game) -> dict[str, str]:
    """A line about each strategy of a game, by its name."""
    registry = strategies_of(game.strategies)
    return {name: registry.about(name) for name in registry.names()}


def _print(lines: dict[str, str]) -> None:
    table = Table(box=None, show_header=False, padding=(0, 2), pad_edge=False)
    for name, line in lines.items():
        table.add_row(name, line)
    results().print(table)


__getattr__ = for_each_game(names_of)
