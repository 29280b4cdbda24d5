"""Many matches side by side by compiled code: what `Lanes` steps in plain Python."""

from ctypes import CDLL, POINTER, Structure, byref, c_int64, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # who only plays in the lab may be without numpy
    from workbench.env.batch import LaneRows


class _Rows(Structure):
    """`Rows` of native/lanes.h."""

    _fields_ = tuple(
        (name, c_void_p) for name in ("observations", "masks", "to_act", "rewards", "ended")
    )


class _Run(Structure):
    """`Run` of native/lanes.h."""

    _fields_ = (("lanes", c_int64), ("seats", c_int64), ("seed", c_uint64))


class CompiledLanes:
    """A game's lanes.c in place of `Stepper`; rows are written straight into its arrays."""

    def __init__(self, library: CDLL, number: int, seats: int) -> None:
        library.lanes_size.restype = c_int64
        library.lanes_deal.argtypes = (c_void_p, POINTER(_Run), POINTER(_Rows))
        library.lanes_deal.restype = None
        library.lanes_play.argtypes = (c_void_p, POINTER(_Run), c_void_p, POINTER(_Rows))
        library.lanes_play.restype = c_int64
        self._library, self._run = library, _Run(number, seats)
        self._lanes = (c_uint64 * (number * -(-library.lanes_size() // 8)))()

    def deal(self, seed: int, rows: "LaneRows") -> None:
        """Begin the first match of each lane."""
        self._run.seed = seed
        self._library.lanes_deal(self._lanes, byref(self._run), _places(rows))

    def play(self, actions: Any, rows: "LaneRows") -> int | None:  # noqa: ANN401 - an array
        """Do an action in each lane, and begin the next match where one has ended."""
        run, numbers = byref(self._run), actions.ctypes.data
        refused: int = self._library.lanes_play(self._lanes, run, numbers, _places(rows))
        return None if refused < 0 else refused


def _places(rows: "LaneRows") -> _Rows:
    """Where the arrays lie."""
    return _Rows(*(array.ctypes.data for array in rows))
