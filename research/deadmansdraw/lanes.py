"""Many matches side by side by the compiled engine: what `Lanes` steps in plain Python."""

from ctypes import CDLL, POINTER, Structure, byref, c_int64, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any

from research.deadmansdraw.engine import load

if TYPE_CHECKING:  # who only plays in the lab may be without numpy
    from workbench.env.batch import Rows


class _Rows(Structure):
    """`Rows` of lanes.c."""

    _fields_ = tuple(
        (name, c_void_p) for name in ("observations", "masks", "to_act", "rewards", "ended")
    )


class CompiledLanes:
    """A `Stepper` of Dead Man's Draw; rows are written straight into the caller's arrays."""

    def __init__(self, library: CDLL, number: int) -> None:
        library.lane_size.restype = c_int64
        library.lanes_deal.argtypes = (c_void_p, c_int64, c_uint64, POINTER(_Rows))
        library.lanes_deal.restype = None
        library.lanes_play.argtypes = (c_void_p, c_int64, c_uint64, c_void_p, POINTER(_Rows))
        library.lanes_play.restype = c_int64
        self._library, self._number, self._seed = library, number, 0
        self._lanes = (c_uint64 * (number * -(-library.lane_size() // 8)))()

    def deal(self, seed: int, rows: "Rows") -> None:
        """Begin the first match of each lane."""
        self._seed = seed
        self._library.lanes_deal(self._lanes, self._number, seed, byref(_places(rows)))

    def play(self, actions: Any, rows: "Rows") -> int | None:  # noqa: ANN401 - an array
        """Do an action in each lane, and begin the next match where one has ended."""
        at, places = actions.ctypes.data, byref(_places(rows))
        refused: int = self._library.lanes_play(self._lanes, self._number, self._seed, at, places)
        return None if refused < 0 else refused


def _places(rows: "Rows") -> _Rows:
    """Where the arrays lie."""
    arrays = (rows.observations, rows.masks, rows.to_act, rows.rewards, rows.ended)
    return _Rows(*(array.ctypes.data for array in arrays))


def compiled_lanes(number: int) -> CompiledLanes | None:
    """So many lanes, None where there is no compiler."""
    engine = load()
    return None if engine is None else CompiledLanes(engine.library, number)
