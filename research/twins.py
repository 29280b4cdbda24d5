"""What `workbench` may find here: compiled twins of strategies, each None where there is none.

`workbench/twins.py` looks for these functions by name; nobody imports this module.
"""

from cardsharp.euchre.strategies import Strategy
from cardsharp.euchre.strategies.pimc import Effort
from research.deadmansdraw.engine import twin
from research.deadmansdraw.lanes import CompiledLanes, compiled_lanes
from research.deadmansdraw.series import play_compiled
from research.euchre import compiled as euchre
from workbench.lab.extras import PlaySeries


def series(first: str, second: str) -> PlaySeries | None:
    """What plays series of Dead Man's Draw between these two, as the lab does in plain Python."""
    if twin(first) is None or twin(second) is None:
        return None
    return play_compiled


def euchre_player(effort: Effort) -> Strategy | None:
    """The Euchre engine with that effort, for single decisions."""
    return euchre.Compiled(effort) if euchre.available() else None


def lanes(game: str, number: int, seats: int | None) -> CompiledLanes | None:
    """What steps so many matches of the game side by side, as `Lanes` does in plain Python."""
    del seats  # two, as told
    return compiled_lanes(number) if game == "deadmansdraw" else None
