"""Settings from `CARDSHARP_…` variables, parsed once at the entry point.

All faults are reported at once, in one sentence each; no sentence contains the password.
"""

import difflib
import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import timedelta
from functools import cache
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import ErrorDetails

from cardsharp.bot.timing import DEFAULT_TIMING, SessionTiming
from cardsharp.client.config import Proxy, RequestLimits
from cardsharp.errors import ConfigError

PREFIX = "CARDSHARP_"
_RETIRED_SETTINGS = {
    "listening": "the bot always listens, or in the times of CARDSHARP_WINDOWS if that is set"
}
"""Settings of version 0.3 that are ignored with a warning until 0.5, and what holds instead."""

_log = logging.getLogger("cardsharp.settings")


def _parse_duration(value: object) -> timedelta | float:
    """Return a duration or its number of seconds; raise ValueError if it is neither."""
    return value if isinstance(value, timedelta) else float(str(value))


def split_names(value: object) -> object:
    """Return the non-empty parts of a comma list; anything but a string unchanged."""
    if not isinstance(value, str):
        return value
    return tuple(name.strip() for name in value.split(",") if name.strip())


def _parse_proxy(value: object) -> object:
    """Parse a proxy's address; return a value that is not a string unchanged."""
    try:
        return Proxy.parse(value) if isinstance(value, str) else value
    except ConfigError as error:
        raise ValueError(str(error)) from None


def seconds_field(default: timedelta, name: str, description: str) -> Any:  # noqa: ANN401 - as `Field` has it
    """Return the field of a duration, set by NAME_seconds; `description` completes its errors."""
    return Field(
        default=default,
        alias=f"{name}_seconds",
        description=f"a positive number of seconds{description}",
    )


Duration = Annotated[timedelta, BeforeValidator(_parse_duration), Field(gt=timedelta(0))]
NameList = Annotated[tuple[str, ...], BeforeValidator(split_names)]


class WorkerSettings(BaseModel):
    """Settings of a worker of any game; a variable is named after its field or alias.

    A game with further settings derives a class from this one. Each description completes the
    sentence of an error: "… must be".
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        validate_by_name=True,
        defer_build=True,  # usually only a derived class is used
    )

    store: str = Field(
        default="sqlite:.cardsharp/matches.db",
        pattern=r"^(sqlite|dynamodb):.+$",
        description="sqlite:FILE or dynamodb:TABLE",
    )
    queue: str = Field(
        default="memory:matches",
        pattern=r"^(memory:.+|https?://.+)$",
        description="memory:NAME or the URL of an SQS queue",
    )
    lease_ttl: Duration = seconds_field(
        DEFAULT_TIMING.lease_ttl, "lease", ": how long a lease is valid unless renewed"
    )
    renew_interval: Duration = seconds_field(
        DEFAULT_TIMING.renew_interval, "renew", ", at most half of CARDSHARP_LEASE_SECONDS"
    )
    queue_ttl: Duration = seconds_field(
        timedelta(seconds=3), "announce", ": how long an announced match awaits a worker"
    )
    lease_check_interval: Duration = seconds_field(
        timedelta(seconds=0.5), "watch", ": the poller's pause between looks at leases"
    )
    decision_timeout: Duration = seconds_field(
        DEFAULT_TIMING.decision_timeout, "decision", ": the limit of one decision"
    )
    handover_margin: Duration = seconds_field(
        DEFAULT_TIMING.handover_margin,
        "handover",
        ": the time left when a worker hands its match on",
    )
    connect_timeout: Duration = seconds_field(
        timedelta(seconds=3), "connect", ": the limit for connecting to the arena"
    )
    action_timeout: Duration = seconds_field(
        DEFAULT_TIMING.action_timeout, "act", ": the limit for the answer to an action"
    )
    denial_timeout: Duration = seconds_field(
        DEFAULT_TIMING.denial_timeout, "denial", ": how long a denial stays before it is believed"
    )
    long_poll_timeout: Duration = seconds_field(
        DEFAULT_TIMING.long_poll_timeout,
        "read",
        ", above the arena's long poll of 30: the limit for its answers",
    )
    keep_days: int = Field(
        default=0, ge=0, le=36_500, description="days that a table keeps a match; 0 for ever"
    )
    proxy: Annotated[Proxy | None, BeforeValidator(_parse_proxy)] = Field(
        default=None,
        description="the address of an HTTP proxy, e.g. http://proxy.example:3128; where it has a "
        "user and a password, https://USER:PASSWORD@proxy.example:3128 (http on this machine only)",
    )
    max_answer_bytes: int = Field(
        default=5_000_000, gt=0, description="the largest arena answer read, in bytes"
    )

    @field_validator("renew_interval")
    @classmethod
    def _check_renew_interval(cls, value: timedelta, info: ValidationInfo) -> timedelta:
        if value * 2 > info.data.get("lease", value * 2):
            raise ValueError("too long")
        return value

    @property
    def retention(self) -> timedelta | None:
        """Time for which a match is kept; None for ever."""
        return timedelta(days=self.keep_days) if self.keep_days else None

    @property
    def session_timing(self) -> SessionTiming:
        """Timing of a worker with these settings."""
        return SessionTiming(
            lease_ttl=self.lease_ttl,
            renew_interval=self.renew_interval,
            decision_timeout=self.decision_timeout,
            action_timeout=self.action_timeout,
            long_poll_timeout=self.long_poll_timeout,
            handover_margin=self.handover_margin,
            denial_timeout=self.denial_timeout,
        )

    @property
    def request_limits(self) -> RequestLimits:
        """The request limits that these settings define.

        A worker retries by itself, so no request may outlast the handover margin. Half of an
        action's limit is reserved for the response: an action that is sent late may arrive too
        late.
        """
        read_timeout = self.session_timing.read_timeout
        return RequestLimits(
            connect_timeout=min(self.connect_timeout, self.action_timeout / 2),
            read_timeout=read_timeout,
            long_poll_timeout=self.long_poll_timeout,
            action_timeout=self.action_timeout,
            total_timeout=read_timeout,
            max_backoff=timedelta(seconds=2),
            max_body_bytes=self.max_answer_bytes,
        )

    @classmethod
    def load(
        cls, env: Mapping[str, str], other_setting_names: Callable[[], Collection[str]] = tuple
    ) -> Self:
        """Return the settings in `env`; an empty value counts as not set.

        `other_setting_names` returns the names of settings that belong to other components.
        Raises `ConfigError` with one line per fault.
        """
        variables = {
            key.removeprefix(PREFIX).lower(): value
            for key, value in env.items()
            if key.startswith(PREFIX) and value.strip()
        }
        for name in _RETIRED_SETTINGS.keys() & variables.keys():
            del variables[name]
            _warn_about_retired_setting(name)
        values = {name: value for name, value in variables.items() if name in cls.descriptions()}
        faults = [
            *_describe_unknown_settings(
                variables.keys() - values.keys(), cls.descriptions(), other_setting_names
            ),
            *cls._find_missing_settings(values),
        ]
        try:
            settings = cls.model_validate(values)
        except ValidationError as error:
            faults += [
                _describe_invalid_setting(fault, cls.descriptions()) for fault in error.errors()
            ]
        if faults:
            raise ConfigError("\n".join(sorted({*faults})))
        return settings

    @classmethod
    def _find_missing_settings(cls, _values: Mapping[str, str]) -> Iterator[str]:
        """Yield a sentence for each missing setting that no single field can detect."""
        yield from ()

    @classmethod
    def descriptions(cls) -> dict[str, str]:
        """Return the description of each setting by its lower-case name in the environment."""
        return {
            field.alias or name: field.description or "" for name, field in cls.model_fields.items()
        }


@cache  # an entry for each retired setting
def _warn_about_retired_setting(name: str) -> None:
    """Log once per process that a setting has no effect any more."""
    _log.warning("%s%s is ignored: %s. Remove it.", PREFIX, name.upper(), _RETIRED_SETTINGS[name])


def _describe_unknown_settings(
    unknown_names: Collection[str],
    setting_names: Collection[str],
    other_names: Callable[[], Collection[str]],
) -> Iterator[str]:
    """Yield a sentence for each unknown variable, with the most similar valid name."""
    valid_names = {*setting_names, *other_names()} if unknown_names else set()
    for name in sorted(set(unknown_names) - valid_names):
        similar_names = difflib.get_close_matches(name, valid_names, n=1, cutoff=0.5)
        hint = (
            f"did you mean {PREFIX}{similar_names[0].upper()}?" if similar_names else "remove it."
        )
        yield f"{PREFIX}{name.upper()} is no setting; {hint}"


def _describe_invalid_setting(fault: ErrorDetails, descriptions: Mapping[str, str]) -> str:
    name = str(fault["loc"][0])
    requirement = descriptions[name]
    if fault["type"] == "missing":
        return f"{PREFIX}{name.upper()} is missing; set it to {requirement}."
    return f"{PREFIX}{name.upper()} cannot be used; it must be {requirement}."
