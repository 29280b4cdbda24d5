"""Ports of this machine for tests."""

import socket
from contextlib import suppress
from random import SystemRandom


def unused_port() -> int:
    """Return an unused port that systems do not assign automatically.

    Otherwise a client of an arena that is not running could reach another test's server.
    """
    for port in SystemRandom().sample(range(20_000, 32_000), 100):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise OSError("100 ports were tried, and all are in use")
