"""Worker process that plays one match of a contest, so that no team can end or stop the contest.

Its parameter is a `MatchTask` in JSON. Before each decision of a team's own code it prints `turn`
and the number of the side that decides. At the end it prints a `WorkerMatchResult`.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from cardsharp.analysis.judged_match import SIDE_COUNT
from cardsharp.errors import CardsharpError, ConfigError, StrategyError
from cardsharp.play.catalog import get_game
from cardsharp.store.match_log import Body
from cardsharp_tools.child_process import read_parameters, signal_ready
from cardsharp_tools.executors.strategy_field import StrategyField
from cardsharp_tools.lab.game_adapter import LabMatch, LabPlayer, PlayedAction, lab_adapter
from cardsharp_tools.lab.match_runner import StrategyPlayer, play_match
from cardsharp_tools.lab.plan import AnySimulation, AnyStrategy, DuelPlan, lab_simulation
from cardsharp_tools.lab.players import build_player
from cardsharp_tools.match_sources.match_logs import import_match, open_log

TURN_MESSAGE = "turn"


@dataclass(frozen=True, slots=True)
class MatchTask:
    """A match to be played; `names` and `strategies` are in the order of its sides."""

    match: str
    game: str
    seed: int
    names: tuple[str, ...]
    strategies: tuple[StrategyField, ...]
    started_at: datetime
    tag: str
    log: Path


@dataclass(frozen=True, slots=True)
class WorkerMatchResult:
    """Result of a match: points of each side, number of turns, and the side that failed, if any."""

    points: tuple[float, ...]
    turns: int
    failed_side: Annotated[int | None, Field(alias="failed")] = None
    failure: Annotated[str, Field(alias="fault")] = ""


TASK, END = TypeAdapter(MatchTask), TypeAdapter(WorkerMatchResult)


class _TeamCodeError(Exception):
    """Error in the code of the team that plays `side`."""

    def __init__(self, side: int, fault: CardsharpError) -> None:
        super().__init__(str(fault))
        self.side = side


def simulation_for_side_count(game_name: str, side_count: int) -> AnySimulation:
    """Return the simulation of a game for that number of sides.

    Raises `ConfigError` if the game's rules exclude it.
    """
    simulation = usual = lab_simulation(game_name)
    with suppress(ConfigError):
        simulation = lab_simulation(game_name, side_count - 1)
    if len(simulation.sides) != side_count:
        title, sit = get_game(game_name).title, len(usual.sides)
        raise ConfigError(
            f"A match of {title} cannot have {side_count} teams. The usual number is {sit}: give "
            f"--seats {sit}."
        )
    return simulation


def forfeit_result(
    task: MatchTask, failed_side: int, failure: str, turns: int = 0
) -> WorkerMatchResult:
    """Return the result of a match that a side lost by its failure; the others share the points."""
    min_return, max_return = simulation_for_side_count(task.game, len(task.names)).returns_range
    other_count = len(task.names) - 1
    points = tuple(
        min_return if at == failed_side else max_return / other_count
        for at in range(len(task.names))
    )
    return WorkerMatchResult(points, turns, failed_side, failure)


class _AnnouncingPlayer(StrategyPlayer):
    """Player with a team's own code; announces each turn before its decision."""

    def __init__(
        self,
        side: int,
        say: Callable[[str], None],
        simulation: AnySimulation,
        strategy: AnyStrategy,
    ) -> None:
        super().__init__(simulation, strategy)
        self._side, self._announce_turn = side, say

    def decide(self, state: Any) -> Any:  # noqa: ANN401 - any game's state and action
        """Announce the turn and return the player's action."""
        self._announce_turn(f"{TURN_MESSAGE} {self._side}")
        try:
            return super().decide(state)
        except StrategyError as fault:
            raise _TeamCodeError(self._side, fault) from None


def play_and_store_hosted_match(
    task: MatchTask, announce_turn: Callable[[str], None]
) -> WorkerMatchResult:
    """Play a match, store it in its log and return the points; a side whose code fails loses."""
    simulation, dice = (
        simulation_for_side_count(task.game, len(task.names)),
        lab_adapter(task.game).rngs_of_pair(task.seed, 0),
    )
    more = (Random(f"{task.seed}/{n}") for n in range(2, len(task.names)))
    rngs = [dice.first, dice.second, *more]
    played_actions: list[PlayedAction] = []
    seated: dict[int, LabPlayer] = {}
    try:
        for side, seats in enumerate(simulation.sides):
            player = _build_side_player(task, side, rngs[side], announce_turn)
            seated |= dict.fromkeys(seats, player)
        opening = simulation.initial_state(dice.deal)
        players = [seated[seat] for seat in sorted(seated)]
        end = play_match(simulation, opening, players, dice.chance, played_actions)
    except _TeamCodeError as failed:
        return forfeit_result(task, failed.side, str(failed), len(played_actions))
    seat_returns = simulation.returns(end)
    _store_match(task, simulation.sides, played_actions, end)
    points = tuple(sum(seat_returns[seat] for seat in side) for side in simulation.sides)
    return WorkerMatchResult(points, len(played_actions))


def _build_side_player(
    task: MatchTask, side: int, dice: Random, announce_turn: Callable[[str], None]
) -> LabPlayer:
    """Return the player of a side; importing a team's own code has its own time limit."""
    reference, copies = task.strategies[side], len(task.strategies) - 1
    plan = DuelPlan(
        first=reference, second=reference, pairs=1, game=task.game, opponent_copies=copies
    )
    try:
        strategy = build_player(plan, reference, dice)
    except (ConfigError, StrategyError) as error:
        raise _TeamCodeError(side, error) from None
    if reference.is_user_code:
        return _AnnouncingPlayer(side, announce_turn, plan.simulation, strategy)
    return StrategyPlayer(plan.simulation, strategy)


def _store_match(
    task: MatchTask,
    sides: Any,  # noqa: ANN401 - of any game
    played_actions: list[PlayedAction],
    final_state: object,
) -> None:
    """Store the match in the contest's log, where `watch`, `show` and `analyse` read it."""
    extras = lab_adapter(task.game)
    if not extras.can_store_matches:
        return
    names_by_seat = {
        seat: name for name, side in zip(task.names, sides, strict=True) for seat in side
    }
    lab_match = LabMatch(
        match_id=task.match,
        started_at=task.started_at,
        seats=sides[0],
        names=tuple(names_by_seat[seat] for seat in sorted(names_by_seat)),
        actions=tuple(played_actions),
        final_state=final_state,
        tag=task.tag,
    )
    with open_log(f"sqlite:{task.log}") as log:
        for record, moves in extras.match_records(lab_match):
            header = _build_neutral_header(record.header, len(task.names))
            import_match(replace(record, header=header), moves, log)


def _build_neutral_header(header: Mapping[str, Any], team_count: int) -> Body:
    """Return a header in which no team is the opponent of the log's owner.

    It names the player of every seat; a deal's seats are in another order than its players.
    """
    names_by_seat = {
        str(seat): header["opponent"] if team_count == SIDE_COUNT else name
        for seat, name in enumerate(header["names"])
    }
    rest = {key: value for key, value in header.items() if key != "opponent"}
    return {**rest, "seats": {**names_by_seat, **header["seats"]}}


def main() -> None:
    """Play the match of the parameters and print its result."""
    logging.disable()
    task = TASK.validate_json(read_parameters())
    signal_ready()
    say = partial(print, flush=True)  # to stdout, which the parent reads
    say(END.dump_json(play_and_store_hosted_match(task, say), by_alias=True).decode())


if __name__ == "__main__":
    main()
