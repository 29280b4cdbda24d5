"""`cardsharp doctor`: is everything right that a bot needs, and if not, what to do."""

from workbench.deadmansdraw.checks import all_checks
from workbench.deadmansdraw.connection import ArenaOptions
from workbench.show.checks import report
from workbench.show.options import Json

_FROM_ENVIRONMENT = ArenaOptions()


def doctor(*, arena: ArenaOptions = _FROM_ENVIRONMENT, as_json: Json = False) -> int:
    """Print what was checked; 1 if anything fails."""
    return report(all_checks(arena), as_json=as_json)
