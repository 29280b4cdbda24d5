"""A game's positions and actions as numbers: `Game.encoding` names what says them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from random import Random
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from cardsharp.errors import ConfigError
from cardsharp.games import game
from cardsharp.host.house import house
from cardsharp.simulation import Simulation

P = TypeVar("P")  # what one player may know
A = TypeVar("A")  # an action

Marks = Mapping[str, Iterable[int | tuple[int, float]]]
"""By the name of a block: the numbers of it that are 1, or a number with what it is."""


@dataclass(frozen=True)
class Encoding(Generic[P, A]):
    """How a position is told in numbers from 0 to 1, and which number each action has.

    `blocks` are the parts of an observation in their order, with how many numbers each has;
    `marks` says which of them a position sets, and all others are 0. `choices` are the legal
    actions by their numbers, which are the same in every position; there are `actions` of them.
    """

    blocks: Mapping[str, int]
    marks: Callable[[P], Marks]
    actions: int
    choices: Callable[[P], Mapping[int, A]]

    @cached_property
    def size(self) -> int:
        """How many numbers an observation has."""
        return sum(self.blocks.values())

    @cached_property
    def starts(self) -> Mapping[str, int]:
        """Where each block begins."""
        return dict(zip(self.blocks, accumulate(self.blocks.values(), initial=0), strict=False))

    def block(self, name: str) -> slice:
        """Where a block lies in what `observed` tells."""
        return slice(self.starts[name], self.starts[name] + self.blocks[name])

    def observed(self, position: P) -> NDArray[np.float32]:
        """The position in numbers."""
        numbers = np.zeros(self.size, np.float32)
        whole: list[int] = []
        for block, marks in self.marks(position).items():
            start = self.starts[block]
            for mark in marks:
                if isinstance(mark, tuple):
                    numbers[start + mark[0]] = mark[1]
                else:
                    whole.append(start + mark)
        numbers[whole] = 1
        return numbers


def encoding_of(folder: str) -> Encoding[Any, Any]:
    """How the hosted game in a folder is told in numbers; raises `ConfigError` if it is not."""
    hosted = house(folder)
    rules = hosted.rules()
    if not rules.every:
        raise ConfigError(f"{hosted.game.title} is no environment: nothing tells it in numbers.")
    numbers = {action: number for number, action in enumerate(rules.every)}
    return Encoding(
        blocks={"position": len(rules.numbers(rules.position(rules.deal(Random(0)))))},
        marks=lambda position: {"position": [*enumerate(rules.numbers(position))]},
        actions=len(numbers),
        choices=lambda position: {numbers[one]: one for one in rules.options(position)},
    )


def told_in_numbers(
    name: str, seats: int | None
) -> tuple[Simulation[Any, Any, Any], Encoding[Any, Any]]:
    """A game's simulation for so many, and how it is told in numbers; raises `ConfigError`."""
    of = game(name)
    if of.encoding is None or of.simulation is None:
        raise ConfigError(f"{of.title} is no environment: nothing tells it in numbers.")
    return of.simulation.load()(*([] if seats is None else [seats])), of.encoding.load()


def rewards(simulation: Simulation[Any, Any, Any], ended: object) -> list[float]:
    """What each seat has of an ended match: 1 for the winners, 0 for a tie, the sides' sum is 0."""
    points, fair = simulation.points(ended), 1 / len(simulation.sides)
    found = [0.0] * simulation.seats
    for side in simulation.sides:
        share = sum(points[seat] for seat in side)
        for seat in side:
            found[seat] = (share - fair) / (1 - fair)
    return found


def number_of(choices: Mapping[int, Any], action: object) -> int:
    """The number of a legal action."""
    return next(number for number, one in choices.items() if one == action)


def relative(seat: int, me: int, seats: int) -> int:
    """A seat counted from the player's own, which is 0."""
    return (seat - me) % seats


def spread(groups: Sequence[Iterable[int]], width: int) -> list[int]:
    """The places of several blocks of one width, laid one after the other."""
    return [width * group + place for group, places in enumerate(groups) for place in places]
