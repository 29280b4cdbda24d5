"""Players of the lab: strategies by name, those that only the lab knows, or a user's own file."""

from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

from cardsharp.errors import ConfigError
from cardsharp.games import game
from cardsharp.registry import strategies_of
from workbench.lab.extras import extras_of
from workbench.lab.guard import guarded
from workbench.lab.plan import Plan
from workbench.strategy_file import files_of, is_own, strategy_named, unknown


def strategy_of(
    plan: Plan, name_or_file: str, dice: Random, past: Sequence[tuple[int, Any]] = ()
) -> Any:  # noqa: ANN401 - any game's strategy
    """A player of the plan, with the past in mind and all its `dice`; raises `ConfigError`."""
    return guarded(name_or_file, bare_strategy_of(plan, name_or_file, dice, past))


def bare_strategy_of(
    plan: Plan, name_or_file: str, dice: Random, past: Sequence[tuple[int, Any]] = ()
) -> Any:  # noqa: ANN401 - any game's strategy
    """The same without the guard around a user's own."""
    own = extras_of(plan.game).strategy(name_or_file, plain=plan.plain)
    if own is not None:
        return own
    return plan.simulation.strategy(_name(plan.game, name_or_file), dice, past)


def check_players(plan: Plan) -> None:
    """Make both once; raises `ConfigError` where one cannot be, or nobody knows its luck."""
    if plan.less_luck and not extras_of(plan.game).tells_luck:
        of = game(plan.game).title
        raise ConfigError(f"Nobody tells the luck of {of}; leave --less-luck out.")
    if not plan.plain and extras_of(plan.game).series(plan) is not None:
        return
    for name in (plan.first, plan.second):
        if extras_of(plan.game).guest(name) is None:
            try:
                strategy_of(plan, name, Random(0))
            except ConfigError as error:
                there = strategies_of(game(plan.game).strategies).names()
                raise error if is_own(name) else unknown(error, name, there) from None


def _name(game_name: str, name_or_file: str) -> str:
    """The registered name; a file is imported, a program started in whichever process this is."""
    if not is_own(name_or_file):
        return name_or_file
    return strategy_named(name_or_file, game(game_name))


def fingerprint(plan: Plan) -> str:
    """A short word that changes when the strategies' code or weights do, or a player's files."""
    digest = sha256()
    folder = Path(str(files(game(plan.game).strategies)))
    shipped = (f for f in folder.rglob("*") if f.is_file() and f.parent.name != "__pycache__")
    players = (files_of(name, game(plan.game)) for name in (plan.first, plan.second))
    own = (file for files in players for file in files)
    for file in (*sorted(shipped), *own):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
