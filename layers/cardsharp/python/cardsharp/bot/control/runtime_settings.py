"""Runtime settings, which an operator changes without a deployment.

They choose the strategy, the matches to attend, the concurrency, and whether new matches are
taken at all. None of them stops running matches: those in the match log are still monitored and
finished.
"""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from cardsharp.bot.settings import NameList
from cardsharp.core.clock import Clock
from cardsharp.errors import StoreError

SETTINGS_CACHE_TTL = timedelta(
    seconds=10
)  # age up to which a process uses the settings it has read
_log = logging.getLogger("cardsharp.switches")


class RuntimeSettings(BaseModel):
    """Runtime settings; None means that the deployment's parameter applies."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    paused: bool = False  # True if no new match may be started
    awake_until: AwareDatetime | None = None  # the end of a listening window opened by hand
    strategy: str | None = None  # plays our seat at the arena
    tags: NameList | None = None  # of the matches to attend; empty means all
    at_once: Annotated[int, Field(ge=1)] | None = None  # running matches; no more are started


class RuntimeSettingsStore:
    """The runtime settings as the functions read them; raises `StoreError`.

    This base class serves a local process, for which nothing is set.
    """

    def read(self) -> RuntimeSettings:
        """Return the current settings."""
        return RuntimeSettings()


class CachedRuntimeSettings(RuntimeSettingsStore):
    """Runtime settings with a cache that expires after `SETTINGS_CACHE_TTL`."""

    def __init__(self, store: RuntimeSettingsStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._cached: tuple[datetime, RuntimeSettings] | None = None

    def read(self) -> RuntimeSettings:
        """Return the settings, at most `SETTINGS_CACHE_TTL` old.

        If the store fails, the last settings that were read are used; without any the error is
        raised.
        """
        current_time, cached = self._clock.now(), self._cached
        # By the time of day, because the monotonic clock stands still while Lambda freezes us.
        if cached is not None and abs(current_time - cached[0]) < SETTINGS_CACHE_TTL:
            return cached[1]
        try:
            settings = self._store.read()
        except StoreError as error:
            if cached is None:
                raise
            _log.warning("%s", error)
            settings = cached[1]
        self._cached = current_time, settings
        return settings


def parse_leniently(raw: Mapping[str, object]) -> RuntimeSettings:
    """Return the settings that are valid; log the others as an error and ignore them.

    The table may have been edited by hand, and a match is better played with the defaults than
    not at all.
    """
    try:
        return RuntimeSettings.model_validate(raw)
    except ValidationError as error:
        invalid_names = {str(fault["loc"][0]) for fault in error.errors()}
        names = ", ".join(sorted(invalid_names))
        _log.error(
            "invalid runtime settings are ignored: %s; set them again with `cardsharp cloud set`",
            names,
        )
        return RuntimeSettings.model_validate(
            {k: v for k, v in raw.items() if k not in invalid_names}
        )
