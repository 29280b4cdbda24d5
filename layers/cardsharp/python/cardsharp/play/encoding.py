"""Encodings of a game's positions and actions as numbers, found by `Game.rl_encoding`.

Plain Python, so that a network trained on these numbers plays wherever a bot does.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Generic, TypeVar

P = TypeVar("P")  # the position: what one player may know
A = TypeVar("A")  # an action

Marks = Mapping[str, Iterable[int | tuple[int, float]]]
"""Numbers of each block that are not 0: an index (its value is 1), or an index with its value."""


@dataclass(frozen=True)
class Encoding(Generic[P, A]):
    """Encoding of positions as numbers from 0 to 1, and of actions as indexes.

    `blocks` maps the name of each part of an observation to its size, in order. `marks` returns the
    numbers that a position sets; all others are 0. `choices` returns the legal actions by their
    indexes. An action has the same index in every position. `actions` is the number of indexes.

    `marks` and `choices` must be functions of a module or methods, never lambdas: an environment
    that holds them must be picklable.
    """

    blocks: Mapping[str, int]
    marks: Callable[[P], Marks]
    actions: int
    choices: Callable[[P], Mapping[int, A]]

    @cached_property
    def size(self) -> int:
        """Size of an observation."""
        return sum(self.blocks.values())

    @cached_property
    def block_offsets(self) -> Mapping[str, int]:
        """Index of the first number of each block."""
        return dict(zip(self.blocks, accumulate(self.blocks.values(), initial=0), strict=False))

    def block(self, name: str) -> slice:
        """Return the slice of a block in the array of `observed`."""
        return slice(self.block_offsets[name], self.block_offsets[name] + self.blocks[name])

    def observed(self, position: P) -> "array[float]":
        """Return the position as an array of 32-bit floats, as the environments use them."""
        observation = array("f", bytes(4 * self.size))
        for block, marks in self.marks(position).items():
            start = self.block_offsets[block]
            for mark in marks:
                if isinstance(mark, tuple):
                    observation[start + mark[0]] = mark[1]
                else:
                    observation[start + mark] = 1.0
        return observation


def relative_seat(seat: int, me: int, seats: int) -> int:
    """Return a seat relative to the player's own seat, which is 0."""
    return (seat - me) % seats


def flatten_block_indexes(groups: Sequence[Iterable[int]], width: int) -> list[int]:
    """Return the indexes of several blocks of equal width in one array.

    The blocks lie one after another: index `i` of block `b` becomes `width * b + i`.
    """
    return [width * group + index for group, indexes in enumerate(groups) for index in indexes]
