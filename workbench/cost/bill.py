"""A plan's bill: each item with its units, its price, and what the free tier takes off."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

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

    def of(self, item: str) -> BillItem:
        """The line of an item, with nothing on it where there is none."""
        return next((line for line in self.lines if line.item == item), BillItem(item, 0, 0, 0, 0))


class _BillDocument(BaseModel):
    """A line as `BillItem.document` tells it."""

    model_config = ConfigDict(alias_generator=to_camel)

    item: str
    units: float
    without_free_tier: float
    units_free: float
    after_free_tier: float

    def line(self) -> BillItem:
        return BillItem(
            self.item, self.units, self.without_free_tier, self.units_free, self.after_free_tier
        )


class _Document(BaseModel):
    """What `cardsharp cost --json` printed, as far as it is a bill."""

    lines: tuple[_BillDocument, ...]


def read_bill(path: Path) -> Bill:
    """The bill that `cardsharp cost --json` printed into a file.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        told = _Document.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise ConfigError(
            f"{path} is no bill; make one with `cardsharp cost --json > {path}`."
        ) from error
    return Bill(tuple(one.line() for one in told.lines))


def make_bill(units: Mapping[str, float], prices: Prices) -> Bill:
    """The bill for these units.

    Raises:
        ConfigError: an item has no price.
    """
    return Bill(tuple(sorted((_line(i, n, prices) for i, n in units.items()), key=_dearest)))


def _line(item: str, units: float, prices: Prices) -> BillItem:
    if item not in prices.items:
        raise ConfigError(f"The price list has no price of {item}; add it.")
    priced = prices.items[item]
    free = min(units, priced.free)
    return BillItem(item, units, units * priced.price, free, (units - free) * priced.price)


def _dearest(line: BillItem) -> tuple[float, str]:
    return -line.full, line.item
