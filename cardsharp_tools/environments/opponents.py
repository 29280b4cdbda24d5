"""Fixed opponents of a learner: strategies on seats of its lanes, as the lab plays them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from cardsharp.errors import ConfigError
from cardsharp_tools.environments.integers import as_integer
from cardsharp_tools.executors.strategy_file import (
    is_user_strategy,
    is_weights_file,
    with_absolute_paths,
)
from cardsharp_tools.lab.game_adapter import LabPlayer
from cardsharp_tools.lab.match_runner import StrategyPlayer
from cardsharp_tools.lab.plan import DuelPlan
from cardsharp_tools.lab.players import build_player, check_players
from cardsharp_tools.lab.rng import RngStream, pair_rng


class SharedPlayer:
    """A user's own file or program on a seat of all lanes, made when it first is to decide.

    A copy makes it anew, for nothing of another process can be copied.
    """

    def __init__(self, make: Callable[[], LabPlayer]) -> None:
        self._make = make
        self._player: LabPlayer | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_make": self._make, "_player": None}

    def decide(self, state: Any) -> Any:  # noqa: ANN401 - any game's
        """The action of the seat that is to act."""
        if self._player is None:
            self._player = self._make()
        return self._player.decide(state)

    def end_match(self, state: object) -> None:
        """Nothing is to be told."""


class Opponents:
    """The strategies on some seats of a game, by name, file or command; the learner has the others.

    Each is made anew for every match, with dice of its own. Only a user's own file or program, of
    which a process each would be needed, is made once for all matches of a deal. Raises
    `ConfigError` where a seat or a strategy is not there, or no seat is left.
    """

    def __init__(self, plan: DuelPlan, names: Mapping[int, str], *, plain: bool) -> None:
        seats = plan.simulation.seats
        self.names = {
            as_integer(seat, "An opponent's seat"): with_absolute_paths(name)
            for seat, name in names.items()
        }
        if wrong := [seat for seat in self.names if seat >= seats]:
            raise ConfigError(
                f"There is no seat {wrong[0]} for an opponent; seats are 0 to {seats - 1}."
            )
        self.learners = tuple(seat for seat in range(seats) if seat not in self.names)
        if not self.learners:
            raise ConfigError("Opponents have every seat; leave one to the learner.")
        self._plan, self._plain = plan, plain
        self._shared: dict[int, LabPlayer] = {}

    def check(self) -> None:
        """Make each strategy once; raises `ConfigError` where one cannot be made."""
        for name in self.names.values():
            check_players(self._plan_of(name))

    def begin(self, seed: int) -> None:
        """Throw the dice of those anew that play all matches of a deal."""
        self._shared = {
            seat: SharedPlayer(partial(self._player, seat, seed, 0))
            for seat, name in self.names.items()
            if is_user_strategy(name) and not is_weights_file(name)
        }

    def seated(self, seed: int, number: int) -> dict[int, LabPlayer]:
        """The players of the match of that number, by seat."""
        return {
            seat: self._shared[seat] if seat in self._shared else self._player(seat, seed, number)
            for seat in self.names
        }

    def _player(self, seat: int, seed: int, number: int) -> LabPlayer:
        name, rolled = self.names[seat], pair_rng(seed, number, RngStream.FIRST + seat)
        return StrategyPlayer(
            self._plan.simulation, build_player(self._plan_of(name), name, rolled)
        )

    def _plan_of(self, name: str) -> DuelPlan:
        return replace(self._plan, first=name, second=name, pure_python=self._plain)
