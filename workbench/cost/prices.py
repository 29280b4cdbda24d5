"""The price list, parsed once."""

import tomllib
from datetime import date
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from cardsharp.errors import ConfigError

LIST = Path(__file__).with_name("prices.toml")
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
def load_prices(path: Path = LIST) -> Prices:
    """The price list in a file.

    Raises:
        ConfigError: it cannot be used.
    """
    try:
        return Prices.model_validate(tomllib.loads(path.read_text()))
    except (OSError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise ConfigError(f"The price list {path} cannot be used: {error}") from error
