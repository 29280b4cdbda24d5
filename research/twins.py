"""What `workbench` may find here: compiled twins of strategies, each None where there is none.

`workbench/twins.py` looks for these functions by name; nobody imports this module.
"""

from collections.abc import Mapping, Sequence
from ctypes import CDLL
from functools import cache, partial

from cardsharp.euchre.strategies import Strategy
from cardsharp.euchre.strategies.pimc import Effort
from research.blef import compiled as blef
from research.compiling import why_not
from research.deadmansdraw.engine import Result as Compiled
from research.deadmansdraw.engine import load, needed, twin
from research.deadmansdraw.specialist import Specialists
from research.euchre import compiled as euchre
from research.lanes import CompiledLanes
from workbench import companion
from workbench.lab.duel import Luck, Pair, Result
from workbench.lab.extras import PlaySeries
from workbench.lab.plan import Plan
from workbench.strategy_file import called


def series(first: str, second: str) -> PlaySeries | None:
    """What plays series of Dead Man's Draw between these two, as the lab does in plain Python."""
    if twin(first) is None or twin(second) is None:
        return None
    return play_compiled


def play_compiled(plan: Plan, numbers: Sequence[int]) -> list[Pair]:
    """The consecutive pairs of one series, in whichever process it is called."""
    engine, first, second = load(), twin(plan.first), twin(plan.second)
    if engine is None or first is None or second is None:
        raise RuntimeError("The compiled engine is there no more; use --plain.")
    played = engine.play((first, second), plan.seed, numbers, less_luck=plan.less_luck)
    return [tuple(_result(one, plan) for one in pair) for pair in played]


def _result(match: Compiled, plan: Plan) -> Result:
    counts = ("scores", "turns", "actions", "busts")
    luck = Luck(match.again, match.luck) if plan.less_luck else None
    return Result(match.points, {name: tuple(getattr(match, name)) for name in counts}, luck=luck)


def euchre_player(effort: Effort) -> Strategy | None:
    """The Euchre engine with that effort, for single decisions."""
    return euchre.Compiled(effort) if euchre.library() else None


def specialists(seed: int, matches: int) -> Specialists | None:
    """What trains weights against an opponent, and tests them."""
    engine = load()
    return None if engine is None else Specialists(engine, seed, matches)


def lanes(game: str, number: int, seats: int, opponents: Mapping[int, str]) -> CompiledLanes | None:
    """What steps so many matches of the game side by side, as `Lanes` does in plain Python.

    None where nothing is compiled, or an opponent has no twin that decides by the table alone.
    """
    library = _library(game)
    if library is None:
        return None
    policies = {seat: _policy(game, name) for seat, name in opponents.items()}
    for seat, policy in policies.items():
        if policy is None:
            _say_plain(opponents[seat])
            return None
    found = {seat: policy for seat, policy in policies.items() if policy is not None}
    reopen = partial(lanes, game, number, seats, dict(opponents))
    return CompiledLanes(library, (number, seats), found, reopen)


def _policy(game: str, name: str) -> int | None:
    """The address of the policy that is the opponent's twin."""
    player = twin(name) if game == "deadmansdraw" else None
    return None if player is None or player.book is not None else player.policy


@cache
def _say_plain(name: str) -> None:
    companion.say(f"No compiled player is {called(name)}; plain Python steps its lanes, slower.")


@cache
def _library(game: str) -> CDLL | None:
    why = why_not()
    if why is not None:
        companion.say(why)
        return None
    if game == "deadmansdraw":
        return needed().library
    libraries = {"blef": blef.library, "euchre": euchre.library}
    return libraries[game]() if game in libraries else None
