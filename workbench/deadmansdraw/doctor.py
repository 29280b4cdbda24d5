"""`cardsharp doctor`: is everything right that a bot needs, and if not, what to do."""

from rich.table import Table
from rich.text import Text

from workbench.deadmansdraw.checks import Check, Finding, all_checks
from workbench.deadmansdraw.connection import ArenaOptions
from workbench.show.exits import Exit
from workbench.show.options import Json
from workbench.show.output import print_json, results

_STYLES = {Finding.OK: "green", Finding.FAILED: "bold red", Finding.SKIPPED: "dim"}


_FROM_ENVIRONMENT = ArenaOptions()


def doctor(*, arena: ArenaOptions = _FROM_ENVIRONMENT, as_json: Json = False) -> int:
    """Print what was checked; 1 if anything fails."""
    checks = list(all_checks(arena))
    if as_json:
        print_json([{"check": c.name, "finding": c.finding, "text": c.text} for c in checks])
    else:
        results().print(_table(checks))
    failed = any(check.finding is Finding.FAILED for check in checks)
    return Exit.FAILED if failed else Exit.OK


def _table(checks: list[Check]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2), pad_edge=False)
    for check in checks:
        table.add_row(check.name, Text(check.finding, style=_STYLES[check.finding]), check.text)
    return table
