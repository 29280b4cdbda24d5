"""Fixed opponents of a learner: strategies on some seats, as they play in the lab."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from cardsharp.errors import ConfigError
from cardsharp_tools.environments.integers import as_integer
from cardsharp_tools.executors.strategy_reference import StrategyReference, Weights, parse_strategy
from cardsharp_tools.lab.game_adapter import LabPlayer
from cardsharp_tools.lab.match_runner import StrategyPlayer
from cardsharp_tools.lab.plan import DuelPlan
from cardsharp_tools.lab.players import build_player, check_players
from cardsharp_tools.lab.rng import RngPurpose, pair_rng


class SharedPlayer:
    """Player from a user's file or program, shared by all lanes and started at first use.

    A copy builds it anew, because another process cannot be copied.
    """

    def __init__(self, make: Callable[[], LabPlayer]) -> None:
        self._make = make
        self._player: LabPlayer | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_make": self._make, "_player": None}

    def decide(self, state: Any) -> Any:  # noqa: ANN401 - any game's
        """Return the action of the seat to act."""
        if self._player is None:
            self._player = self._make()
        return self._player.decide(state)

    def on_match_end(self, state: object) -> None:
        """Do nothing: the shared player keeps no state of a match."""


class Opponents:
    """Strategies on some seats of a game, by name, file or command; the learner has the others.

    Each strategy is built anew for every match, with its own random numbers. Only a user's file or
    program, which needs a process of its own, is built once for all matches of a seed. Raises
    `ConfigError` if a seat or a strategy does not exist, or if no seat is left.
    """

    def __init__(self, plan: DuelPlan, names_by_seat: Mapping[int, str], *, plain: bool) -> None:
        seats = plan.simulation.seats
        self.strategies = {
            as_integer(seat, "An opponent's seat"): parse_strategy(name).with_absolute_paths()
            for seat, name in names_by_seat.items()
        }
        if wrong := [seat for seat in self.strategies if seat >= seats]:
            raise ConfigError(
                f"There is no seat {wrong[0]} for an opponent; seats are 0 to {seats - 1}."
            )
        self.learners = tuple(seat for seat in range(seats) if seat not in self.strategies)
        if not self.learners:
            raise ConfigError("Opponents have every seat; leave one to the learner.")
        self._plan, self._pure_python = plan, plain
        self._shared_players: dict[int, LabPlayer] = {}

    def check_can_build(self) -> None:
        """Check that every strategy can be built; raise `ConfigError` if one cannot."""
        for strategy in self.strategies.values():
            check_players(self._build_plan(strategy))

    def reset_shared_players(self, seed: int) -> None:
        """Build the shared players anew with the random numbers of this deal."""
        self._shared_players = {
            seat: SharedPlayer(partial(self._build_player, seat, seed, 0))
            for seat, strategy in self.strategies.items()
            if strategy.is_user_code and not isinstance(strategy, Weights)
        }

    def players_for_match(self, seed: int, match_number: int) -> dict[int, LabPlayer]:
        """Return the opponents of the match of that number, by seat."""
        return {
            seat: self._shared_players[seat]
            if seat in self._shared_players
            else self._build_player(seat, seed, match_number)
            for seat in self.strategies
        }

    def _build_player(self, seat: int, seed: int, match_number: int) -> LabPlayer:
        strategy, rolled = (
            self.strategies[seat],
            pair_rng(seed, match_number, RngPurpose.FIRST + seat),
        )
        return StrategyPlayer(
            self._plan.simulation, build_player(self._build_plan(strategy), strategy, rolled)
        )

    def _build_plan(self, strategy: StrategyReference) -> DuelPlan:
        return replace(self._plan, first=strategy, second=strategy, pure_python=self._pure_python)
