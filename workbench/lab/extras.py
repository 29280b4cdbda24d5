"""What a game may bring to the lab beside its rules: `Game.lab` names the class."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from random import Random
from typing import Any, NamedTuple, Protocol

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.deciding import Decided
from cardsharp.games import game
from workbench.lab.duel import Pair
from workbench.lab.plan import AnyStrategy, Plan

PlaySeries = Callable[[Plan, Sequence[int]], list[Pair]]  # plays consecutive pairs, by number


class MatchDice(NamedTuple):
    """All randomness of one match: of the deal, of what comes after it, of either player."""

    deal: Random
    chance: Random
    first: Random
    second: Random


class LabPlayer(Protocol):
    """Somebody who plays a match."""

    def decide(self, state: Any, /) -> Any:  # noqa: ANN401 - any game's state and action
        """The action of the seat that is to act; the whole state is passed."""

    def ended(self, state: Any, /) -> None:  # noqa: ANN401
        """The match is over."""


class Guest(Protocol):
    """A player who is no strategy in this process, such as a service behind HTTP."""

    def seated(self, seats: tuple[int, ...], /) -> LabPlayer:
        """The player of a new match, on those seats."""

    def close(self) -> None:
        """End the connection."""


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """What a strategy answered to a hand-made position, and why."""

    name: str
    action: str
    right: tuple[str, ...]
    reason: str

    @property
    def is_right(self) -> bool:
        """Whether that was right."""
        return self.action in self.right


class Taken(NamedTuple):
    """An action in the state before it, with the decision where a strategy took it."""

    state: Any
    action: Any
    decided: Decided[Any] | None


@dataclass(frozen=True, slots=True)
class LabMatch:
    """A match of the lab, action by action; `seats` are the first player's, `names` of all."""

    match_id: str
    at: datetime
    seats: tuple[int, ...]
    names: tuple[str, ...]
    taken: Sequence[Taken]
    end: Any
    tag: str = "lab"
    version: str | None = None
    """Which state of the first player's file it was, where that is a file."""

    def header(self, game: str) -> dict[str, object]:
        """What the match log says of it, whatever the game."""
        return {
            "game": game,
            "players": list(self.names),
            "names": list(self.names),
            "tags": [self.tag],
            "seats": {str(seat): self.names[seat] for seat in self.seats},
            "opponent": next(n for seat, n in enumerate(self.names) if seat not in self.seats),
            **({} if self.version is None else {"version": self.version}),
        }


class Extras:
    """What a game of which nothing special is known needs: nothing."""

    opponent: str | None = None
    """Against whom positions are met where nobody is named; None for the player itself."""

    keeps = tells_luck = False  # whether there is `kept` for its matches, and `luck`

    def __init_subclass__(cls) -> None:
        cls.keeps, cls.tells_luck = cls.kept is not Extras.kept, cls.luck is not Extras.luck

    def dice(self, seed: int, number: int) -> MatchDice:
        """The dice of the matches of one pair, the same for each of them."""
        table = Random(f"{seed}/{number}")
        first, second = Random(f"{seed}/{number}/first"), Random(f"{seed}/{number}/second")
        return MatchDice(table, table, first, second)

    def guest(self, _name: str) -> Guest | None:
        """The player of that name, where it is no strategy."""
        return None

    def strategy(self, _name: str, *, plain: bool) -> AnyStrategy | None:
        """A strategy that only the lab knows, or a faster one that decides alike."""
        del plain
        return None

    def series(self, _plan: Plan) -> PlaySeries | None:
        """What plays whole pairs faster and with the same results, if there is such a thing."""
        return None

    def kind(self, _position: Any) -> str | None:  # noqa: ANN401
        """What is to be decided, in a word; None where the game has but one kind."""
        return None

    def nodes(self, _name: str, _position: Any) -> int | None:  # noqa: ANN401
        """How many leaves the search of that strategy values there, where that is known."""
        return None

    def luck(self, before: Any, after: Any) -> Sequence[float]:  # noqa: ANN401
        """What chance brought each side between two states, in shares of 1; its mean is 0."""
        raise NotImplementedError

    def is_late(self, _state: Any) -> bool:  # noqa: ANN401
        """Whether only the last cards are left, which `dice_again` deals anew from there."""
        return False

    def dice_again(self, seed: int, number: int, time: int) -> tuple[Random, Random]:
        """The dice of another end of a pair's matches: of what is hidden, and of what comes."""
        raise NotImplementedError

    def kept(self, told: LabMatch) -> Iterator[tuple[MatchRecord, list[MoveRecord]]]:
        """A match of the lab as the log holds matches, in one part or in several."""
        raise NotImplementedError

    def answers(self, _strategy: AnyStrategy) -> Iterator[ProbeAnswer]:
        """What a strategy answers to hand-made positions; a game may have none."""
        return iter(())


@cache
def extras_of(name: str) -> Extras:
    """What the lab does otherwise for the game of that name."""
    part = game(name).lab
    found: Extras = Extras() if part is None else part.load()()
    return found
