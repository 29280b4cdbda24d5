"""A plan's bill: each item with its units, its price, and what the free tier takes off."""

from collections.abc import Mapping
from dataclasses import dataclass

from cardsharp.errors import ConfigError
from workbench.cost.prices import Prices


@dataclass(frozen=True, slots=True)
class BillItem:
    """One item of a bill, in USD; `free` is how many of its units the free tier covers."""

    item: str
    units: float
    full: float
    free: float
    due: float

    def document(self) -> dict[str, object]:
        """The line as a JSON document."""
        return {
            "item": self.item,
            "units": round(self.units, 3),
            "withoutFreeTier": round(self.full, 4),
            "unitsFree": round(self.free, 3),
            "afterFreeTier": round(self.due, 4),
        }


@dataclass(frozen=True, slots=True)
class Bill:
    """All lines, the dearest first."""

    lines: tuple[BillItem, ...]

    @property
    def full(self) -> float:
        """USD without any free tier."""
        return sum(line.full for line in self.lines)

    @property
    def due(self) -> float:
        """USD after the free tier, where no other stack of the account uses it."""
        return sum(line.due for line in self.lines)


def make_bill(units: Mapping[str, float], prices: Prices) -> Bill:
    """The bill for these units.

    Raises:
        ConfigError: an item has no price.
    """
    lines = (_line(item, number, prices) for item, number in units.items())
    return Bill(tuple(sorted(lines, key=lambda line: (-line.full, line.item))))


def _line(item: str, units: float, prices: Prices) -> BillItem:
    if item not in prices.items:
        raise ConfigError(f"The price list has no price of {item}; add it.")
    priced = prices.items[item]
    free = min(units, priced.free)
    full, due = units * priced.price, (units - free) * priced.price
    return BillItem(item=item, units=units, full=full, free=free, due=due)
