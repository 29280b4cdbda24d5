"""Settings of Dead Man's Draw: an arena, who we are there, and who plays."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field, SecretStr, ValidationInfo, field_validator

from cardsharp.access import Address, Credentials, checked_address
from cardsharp.cloud.secrets import fetched, guarded
from cardsharp.cloud.settings import Duration, Names, Windows, Workplace, seconds
from cardsharp.errors import ConfigError

NAMED_IN_TIME = timedelta(seconds=10)  # a turn of so long waits for the poller, unharmed


class Settings(Workplace):
    """The workplace, and an arena that names its matches."""

    model_config = ConfigDict(defer_build=False)

    arena_insecure: bool = Field(
        default=False, description="true or false: whether http to a private network will do"
    )
    arena_ca: Path | None = Field(
        default=None, description="CA file to trust instead of the usual ones"
    )
    arena_url: str = Field(
        description="the arena's address, https (http on this machine only, "
        "and in a private network with CARDSHARP_ARENA_INSECURE=true), "
        "without user, query or fragment, e.g. https://arena.example"
    )
    arena_auth: Literal["basic", "digest"] = Field(default="basic", description="basic or digest")
    tags: Names = Field(default=(), description="a comma list of match tags; empty means all")
    secret_id: str | None = Field(
        default=None,
        description="the name of an encrypted parameter, a JSON with username and password",
    )
    user: str | None = Field(default=None, description="the arena's user id")
    password: SecretStr | None = Field(default=None, description="the arena's password")
    strategy: str | None = Field(default=None, description="the name of a strategy")
    version: str | None = Field(
        default=None, description="what the match log calls the state of our strategy"
    )
    dummy_strategy: str | None = Field(
        default=None,
        description="the name of the strategy that plays the dummy's seat in our own practice "
        "matches; empty leaves that seat to others",
    )
    dummy_password: SecretStr = Field(
        default=SecretStr("dummypass"), description="the dummy player's password"
    )
    pace: Duration = seconds(
        timedelta(seconds=3), "pace", ": the poller's pause while all is attended"
    )
    pollers: int = Field(
        default=1, ge=1, le=2, description="1 or 2: how many pollers listen at any time"
    )
    listening: Literal["looks", "always", "quiet"] = Field(
        default="always",
        description="always; or looks, one each 5 s, or quiet, one a minute, while no match runs",
    )
    windows: Windows = Field(
        default=(),
        description="a comma list of times in UTC or in the zone behind them, such as "
        "Sat 09:00-18:00, daily 06:30-07:00 Europe/Berlin, 2026-12-05 08:00-24:00: when to listen "
        "at all times where CARDSHARP_LISTENING is looks or quiet",
    )

    @property
    def address(self) -> Address:
        """Where the arena is, and how it is reached."""
        return Address(self.arena_url, self.arena_ca, self.arena_insecure, self.proxy)

    def credentials(self, *, fresh: bool = False) -> Credentials:
        """Who we are there; a secret of that name is read as `fetched` does, and raises as it."""
        if self.user is not None and self.password is not None:
            return guarded(self.user, self.password.get_secret_value())
        return fetched(str(self.secret_id), fresh=fresh)

    @field_validator("arena_url")
    @classmethod
    def _check_url(cls, value: str, info: ValidationInfo) -> str:
        try:
            return checked_address(value, insecure=info.data.get("arena_insecure", False))
        except ConfigError as error:
            raise ValueError(str(error)) from None

    @classmethod
    def _missing(cls, given: Mapping[str, str]) -> Iterator[str]:
        """A sentence unless there is a secret's name or both user and password."""
        pair = {"user", "password"} & given.keys()
        if "secret_id" in given and pair:
            yield (
                "CARDSHARP_SECRET_ID excludes CARDSHARP_USER and CARDSHARP_PASSWORD; "
                "set the one or the other two."
            )
        elif "secret_id" not in given and len(pair) < 2:  # noqa: PLR2004 - a pair
            yield (
                "The arena's credentials are incomplete; set CARDSHARP_USER and "
                "CARDSHARP_PASSWORD, or CARDSHARP_SECRET_ID."
            )
