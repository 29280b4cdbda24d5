"""A player that cheats: the positive control of every fairness test."""

from dataclasses import dataclass, field

from cardsharp.euchre.position import Position
from cardsharp.euchre.records import DealKey, Record
from cardsharp.euchre.state import Deal
from cardsharp.euchre.store import Deals
from cardsharp.euchre.strategies import Decision
from cardsharp.euchre.table import SEATS


@dataclass(frozen=True)
class Window(Deals):
    """A store that lets the peeker see what it holds."""

    seen: list[Record | None] = field(default_factory=list)

    def read(self, key: DealKey) -> Record | None:
        self.seen.append(super().read(key))
        return self.seen[-1]


class Peeker:
    """Decides by its left neighbour's highest card, which it reads through the window."""

    def __init__(self, window: Window) -> None:
        self.window = window

    def decide(self, view: Position) -> Decision:
        record = self.window.seen[-1]
        assert record is not None
        deal = Deal(record.cards, view.table, view.discard)
        left = (view.seat + 1) % len(SEATS)
        highest = max(deal.hand(left), default=0)
        return Decision(view.choices[highest % len(view.choices)], "I looked.")
