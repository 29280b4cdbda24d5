"""Stepper of many matches in compiled code: the twin of `PythonStepper`."""

from collections.abc import Callable, Mapping
from ctypes import CDLL, POINTER, Structure, byref, c_int64, c_uint64, c_void_p, memmove
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from cardsharp.errors import ConfigError

if TYPE_CHECKING:  # the lab works without numpy
    from cardsharp_tools.environments.vector_env import BatchArrays

_MAX_SEATS = 8


class _NativeArrays(Structure):
    """ctypes structure for `BatchArrays` of native/lanes.h.

    It has the members of `BatchArrays` in the same order.
    """

    _fields_ = tuple(
        (name, c_void_p)
        for name in (
            *("observations", "masks", "player_to_act", "rewards", "terminated"),
            *("final_observations", "final_seats"),
        )
    )


class _LaneConfig(Structure):
    """ctypes structure for `LaneConfig` of native/lanes.h."""

    _fields_ = (
        *(("lane_count", c_int64), ("seat_count", c_int64), ("seed", c_uint64)),
        ("opponents", c_void_p * _MAX_SEATS),
    )


Reopen = Callable[[], Optional["NativeStepper"]]
"""Function that makes the same lanes before their first deal, None if nothing is compiled."""


class _Snapshot(NamedTuple):
    """Snapshot of the lanes; `library` is the file name that defines their memory layout."""

    library: str
    seed: int
    lanes: bytes


class NativeStepper:
    """Compiled stepper of a game's lanes; it writes straight into the arrays.

    A copy, also a pickled one, continues in the same way; `reopen` makes it. `opponents` are
    addresses of policies by seat.
    """

    def __init__(
        self, library: CDLL, size: tuple[int, int], opponents: Mapping[int, int], reopen: Reopen
    ) -> None:
        library.lanes_size.restype = c_int64
        library.lanes_reset.argtypes = (c_void_p, POINTER(_LaneConfig), POINTER(_NativeArrays))
        library.lanes_reset.restype = None
        library.lanes_step.argtypes = (
            c_void_p,
            POINTER(_LaneConfig),
            c_void_p,
            POINTER(_NativeArrays),
        )
        library.lanes_step.restype = c_int64
        lane_count, seats = size
        self._library, self._reopen = library, reopen
        self._native_config = _LaneConfig(lane_count, seats)
        for seat, policy in opponents.items():
            self._native_config.opponents[seat] = policy
        self._lanes = (c_uint64 * (lane_count * -(-library.lanes_size() // 8)))()

    def __reduce__(self) -> tuple[Any, tuple[Reopen, _Snapshot]]:
        name = Path(self._library._name).name  # noqa: SLF001 - ctypes has no public name for it
        return _restore_stepper, (
            self._reopen,
            _Snapshot(name, self._native_config.seed, bytes(self._lanes)),
        )

    def resume(self, snapshot: _Snapshot) -> None:
        """Continue from a snapshot; raise `ConfigError` for one of another version."""
        if snapshot.library != Path(self._library._name).name:  # noqa: SLF001
            raise ConfigError(
                "These lanes were copied by another version or compiler; "
                "copy them again, or create the environment with pure_python=True to move them."
            )
        self._native_config.seed = snapshot.seed
        # The lanes are plain memory without pointers, so that their bytes can be copied. Only the
        # same library may read them: another compiler may lay them out differently.
        memmove(self._lanes, snapshot.lanes, len(snapshot.lanes))

    def reset(self, seed: int, output_arrays: "BatchArrays") -> None:
        """Begin the first match of each lane."""
        self._native_config.seed = seed
        self._library.lanes_reset(
            self._lanes, byref(self._native_config), _to_native_rows(output_arrays)
        )

    def step(self, actions: Any, output_arrays: "BatchArrays") -> int | None:  # noqa: ANN401 - an array
        """Take an action in each lane, and begin the next match where one has ended.

        Return None, or the first lane with an illegal action; then nothing has changed.
        """
        config, action_address = byref(self._native_config), actions.ctypes.data
        invalid_lane: int = self._library.lanes_step(
            self._lanes, config, action_address, _to_native_rows(output_arrays)
        )
        return None if invalid_lane < 0 else invalid_lane


def _restore_stepper(reopen: Reopen, snapshot: _Snapshot) -> NativeStepper:
    """Return a stepper with the lanes of a snapshot.

    Raise `ConfigError` if they cannot continue on this machine.
    """
    lanes = reopen()
    if lanes is None:
        raise ConfigError(
            "These lanes are stepped by compiled code, which is not available here; "
            "create the environment with pure_python=True to move it to this machine."
        )
    lanes.resume(snapshot)
    return lanes


def _to_native_rows(rows: "BatchArrays") -> _NativeArrays:
    """Return the addresses of the arrays in C's form."""
    return _NativeArrays(*(array.ctypes.data for array in rows))
