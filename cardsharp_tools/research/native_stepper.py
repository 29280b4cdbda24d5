"""Many matches side by side by compiled code: what `Lanes` steps in plain Python."""

from collections.abc import Callable, Mapping
from ctypes import CDLL, POINTER, Structure, byref, c_int64, c_uint64, c_void_p, memmove
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from cardsharp.errors import ConfigError

if TYPE_CHECKING:  # who only plays in the lab may be without numpy
    from cardsharp_tools.environments.vector_env import BatchArrays

_MAX_SEATS = 8


class _Rows(Structure):
    """`Rows` of native/lanes.h, whose members are those of `LaneRows` in their order."""

    _fields_ = tuple(
        (name, c_void_p)
        for name in (
            *("observations", "masks", "to_act", "rewards", "ended"),
            *("final_observations", "final_seats"),
        )
    )


class _Run(Structure):
    """`Run` of native/lanes.h."""

    _fields_ = (
        *(("lanes", c_int64), ("seats", c_int64), ("seed", c_uint64)),
        ("opponents", c_void_p * _MAX_SEATS),
    )


Reopen = Callable[[], Optional["NativeStepper"]]
"""Makes the same lanes before their first deal, None where nothing is compiled."""


class _Snapshot(NamedTuple):
    """Lanes as they stand; `library` is the name of the file that laid out their memory."""

    library: str
    seed: int
    lanes: bytes


class NativeStepper:
    """A game's lanes.c in place of `Stepper`; rows are written straight into its arrays.

    A copy, also one that was pickled, goes on as these would; `reopen` makes it. `opponents` are
    addresses of policies by seat.
    """

    def __init__(
        self, library: CDLL, size: tuple[int, int], opponents: Mapping[int, int], reopen: Reopen
    ) -> None:
        library.lanes_size.restype = c_int64
        library.lanes_deal.argtypes = (c_void_p, POINTER(_Run), POINTER(_Rows))
        library.lanes_deal.restype = None
        library.lanes_play.argtypes = (c_void_p, POINTER(_Run), c_void_p, POINTER(_Rows))
        library.lanes_play.restype = c_int64
        lane_count, seats = size
        self._library, self._run, self._reopen = library, _Run(lane_count, seats), reopen
        for seat, policy in opponents.items():
            self._run.opponents[seat] = policy
        self._lanes = (c_uint64 * (lane_count * -(-library.lanes_size() // 8)))()

    def __reduce__(self) -> tuple[Any, tuple[Reopen, _Snapshot]]:
        name = Path(self._library._name).name  # noqa: SLF001 - ctypes has no other word for it
        return _restored, (self._reopen, _Snapshot(name, self._run.seed, bytes(self._lanes)))

    def resume(self, snapshot: _Snapshot) -> None:
        """Go on from a snapshot; raises `ConfigError` for one of another version's lanes."""
        if snapshot.library != Path(self._library._name).name:  # noqa: SLF001
            raise ConfigError(
                "These lanes were copied by another version or compiler; "
                "copy them again, or make Lanes with plain=True to move them."
            )
        self._run.seed = snapshot.seed
        memmove(self._lanes, snapshot.lanes, len(snapshot.lanes))

    def reset(self, seed: int, rows: "BatchArrays") -> None:
        """Begin the first match of each lane."""
        self._run.seed = seed
        self._library.lanes_deal(self._lanes, byref(self._run), _places(rows))

    def step(self, actions: Any, rows: "BatchArrays") -> int | None:  # noqa: ANN401 - an array
        """Do an action in each lane, and begin the next match where one has ended."""
        run, numbers = byref(self._run), actions.ctypes.data
        invalid_lane: int = self._library.lanes_play(self._lanes, run, numbers, _places(rows))
        return None if invalid_lane < 0 else invalid_lane


def _restored(reopen: Reopen, snapshot: _Snapshot) -> NativeStepper:
    """The lanes of a snapshot; raises `ConfigError` where they cannot go on."""
    lanes = reopen()
    if lanes is None:
        raise ConfigError(
            "These lanes are stepped by compiled code, which cannot be made here; "
            "make Lanes with plain=True to move them to this machine."
        )
    lanes.resume(snapshot)
    return lanes


def _places(rows: "BatchArrays") -> _Rows:
    """Return the addresses of the arrays."""
    return _Rows(*(array.ctypes.data for array in rows))
