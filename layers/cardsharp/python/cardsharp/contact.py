"""What a process learns of a service as one user there, shared by all its sessions as that user."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from cardsharp.far_clock import FarClock


@dataclass(frozen=True, slots=True)
class Contact:
    """The service's clock, by the seconds of `monotonic`."""

    monotonic: Callable[[], float] = time.monotonic
    clock: FarClock = field(default_factory=FarClock)
