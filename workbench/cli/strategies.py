"""`cardsharp strategies`: who can play."""

from cardsharp.registry import strategies_of
from workbench.cli.games import FIRST, AnyGame
from workbench.show.options import Json
from workbench.show.output import plain_table, print_json, results


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
