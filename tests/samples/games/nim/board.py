"""How the heaps of Nim are drawn."""

from collections.abc import Sequence

from markupsafe import Markup

from cardsharp.replay import Header, Step
from cardsharp.viewer.board import NOTHING, Board, Parts, shape, titled
from nim.position import Position


def _parts(_header: Header, step: Step) -> Parts:
    heaps = step.state["heaps"]
    return _heaps(heaps if isinstance(heaps, list) else [])


def _seen(_names: Sequence[str], _you: int, position: Position) -> Parts:
    return _heaps(position.heaps)


def _heaps(sizes: Sequence[int]) -> Parts:
    heap = Markup('<div class="row">{}</div>')
    drawn = [
        titled(f"Heap {number}", heap.format(shape("stone") * size), size)
        for number, size in enumerate(sizes, 1)
    ]
    return {"middle": NOTHING.join(drawn)}


BOARD = Board({"stone": '<circle cx="12" cy="12" r="9" fill="currentColor"/>'}, _parts, _seen)
