"""Parts that every other package uses and that import none of them.

Look first at `Clock`, by which tests control the time, `Queue`, the port of the message queue, and
`Metric`, the list of everything that is counted. `register_secrets` keeps passwords out of logs.
"""

from typing import TYPE_CHECKING

from cardsharp.core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from cardsharp.core.clock import (
        Clock,
        RemainingTime,
        SystemClock,
        TimeSource,
        Waitable,
        run_periodically,
        utc_now,
    )
    from cardsharp.core.credentials import DIGEST_REALM, Credentials, digest_ha1
    from cardsharp.core.metrics import ALARM_METRICS, MetricName, Metrics
    from cardsharp.core.private_files import ensure_private_file, restrict_to_owner
    from cardsharp.core.queue import NO_DELAY, Message, Queue
    from cardsharp.core.redaction import redact, register_secrets
    from cardsharp.core.text_files import DecodedText, decode_text, read_text, read_valid_json_text
    from cardsharp.core.time_zones import to_local, zone_named
    from cardsharp.core.timestamps import duration_to_micros, from_micros, to_micros

__all__ = (
    "ALARM_METRICS",
    "DIGEST_REALM",
    "NO_DELAY",
    "Clock",
    "Credentials",
    "DecodedText",
    "Message",
    "MetricName",
    "Metrics",
    "Queue",
    "RemainingTime",
    "SystemClock",
    "TimeSource",
    "Waitable",
    "decode_text",
    "digest_ha1",
    "duration_to_micros",
    "ensure_private_file",
    "from_micros",
    "read_text",
    "read_valid_json_text",
    "redact",
    "register_secrets",
    "restrict_to_owner",
    "run_periodically",
    "to_local",
    "to_micros",
    "utc_now",
    "zone_named",
)

__getattr__ = lazy_exports(
    __name__,
    {
        "ALARM_METRICS": "metrics",
        "DIGEST_REALM": "credentials",
        "NO_DELAY": "queue",
        "Clock": "clock",
        "Credentials": "credentials",
        "DecodedText": "text_files",
        "Message": "queue",
        "MetricName": "metrics",
        "Metrics": "metrics",
        "Queue": "queue",
        "RemainingTime": "clock",
        "SystemClock": "clock",
        "TimeSource": "clock",
        "Waitable": "clock",
        "duration_to_micros": "timestamps",
        "from_micros": "timestamps",
        "to_micros": "timestamps",
        "ensure_private_file": "private_files",
        "decode_text": "text_files",
        "digest_ha1": "credentials",
        "read_valid_json_text": "text_files",
        "read_text": "text_files",
        "redact": "redaction",
        "register_secrets": "redaction",
        "restrict_to_owner": "private_files",
        "run_periodically": "clock",
        "to_local": "time_zones",
        "utc_now": "clock",
        "zone_named": "time_zones",
    },
)
