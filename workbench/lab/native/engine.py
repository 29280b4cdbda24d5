"""The compiled engine as Python sees it."""

import ctypes
from array import array
from ctypes import (
    CDLL,
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_int64,
    c_uint64,
    c_void_p,
)
from dataclasses import astuple, dataclass, fields
from functools import cache
from pathlib import Path

from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies.base import Option
from cardsharp.deadmansdraw.strategies.captain import WEIGHTS
from cardsharp.deadmansdraw.strategies.search.leaves import Limits
from cardsharp.deadmansdraw.strategies.search.weights import model
from workbench.compiling import compile_library
from workbench.lab.native.tables import NativeOption, NativeTable, action_of, table_of

MOST_OPTIONS = 12


class _Result(Structure):
    _fields_ = (
        ("points", c_double),
        ("scores", c_int32 * 2),
        ("turns", c_int32 * 2),
        ("actions", c_int32 * 2),
        ("busts", c_int32 * 2),
    )


class NativeLimits(Structure):
    """`Limits` of search.h."""

    _fields_ = tuple((field.name, c_int) for field in fields(Limits))


@dataclass(frozen=True, slots=True)
class NativeResult:
    """How a match ended; pairs hold the first policy's figure and the second's."""

    points: float
    scores: tuple[int, int]
    turns: tuple[int, int]
    actions: tuple[int, int]
    busts: tuple[int, int]


@dataclass(frozen=True, slots=True)
class NativePolicy:
    """A policy of the engine; `keep` holds alive what its C side points to."""

    name: str
    address: int
    keep: object = None


class Engine:
    """An opened library."""

    def __init__(self, library: CDLL) -> None:
        self.library = library
        library.find_policy.argtypes = (c_char_p,)
        library.find_policy.restype = c_void_p
        library.play_pairs.argtypes = (
            c_void_p,
            c_void_p,
            c_uint64,
            c_uint64,
            c_int64,
            POINTER(_Result),
        )
        library.play_pairs.restype = None
        library.captain_new.argtypes = (c_void_p, POINTER(NativeLimits))
        library.captain_new.restype = c_void_p
        library.weigh_table.argtypes = (
            c_void_p,
            POINTER(NativeTable),
            POINTER(NativeOption),
            POINTER(c_int64),
        )
        library.weigh_table.restype = c_int
        self._captains: dict[str, NativePolicy] = {}

    def policy(self, name: str) -> NativePolicy:
        """The policy that a C file registered under `name`, or the captain as it is shipped.

        Raises:
            KeyError: there is none.
        """
        if name == WEIGHTS:
            if name not in self._captains:
                self._captains[name] = self.captain(model(name).numbers)
            return self._captains[name]
        address = self.library.find_policy(name.encode())
        if not address:
            raise KeyError(name)
        return NativePolicy(name, address)

    def captain(self, numbers: "array[int]", limits: Limits | None = None) -> NativePolicy:
        """The captain with these learned numbers; the engine keeps a copy for good."""
        address, _ = numbers.buffer_info()
        bounds = NativeLimits(*astuple(limits or Limits()))
        return NativePolicy(WEIGHTS, self.library.captain_new(address, byref(bounds)))

    def weigh(self, captain: NativePolicy, position: Position) -> tuple[list[Option], int]:
        """The options of an ordinary position with their values, and the leaves valued."""
        options, nodes = (NativeOption * MOST_OPTIONS)(), c_int64()
        number = self.library.weigh_table(
            captain.address, byref(table_of(position)), options, byref(nodes)
        )
        found = [
            Option(action_of(option.action, position.pending), option.value)
            for option in options[:number]
        ]
        return found, nodes.value

    def play_pairs(
        self, players: tuple[NativePolicy, NativePolicy], seed: int, first: int, count: int
    ) -> list[tuple[NativeResult, NativeResult]]:
        """Pairs `first` .. `first + count - 1` of `seed`: the same deck twice, seats swapped."""
        results = (_Result * (2 * count))()
        one, two = players
        self.library.play_pairs(one.address, two.address, seed, first, count, results)
        found = [_plain(result) for result in results]
        return list(zip(found[::2], found[1::2], strict=True))


def _plain(result: _Result) -> NativeResult:
    pairs = (tuple(getattr(result, name)) for name in ("scores", "turns", "actions", "busts"))
    return NativeResult(result.points, *pairs)


@cache
def load() -> Engine | None:
    """The engine of this machine, None where there is no compiler (`why_not` says why).

    Raises:
        ConfigError: the compiler fails.
    """
    library = compile_library(Path(__file__).parent)
    return None if library is None else Engine(ctypes.CDLL(str(library)))
