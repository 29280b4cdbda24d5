"""Control of a running bot: an operator's settings, listening windows and poller shifts.

Look first at `RuntimeSettings`, which an operator changes without a deployment, and at
`PollerShift`, which hands the work of one poller over to the next.
"""

from typing import TYPE_CHECKING

from cardsharp.core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from cardsharp.bot.control.dynamodb_control import (
        DynamoPollerGenerations,
        DynamoRuntimeSettings,
    )
    from cardsharp.bot.control.listening_windows import ListeningWindow, ListeningWindows
    from cardsharp.bot.control.poller_shift import PollerGenerations, PollerShift, PollerTiming
    from cardsharp.bot.control.runtime_settings import (
        CachedRuntimeSettings,
        RuntimeSettings,
        RuntimeSettingsStore,
    )

__all__ = (
    "CachedRuntimeSettings",
    "DynamoPollerGenerations",
    "DynamoRuntimeSettings",
    "ListeningWindow",
    "ListeningWindows",
    "PollerGenerations",
    "PollerShift",
    "PollerTiming",
    "RuntimeSettings",
    "RuntimeSettingsStore",
)

__getattr__ = lazy_exports(
    __name__,
    {
        "CachedRuntimeSettings": "runtime_settings",
        "DynamoPollerGenerations": "dynamodb_control",
        "DynamoRuntimeSettings": "dynamodb_control",
        "ListeningWindow": "listening_windows",
        "ListeningWindows": "listening_windows",
        "PollerGenerations": "poller_shift",
        "PollerShift": "poller_shift",
        "PollerTiming": "poller_shift",
        "RuntimeSettings": "runtime_settings",
        "RuntimeSettingsStore": "runtime_settings",
    },
)
