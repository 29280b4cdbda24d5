"""A plan's bill: each item with its units, its price, and what the free tier takes off."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError, model_validator

from cardsharp.errors import ConfigError

PRICE_LIST = Path(__file__).with_name("prices.toml")
DEFAULT_REGION = "eu-central-1"  # where nothing names a region, as in docs/first-deployment.md

Amount = Annotated[float, Field(ge=0)]


class PricedItem(BaseModel, frozen=True, extra="forbid"):
    """The price of one unit in USD, and the units a month that cost nothing."""

    source: str
    price: Amount
    free: Amount


class Prices(BaseModel, frozen=True, extra="forbid"):
    """All prices of a region at a date; `sources` says where each was read."""

    date: date
    region: str
    sources: dict[str, str]
    items: dict[str, PricedItem]

    @model_validator(mode="after")
    def _check_sources(self) -> "Prices":
        unknown = {item.source for item in self.items.values()} - self.sources.keys()
        if unknown:
            raise ValueError(f"no source is described for {', '.join(sorted(unknown))}")
        return self


@cache
def load_prices(region: str = DEFAULT_REGION) -> Prices:
    """The price list of a region; raises `ConfigError` if there is none that can be used."""
    try:
        data = tomllib.loads(PRICE_LIST.read_text("utf-8"))
        regions = {name for item in data["items"].values() for name in item} - {"free"}
        if region not in regions:
            raise ConfigError(
                f"There are no prices for {region}. Give --region with one of "
                f"{', '.join(sorted(regions))}, or add the prices to {PRICE_LIST}."
            )
        listed = data["items"].items()
        items = {name: {"free": item["free"], **item[region]} for name, item in listed}
        return Prices.model_validate({**data, "region": region, "items": items})
    except (OSError, KeyError, TypeError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise ConfigError(f"The price list {PRICE_LIST} cannot be used: {error}") from error


def default_region() -> str:
    """The region that the environment or the profile in use names, else Frankfurt."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        if os.environ.get(name):
            return os.environ[name]
    from boto3.session import Session  # noqa: PLC0415 - slow to import

    return Session().region_name or DEFAULT_REGION


@dataclass(frozen=True, slots=True)
class BillItem:
    """One item of a bill, in USD; `free` is how many of its units the free tier covers."""

    item: str
    units: float
    full_price: float
    free_units: float
    amount_due: float

    def document(self) -> dict[str, object]:
        """The line as a JSON document."""
        return {
            "item": self.item,
            "units": round(self.units, 3),
            "withoutFreeTier": round(self.full_price, 4),
            "unitsFree": round(self.free_units, 3),
            "afterFreeTier": round(self.amount_due, 4),
        }


@dataclass(frozen=True, slots=True)
class Bill:
    """All lines, the dearest first."""

    lines: tuple[BillItem, ...]

    @property
    def total_full_price(self) -> float:
        """USD without any free tier."""
        return sum(line.full_price for line in self.lines)

    @property
    def total_due(self) -> float:
        """USD after the free tier, where no other stack of the account uses it."""
        return sum(line.amount_due for line in self.lines)


def make_bill(units: Mapping[str, float], prices: Prices) -> Bill:
    """The bill for these units; raises `ConfigError` if an item has no price."""
    lines = []
    for item, number in units.items():
        if item not in prices.items:
            raise ConfigError(f"The price list has no price for {item}. Add it to {PRICE_LIST}.")
        priced = prices.items[item]
        free = min(number, priced.free)
        full, due = number * priced.price, (number - free) * priced.price
        lines.append(
            BillItem(item=item, units=number, full_price=full, free_units=free, amount_due=due)
        )
    return Bill(tuple(sorted(lines, key=lambda line: (-line.full_price, line.item))))
