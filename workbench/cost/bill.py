"""A plan's bill: each item with its units, its price, and what the free tier takes off."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

from cardsharp.errors import ConfigError

LIST = Path(__file__).with_name("prices.toml")
FRANKFURT = "eu-central-1"  # where nothing names a region, as in docs/first-deployment.md


@dataclass(frozen=True, slots=True)
class Item:
    """The price of one unit in USD, and the units a month that cost nothing."""

    source: str
    price: float
    free: float


@dataclass(frozen=True, slots=True)
class Prices:
    """All prices of a region at a date; `sources` says where each was read."""

    date: date
    region: str
    sources: Mapping[str, str]
    items: Mapping[str, Item]


@cache
def load_prices(region: str = FRANKFURT) -> Prices:
    """The price list of a region; raises `ConfigError` if there is none."""
    told = tomllib.loads(LIST.read_text())
    there = {name for item in told["items"].values() for name in item} - {"free"}
    if region not in there:
        raise ConfigError(
            f"There are no prices of {region}; say --region with one of "
            f"{', '.join(sorted(there))}, or add them to {LIST}."
        )
    items = {name: Item(free=one["free"], **one[region]) for name, one in told["items"].items()}
    return Prices(told["date"], region, told["sources"], items)


def usual_region() -> str:
    """The region that the environment or the profile in use names, else Frankfurt."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        if os.environ.get(name):
            return os.environ[name]
    from boto3.session import Session  # noqa: PLC0415 - slow to import

    return Session().region_name or FRANKFURT


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
    """The bill for these units."""
    lines = []
    for item, number in units.items():
        priced = prices.items[item]
        free = min(number, priced.free)
        full, due = number * priced.price, (number - free) * priced.price
        lines.append(BillItem(item=item, units=number, full=full, free=free, due=due))
    return Bill(tuple(sorted(lines, key=lambda line: (-line.full, line.item))))
