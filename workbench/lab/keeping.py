"""Matches of a duel in the match log, where `show`, `why` and `try` find them.

A match of the lab depends on its plan alone, so those that are wanted are played once more, by
plain Python, while somebody takes down every decision.
"""

from collections.abc import Collection, Iterator
from contextlib import ExitStack
from datetime import datetime
from typing import Any

from cardsharp.cloud.ports import MatchLog
from cardsharp.errors import ConfigError
from cardsharp.games import game
from workbench.lab.duel import Duel
from workbench.lab.extras import LabMatch, LabPlayer, Taken, extras_of
from workbench.lab.matches import PairSeries, Thinking
from workbench.lab.plan import Plan
from workbench.show.keeping import keep_match
from workbench.strategy_file import called, version_of

Which = tuple[int, int]  # a match of a duel: the pair, and on which side the first player sits


def check_keeping(plan: Plan) -> None:
    """Raise `ConfigError` where matches of the plan's game cannot be kept."""
    if not extras_of(plan.game).keeps:
        raise ConfigError(f"Matches of '{plan.game}' cannot be kept; leave out --keep.")


def lost_first(played: Duel, number: int) -> list[Which]:
    """So many matches of a duel, those that the first player lost before the others."""
    pairs = enumerate(played.pairs)
    matches = ((one.points, (pair, side)) for pair, two in pairs for side, one in enumerate(two))
    return [which for _, which in sorted(matches)[:number]]


def keep(plan: Plan, wanted: Collection[Which], run: str, at: datetime, log: MatchLog) -> list[str]:
    """Write those matches of a plan into a log; their ids, which begin with the run's name."""
    ids = []
    for told in replayed(plan, wanted, run, at):
        for record, moves in extras_of(plan.game).kept(told):
            keep_match(record, moves, log)
            ids.append(record.match_id)
    return ids


class Noting:
    """A player whose actions are taken down."""

    def __init__(self, player: LabPlayer, notes: list[Taken]) -> None:
        self._player, self._notes = player, notes

    def decide(self, state: Any) -> Any:  # noqa: ANN401 - any game's state and action
        """The player's action."""
        action = self._player.decide(state)
        decided = self._player.decided if isinstance(self._player, Thinking) else None
        self._notes.append(Taken(state, action, decided))
        return action

    def ended(self, state: Any) -> None:  # noqa: ANN401
        """Tell the player that the match is over."""
        self._player.ended(state)


def replayed(plan: Plan, wanted: Collection[Which], run: str, at: datetime) -> Iterator[LabMatch]:
    """The wanted matches, played as in the duel: whole series, as one may learn in them."""
    notes: list[Taken] = []
    version = version_of(plan.first, game(plan.game))
    pairs, every = {pair for pair, _ in wanted}, range(plan.simulation.seats)
    for numbers in (series for series in plan.missing({}) if pairs & {*series}):
        with ExitStack() as stack:
            series = PairSeries(plan, stack, lambda player: Noting(player, notes))
            for number in numbers:
                for side, _ in enumerate(series.pair(number)):
                    if (number, side) in wanted:
                        seats, (_, end) = plan.simulation.sides[side], series.past[0][-1]
                        name = f"{run}-{number + 1}-{side + 1}"
                        players = (plan.first if seat in seats else plan.second for seat in every)
                        names = tuple(map(called, players))
                        yield LabMatch(name, at, seats, names, tuple(notes), end, version=version)
                    notes.clear()
