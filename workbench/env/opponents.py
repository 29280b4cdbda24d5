"""Fixed opponents of a learner: strategies on seats of its lanes, as the lab plays them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from cardsharp.errors import ConfigError
from workbench.env.integers import whole_number
from workbench.lab.dice import DicePurpose, dice
from workbench.lab.extras import LabPlayer
from workbench.lab.matches import Thinking
from workbench.lab.plan import Plan
from workbench.lab.players import check_players, strategy_of
from workbench.strategy_file import is_own, is_trained, lasting


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

    def ended(self, state: object) -> None:
        """Nothing is to be told."""


class Opponents:
    """The strategies on some seats of a game, by name, file or command; the learner has the others.

    Each is made anew for every match, with dice of its own. Only a user's own file or program, of
    which a process each would be needed, is made once for all matches of a deal. Raises
    `ConfigError` where a seat or a strategy is not there, or no seat is left.
    """

    def __init__(self, plan: Plan, names: Mapping[int, str], *, plain: bool) -> None:
        seats = plan.simulation.seats
        self.names = {
            whole_number(seat, "An opponent's seat"): lasting(name) for seat, name in names.items()
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
            if is_own(name) and not is_trained(name)
        }

    def seated(self, seed: int, number: int) -> dict[int, LabPlayer]:
        """The players of the match of that number, by seat."""
        return {
            seat: self._shared[seat] if seat in self._shared else self._player(seat, seed, number)
            for seat in self.names
        }

    def _player(self, seat: int, seed: int, number: int) -> LabPlayer:
        name, rolled = self.names[seat], dice(seed, number, DicePurpose.FIRST + seat)
        return Thinking(self._plan.simulation, strategy_of(self._plan_of(name), name, rolled))

    def _plan_of(self, name: str) -> Plan:
        return replace(self._plan, first=name, second=name, plain=self._plain)
