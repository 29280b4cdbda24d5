"""Lab adapter: what a game adds to the lab beside its rules (`Game.duel_extras`)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from random import Random
from typing import Any, NamedTuple, Protocol

from cardsharp.play.catalog import get_game
from cardsharp.play.decision_runner import DecisionResult
from cardsharp.store.match_log import MatchRecord, MoveRecord
from cardsharp_tools.executors.strategy_reference import StrategyReference
from cardsharp_tools.lab.duel_result import Pair
from cardsharp_tools.lab.plan import AnyStrategy, DuelPlan

LAB_WORKER = "lab"  # worker of the decisions in matches of the lab

# plays the consecutive pairs with these numbers
SeriesPlayer = Callable[[DuelPlan, Sequence[int]], list[Pair]]


class MatchRngs(NamedTuple):
    """Random streams of one match: the deal, later chance events, and each player."""

    deal: Random
    chance: Random
    first: Random
    second: Random


class LabPlayer(Protocol):
    """Player of a match in the lab."""

    def decide(self, state: Any, /) -> Any:  # noqa: ANN401 - any game's state and action
        """Return the action of the seat to act; the argument is the complete state."""

    def on_match_end(self, state: Any, /) -> None:  # noqa: ANN401
        """Receive the final state of the match."""


class ExternalPlayerClient(Protocol):
    """Player that is no strategy in this process, such as an HTTP service."""

    def for_match(self, seats: tuple[int, ...], /) -> LabPlayer:
        """Return the player of a new match on these seats."""

    def close(self) -> None:
        """Close the connection."""


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """Answer of a strategy to a hand-made position, with its reason."""

    name: str
    action: str
    correct_actions: tuple[str, ...]
    reason: str

    @property
    def is_correct(self) -> bool:
        """True if the action is one of the correct ones."""
        return self.action in self.correct_actions


class PlayedAction(NamedTuple):
    """Action with the state in which it was taken and, for a strategy, its decision."""

    state: Any
    action: Any
    decision: DecisionResult[Any] | None


@dataclass(frozen=True, slots=True)
class LabMatch:
    """Match of the lab, action by action; `seats` are the first player's, `names` are by seat."""

    match_id: str
    started_at: datetime
    seats: tuple[int, ...]
    names: tuple[str, ...]
    actions: Sequence[PlayedAction]
    final_state: Any
    tag: str = "lab"
    version: str | None = None
    """Version of the first player's file, if it is a file."""

    def header(self, game: str) -> dict[str, object]:
        """Return the header of the match for the match log, the same for every game."""
        return {
            "game": game,
            "players": list(self.names),
            "names": list(self.names),
            "tags": [self.tag],
            "seats": {str(seat): self.names[seat] for seat in self.seats},
            "opponent": next(n for seat, n in enumerate(self.names) if seat not in self.seats),
            **({} if self.version is None else {"version": self.version}),
        }


class LabAdapter:
    """Lab adapter of a game with no additions; base class of those that have some."""

    default_opponent: str | None = None
    """Default opponent for positions of matches; None for the player itself."""

    can_store_matches = has_luck_model = False
    """True if a derived class defines `match_records`, and `luck`."""

    def __init_subclass__(cls) -> None:
        cls.can_store_matches, cls.has_luck_model = (
            cls.match_records is not LabAdapter.match_records,
            cls.luck is not LabAdapter.luck,
        )

    def rngs_of_pair(self, seed: int, pair_number: int) -> MatchRngs:
        """Return the random streams of a pair; each of its matches has the same ones."""
        table = Random(f"{seed}/{pair_number}")
        first_rng, second_rng = (
            Random(f"{seed}/{pair_number}/first"),
            Random(f"{seed}/{pair_number}/second"),
        )
        return MatchRngs(table, table, first_rng, second_rng)

    def find_external_player(self, _url: str) -> ExternalPlayerClient | None:
        """Return the player of the service at that address; None by default."""
        return None

    def find_lab_strategy(self, _name: str, *, pure_python: bool) -> AnyStrategy | None:
        """Return a strategy that only the lab has, or a faster equivalent; None by default."""
        del pure_python
        return None

    def with_match_time(self, strategy: AnyStrategy) -> AnyStrategy:
        """Return a strategy with the time that it has in a match outside the lab."""
        return strategy

    def find_compiled_series_player(self, _plan: DuelPlan) -> SeriesPlayer | None:
        """Return a faster player of full pairs with the same results, or None."""
        return None

    def decision_kind(self, _position: Any) -> str | None:  # noqa: ANN401
        """Return the kind of decision in a word, or None if the game has only one kind."""
        return None

    def count_evaluated_leaves(self, _player: StrategyReference, _position: Any) -> int | None:  # noqa: ANN401
        """Return how many leaves the strategy's search evaluates here, or None if unknown."""
        return None

    def luck(self, previous_state: Any, next_state: Any) -> Sequence[float]:  # noqa: ANN401
        """Return the luck of each side between two states, in shares of 1; its mean is 0."""
        raise NotImplementedError

    def is_endgame(self, _state: Any) -> bool:  # noqa: ANN401
        """Return True if only the last cards remain, which `endgame_rngs` can deal again."""
        return False

    def endgame_rngs(self, seed: int, pair_number: int, repetition: int) -> tuple[Random, Random]:
        """Return the random streams of a replayed ending: hidden cards, and later chance."""
        raise NotImplementedError

    def match_records(self, match: LabMatch) -> Iterator[tuple[MatchRecord, list[MoveRecord]]]:
        """Convert a lab match to records of the match log, in one part or several."""
        raise NotImplementedError

    def probe_answers(self, _strategy: AnyStrategy) -> Iterator[ProbeAnswer]:
        """Yield a strategy's answers to hand-made positions; a game may have none."""
        return iter(())


@cache
def lab_adapter(name: str) -> LabAdapter:
    """Return the lab adapter of the game with this name."""
    lazy_import = get_game(name).duel_extras
    adapter: LabAdapter = LabAdapter() if lazy_import is None else lazy_import.load()()
    return adapter
