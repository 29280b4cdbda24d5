"""A match of a contest in a process of its own, so that no team can end or hold up the contest.

Its orders are a `TableTask` in JSON. Before each decision of a team's own code it prints `turn` and
whose it is, and at the end a `TableEnd`; both are numbers of the task's teams.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from pydantic import TypeAdapter

from cardsharp.errors import CardsharpError, ConfigError, StrategyFault
from cardsharp.games import game
from workbench.child import read_orders, say_ready
from workbench.lab.extras import LabMatch, LabPlayer, Taken, extras_of
from workbench.lab.matches import Thinking, play
from workbench.lab.plan import AnySimulation, AnyStrategy, Plan, simulation_of
from workbench.lab.players import strategy_of
from workbench.show.lookup import keep_match, open_log
from workbench.strategy_file import is_own, version_of

TURN = "turn"


@dataclass(frozen=True, slots=True)
class TableTask:
    """A match to be played; `names` and `strategies` are in the order of its sides."""

    match: str
    game: str
    seed: int
    names: tuple[str, ...]
    strategies: tuple[str, ...]
    at: datetime
    tag: str
    log: Path


@dataclass(frozen=True, slots=True)
class TableEnd:
    """How it ended: what each side made, the decisions, and who failed, if anybody."""

    points: tuple[float, ...]
    turns: int
    failed: int | None = None
    fault: str = ""


TASK, END = TypeAdapter(TableTask), TypeAdapter(TableEnd)


class _Failed(Exception):
    """The code of one side has failed."""

    def __init__(self, side: int, fault: CardsharpError) -> None:
        super().__init__(str(fault))
        self.side = side


def tabled(game_name: str, sides: int) -> AnySimulation:
    """The game for so many sides; raises `ConfigError` if it is not played by so many."""
    simulation = usual = simulation_of(game_name)
    with suppress(ConfigError):
        simulation = simulation_of(game_name, sides - 1)
    if len(simulation.sides) != sides:
        title, sit = game(game_name).title, len(usual.sides)
        raise ConfigError(
            f"{title} is not played by {sides} teams at a table, but by {sit}: give --seats {sit}."
        )
    return simulation


def forfeited(task: TableTask, side: int, fault: str, turns: int = 0) -> TableEnd:
    """The end of a match that a side has lost by its fault: the others share what can be won."""
    least, most = tabled(task.game, len(task.names)).range
    others = len(task.names) - 1
    points = tuple(least if at == side else most / others for at in range(len(task.names)))
    return TableEnd(points, turns, side, fault)


class _Announced(Thinking):
    """A team's own code, which is said to decide before it does."""

    def __init__(
        self,
        side: int,
        say: Callable[[str], None],
        simulation: AnySimulation,
        strategy: AnyStrategy,
    ) -> None:
        super().__init__(simulation, strategy)
        self._side, self._say = side, say

    def decide(self, state: Any) -> Any:  # noqa: ANN401 - any game's state and action
        """The player's action."""
        self._say(f"{TURN} {self._side}")
        try:
            return super().decide(state)
        except StrategyFault as fault:
            raise _Failed(self._side, fault) from None


def played(task: TableTask, say: Callable[[str], None]) -> TableEnd:
    """Play a match and keep it in its log; whose code fails has lost."""
    simulation, dice = tabled(task.game, len(task.names)), extras_of(task.game).dice(task.seed, 0)
    more = (Random(f"{task.seed}/{n}") for n in range(2, len(task.names)))
    own = [dice.first, dice.second, *more]
    notes: list[Taken] = []
    seated: dict[int, LabPlayer] = {}
    try:
        for side, seats in enumerate(simulation.sides):
            player = _player(task, side, own[side], say)
            seated |= dict.fromkeys(seats, player)
        opening = simulation.deal(dice.deal)
        players = [seated[seat] for seat in sorted(seated)]
        end = play(simulation, opening, players, dice.chance, notes)
    except _Failed as failed:
        return forfeited(task, failed.side, str(failed), len(notes))
    made = simulation.gains(end)
    _keep(task, simulation.sides, notes, end)
    points = tuple(sum(made[seat] for seat in side) for side in simulation.sides)
    return TableEnd(points, len(notes))


def _player(task: TableTask, side: int, dice: Random, say: Callable[[str], None]) -> LabPlayer:
    """The player of a side; a team's own code is imported, for which it has a limit of its own."""
    name, copies = task.strategies[side], len(task.strategies) - 1
    plan = Plan(first=name, second=name, pairs=1, game=task.game, copies=copies)
    try:
        strategy = strategy_of(plan, name, dice)
    except (ConfigError, StrategyFault) as error:
        raise _Failed(side, error) from None
    if is_own(name):
        return _Announced(side, say, plan.simulation, strategy)
    return Thinking(plan.simulation, strategy)


def _keep(task: TableTask, sides: Any, notes: list[Taken], end: object) -> None:  # noqa: ANN401
    """Write the match into the contest's log, where `watch`, `show` and `analyse` find it."""
    extras = extras_of(task.game)
    if not extras.keeps:
        return
    names = {seat: name for name, side in zip(task.names, sides, strict=True) for seat in side}
    told = LabMatch(
        match_id=task.match,
        at=task.at,
        seats=sides[0],
        names=tuple(names[seat] for seat in sorted(names)),
        taken=tuple(notes),
        end=end,
        tag=task.tag,
        version=version_of(task.strategies[0], game(task.game)),
    )
    with open_log(f"sqlite:{task.log}") as log:
        for record, moves in extras.kept(told):
            keep_match(record, moves, log)


def main() -> None:
    """Play the match that was ordered."""
    logging.disable()
    task = TASK.validate_json(read_orders())
    say_ready()
    say = partial(print, flush=True)  # what the parent reads
    say(END.dump_json(played(task, say)).decode())


if __name__ == "__main__":
    main()
