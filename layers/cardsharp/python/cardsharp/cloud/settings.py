"""Settings from `CARDSHARP_…` variables, parsed once at the entry point.

All faults are found at once and told in one sentence each; no sentence ever shows the password.
"""

import difflib
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, NamedTuple, Self

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

from cardsharp.access import Limits, Proxy
from cardsharp.cloud.timing import USUAL, Timing
from cardsharp.errors import ConfigError
from cardsharp.time_zones import zone_named

PREFIX = "CARDSHARP_"


def _duration(value: object) -> timedelta | float:
    """A duration, or its number of seconds; raises ValueError if it is neither."""
    return value if isinstance(value, timedelta) else float(str(value))


def _names(value: object) -> object:
    """The non-empty parts of a comma list; anything but a string as it is."""
    if not isinstance(value, str):
        return value
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _proxy(value: object) -> object:
    """The proxy of an address; anything but a string as it is."""
    try:
        return Proxy.parse(value) if isinstance(value, str) else value
    except ConfigError as error:
        raise ValueError(str(error)) from None


def seconds(default: timedelta, name: str, meaning: str) -> Any:  # noqa: ANN401 - as `Field` has it
    """The field of a duration, set by `name`_seconds; its meaning ends the sentence of a fault."""
    return Field(
        default=default,
        alias=f"{name}_seconds",
        description=f"a positive number of seconds{meaning}",
    )


Duration = Annotated[timedelta, BeforeValidator(_duration), Field(gt=timedelta(0))]
Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


class Workplace(BaseModel):
    """What a worker of any game may be told; a variable is named after its field or alias.

    A game that must be told more derives its own settings from these.
    Each description completes the sentence of a fault: "… must be".
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        validate_by_name=True,
        defer_build=True,  # most often it is only derived from
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
    lease: Duration = seconds(USUAL.lease, "lease", ": how long a lease is valid unless renewed")
    renew: Duration = seconds(USUAL.renew, "renew", ", at most half of CARDSHARP_LEASE_SECONDS")
    announce: Duration = seconds(
        timedelta(seconds=3), "announce", ": how long an announced match awaits a worker"
    )
    watch: Duration = seconds(
        timedelta(seconds=0.5), "watch", ": the poller's pause between looks at leases"
    )
    decision: Duration = seconds(USUAL.decision, "decision", ": the limit of one decision")
    handover: Duration = seconds(
        USUAL.handover, "handover", ": the time left when a worker hands its match on"
    )
    connect: Duration = seconds(
        timedelta(seconds=3), "connect", ": the limit for connecting to the arena"
    )
    act: Duration = seconds(USUAL.act, "act", ": the limit for the answer to an action")
    denial: Duration = seconds(
        USUAL.denial, "denial", ": how long a denial stays before it is believed"
    )
    read: Duration = seconds(
        USUAL.long_poll, "read", ", above the arena's long poll of 30: the limit for its answers"
    )
    keep_days: int = Field(
        default=0, ge=0, le=36_500, description="days that a table keeps a match; 0 for ever"
    )
    proxy: Annotated[Proxy | None, BeforeValidator(_proxy)] = Field(
        default=None,
        description="the address of an HTTP proxy, e.g. http://proxy.example:3128; where it has a "
        "user and a password, https://USER:PASSWORD@proxy.example:3128 (http on this machine only)",
    )
    max_answer_bytes: int = Field(
        default=5_000_000, gt=0, description="the largest arena answer read, in bytes"
    )

    @field_validator("renew")
    @classmethod
    def _check_renewal(cls, value: timedelta, info: ValidationInfo) -> timedelta:
        if value * 2 > info.data.get("lease", value * 2):
            raise ValueError("too long")
        return value

    @property
    def keep(self) -> timedelta | None:
        """For how long a match is kept; None for ever."""
        return timedelta(days=self.keep_days) if self.keep_days else None

    @property
    def timing(self) -> Timing:
        """The timing of a worker that these settings say."""
        return Timing(
            lease=self.lease,
            renew=self.renew,
            decision=self.decision,
            act=self.act,
            long_poll=self.read,
            handover=self.handover,
            denial=self.denial,
        )

    @property
    def limits(self) -> Limits:
        """The limits of a request that these settings say.

        A worker asks again by itself, so no question may outlast the time to hand on. And half of
        an action's limit is kept for the answer: what is sent late may arrive too late.
        """
        patience = self.timing.look
        return Limits(
            connect=min(self.connect, self.act / 2),
            read=patience,
            long_poll=self.read,
            act=self.act,
            total=patience,
            backoff_max=timedelta(seconds=2),
            body=self.max_answer_bytes,
        )

    @classmethod
    def load(
        cls, environment: Mapping[str, str], others: Callable[[], Collection[str]] = tuple
    ) -> Self:
        """The settings in `environment`; an empty value counts as not set.

        `others` brings the names of settings that are meant for somebody else. Raises `ConfigError`
        with one line a fault.
        """
        given = {
            key.removeprefix(PREFIX).lower(): value
            for key, value in environment.items()
            if key.startswith(PREFIX) and value.strip()
        }
        known = {name: value for name, value in given.items() if name in cls.names()}
        faults = [*_unknown(given.keys() - known.keys(), cls.names(), others), *cls._missing(known)]
        try:
            settings = cls.model_validate(known)
        except ValidationError as error:
            faults += [_sentence(fault, cls.names()) for fault in error.errors()]
        if faults:
            raise ConfigError("\n".join(sorted({*faults})))
        return settings

    @classmethod
    def _missing(cls, _given: Mapping[str, str]) -> Iterator[str]:
        """Yield a sentence for what is not there although a field alone cannot tell."""
        yield from ()

    @classmethod
    def names(cls) -> dict[str, str]:
        """What each setting must be, by its lower-case name in the environment."""
        return {
            field.alias or name: field.description or "" for name, field in cls.model_fields.items()
        }


def _unknown(
    strange: Collection[str], own: Collection[str], others: Callable[[], Collection[str]]
) -> Iterator[str]:
    """A sentence for each variable that no setting has, with the nearest that one has."""
    there = {*own, *others()} if strange else set()
    for name in sorted(set(strange) - there):
        near = difflib.get_close_matches(name, there, n=1, cutoff=0.5)
        hint = f"did you mean {PREFIX}{near[0].upper()}?" if near else "remove it."
        yield f"{PREFIX}{name.upper()} is no setting; {hint}"


def _sentence(fault: ErrorDetails, descriptions: Mapping[str, str]) -> str:
    name = str(fault["loc"][0])
    wanted = descriptions[name]
    if fault["type"] == "missing":
        return f"{PREFIX}{name.upper()} is missing; set it to {wanted}."
    return f"{PREFIX}{name.upper()} cannot be used; it must be {wanted}."


# --- windows ----------------------------------------------------------------------------------

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_DAILY = "daily"
_WINDOW = re.compile(
    rf"({'|'.join((*_DAYS, _DAILY))}|\d{{4}}-\d\d-\d\d) (\d\d):([0-5]\d)-(\d\d):([0-5]\d)"
    r"(?: ([\w/+-]+))?"
)
_DAY = timedelta(days=1)


class Window(NamedTuple):
    """When a quiet poller listens all the same, on a day of the week, a date, or each day.

    `Sat 09:00-18:00, daily 06:30-07:00, 2026-12-05 08:00-24:00 Europe/Berlin` are three, the last
    in a zone of its own, the others in UTC. It is open whenever a clock of its zone shows a time in
    it: an hour that comes twice as the clocks go back is open twice, one that is left out never.
    """

    day: str
    begin: timedelta
    end: timedelta
    zone: str = ""

    def is_open(self, now: datetime) -> bool:
        """Return whether a moment lies in it."""
        zone = zone_named(self.zone) if self.zone else UTC
        wall = now.astimezone(zone).replace(tzinfo=None)
        midnight = wall.replace(hour=0, minute=0, second=0, microsecond=0)
        today = {_DAILY, _DAYS[wall.weekday()], f"{wall:%Y-%m-%d}"}
        return self.day in today and self.begin <= wall - midnight < self.end


def _window(value: object) -> Window:
    found = _WINDOW.fullmatch(str(value))
    if found is None:
        raise ValueError("no window")
    day, *clock, zone = found.groups()
    if day not in {*_DAYS, _DAILY}:
        datetime.fromisoformat(day)
    hour, minute, last_hour, last_minute = map(int, clock)
    begin = timedelta(hours=hour, minutes=minute)
    end = timedelta(hours=last_hour, minutes=last_minute)
    if not begin < end <= _DAY:
        raise ValueError("not within a day")
    if zone:
        zone_named(zone)
    return Window(day, begin, end, zone or "")


Windows = Annotated[
    tuple[Annotated[Window, BeforeValidator(_window)], ...], BeforeValidator(_names)
]
"""A comma list of windows, as a setting."""
