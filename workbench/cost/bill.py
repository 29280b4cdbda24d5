"""A plan's bill: each item with its units, its price, and what the free tier takes off."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, ValidationError

from cardsharp.errors import ConfigError
from workbench.cost.prices import Prices


def _rounded(places: int) -> PlainSerializer:
    return PlainSerializer(lambda amount: round(amount, places))


class BillItem(BaseModel):
    """One item of a bill, in USD; `free` is how many of its units the free tier covers."""

    model_config = ConfigDict(frozen=True, validate_by_name=True)

    item: str
    units: Annotated[float, _rounded(3)]
    full: Annotated[float, _rounded(4)] = Field(0, alias="withoutFreeTier")
    free: Annotated[float, _rounded(3)] = Field(0, alias="unitsFree")
    due: Annotated[float, _rounded(4)] = Field(0, alias="afterFreeTier")

    def document(self) -> dict[str, object]:
        """The line as a JSON document."""
        return self.model_dump(by_alias=True)


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
        return next(
            (line for line in self.lines if line.item == item), BillItem(item=item, units=0)
        )


class _Document(BaseModel):
    """What `cardsharp cost --json` printed, as far as it is a bill."""

    lines: tuple[BillItem, ...]


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
    return Bill(told.lines)


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
    full, due = units * priced.price, (units - free) * priced.price
    return BillItem(item=item, units=units, full=full, free=free, due=due)


def _dearest(line: BillItem) -> tuple[float, str]:
    return -line.full, line.item
