"""The price lists of some regions, parsed once."""

import os
import tomllib
from datetime import date
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from cardsharp.errors import ConfigError

LIST = Path(__file__).with_name("prices.toml")
FRANKFURT = "eu-central-1"
"""The region that is meant where nothing names one; the one of docs/first-deployment.md."""

Amount = Annotated[float, Field(ge=0)]


class Item(BaseModel):
    """The price of one unit in USD, and the units a month that cost nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    price: Amount
    free: Amount


class Prices(BaseModel):
    """All prices of a region at a date; `sources` says where each was read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    date: date
    region: str
    sources: dict[str, str]
    items: dict[str, Item]

    @model_validator(mode="after")
    def _check_sources(self) -> "Prices":
        unknown = {item.source for item in self.items.values()} - self.sources.keys()
        if unknown:
            raise ValueError(f"no source is described for {', '.join(sorted(unknown))}")
        return self


@cache
def load_prices(region: str = FRANKFURT, path: Path = LIST) -> Prices:
    """The price list of a region in a file.

    Raises:
        ConfigError: it cannot be used, or has no prices of the region.
    """
    try:
        told = tomllib.loads(path.read_text())
        there = {name for item in told["items"].values() for name in item} - {"free"}
        if region not in there:
            raise ConfigError(
                f"There are no prices of {region}; say --region with one of "
                f"{', '.join(sorted(there))}, or add them to {path}."
            )
        items = {
            name: {"free": item["free"], **item[region]} for name, item in told["items"].items()
        }
        return Prices.model_validate({**told, "region": region, "items": items})
    except (OSError, KeyError, TypeError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise ConfigError(f"The price list {path} cannot be used: {error}") from error


def usual_region() -> str:
    """The region that the environment or the profile in use names, else Frankfurt."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        if os.environ.get(name):
            return os.environ[name]
    from boto3.session import Session  # noqa: PLC0415 - slow to import

    return Session().region_name or FRANKFURT
