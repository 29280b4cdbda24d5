"""Settings of the bot for Dead Man's Draw: arena, credentials and strategy."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field, SecretStr, ValidationInfo, field_validator

from cardsharp.aws.ssm_credentials import credentials_redacted_in_logs, fetch_credentials
from cardsharp.bot.control.listening_windows import ListeningWindows
from cardsharp.bot.settings import Duration, NameList, WorkerSettings, seconds_field
from cardsharp.client.config import ServiceAddress, normalize_base_url
from cardsharp.core.credentials import Credentials
from cardsharp.errors import ConfigError

MIN_UNWATCHED_TURN = timedelta(seconds=60)
"""A turn of so long may wait for the poller, which asks for the list every 30 s at the latest."""


class ArenaBotSettings(WorkerSettings):
    """Settings of a bot that plays at an arena."""

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
    tags: NameList = Field(default=(), description="a comma list of match tags; empty means all")
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
    pace: Duration = seconds_field(
        timedelta(seconds=30),
        "pace",
        ": the poller's time between two lists of matches, unless the arena permits more requests",
    )
    pollers: int = Field(
        default=1, ge=1, le=2, description="1 or 2: how many pollers listen at any time"
    )
    windows: ListeningWindows = Field(
        default=(),
        description="a comma list of times in UTC or in the zone behind them, such as "
        "Sat 09:00-18:00, daily 06:30-07:00 Europe/Berlin, 2026-12-05 08:00-24:00: when to listen "
        "for matches; empty means always",
    )

    @property
    def address(self) -> ServiceAddress:
        """Address of the arena, with the options of the connection."""
        return ServiceAddress(self.arena_url, self.arena_ca, self.arena_insecure, self.proxy)

    def credentials(self, *, force_fetch: bool = False) -> Credentials:
        """Return our user and password at the arena.

        If the settings name a secret, it is read as `fetch_credentials` does, with the same
        errors.
        """
        if self.user is not None and self.password is not None:
            return credentials_redacted_in_logs(self.user, self.password.get_secret_value())
        return fetch_credentials(str(self.secret_id), force_fetch=force_fetch)

    @field_validator("arena_url")
    @classmethod
    def _check_url(cls, value: str, info: ValidationInfo) -> str:
        try:
            return normalize_base_url(value, insecure=info.data.get("arena_insecure", False))
        except ConfigError as error:
            raise ValueError(str(error)) from None

    @classmethod
    def _find_missing_settings(cls, values: Mapping[str, str]) -> Iterator[str]:
        """Yield an error unless either a secret's name, or both user and password are set."""
        pair = {"user", "password"} & values.keys()
        if "secret_id" in values and pair:
            yield (
                "CARDSHARP_SECRET_ID excludes CARDSHARP_USER and CARDSHARP_PASSWORD; "
                "set the one or the other two."
            )
        elif "secret_id" not in values and len(pair) < 2:  # noqa: PLR2004 - a pair
            yield (
                "The arena's credentials are incomplete; set CARDSHARP_USER and "
                "CARDSHARP_PASSWORD, or CARDSHARP_SECRET_ID."
            )
