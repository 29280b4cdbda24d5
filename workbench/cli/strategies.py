"""`cardsharp strategies`: who can play."""

from rich.table import Table

from cardsharp.deadmansdraw.strategies import about, names
from workbench.cli.options import Json
from workbench.cli.output import print_json, results


def strategies(*, as_json: Json = False) -> None:
    """Print each strategy's name with a line about it."""
    lines = {name: about(name) for name in names()}
    if as_json:
        print_json([{"name": name, "about": line} for name, line in lines.items()])
        return
    table = Table(box=None, show_header=False, padding=(0, 2), pad_edge=False)
    for name, line in lines.items():
        table.add_row(name, line)
    console = results()
    console.print(table)
    console.print()
    console.print("Your own: a FILE.py works wherever a name does (docs/cli.md).", style="dim")
