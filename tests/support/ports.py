"""Ports of this machine."""

import socket
from contextlib import suppress
from random import SystemRandom


def unused_port() -> int:
    """A port that nobody listens at, and that no system gives to who asks for any port.

    Else who waits for an arena that is not there yet, or no more, would ask another test's server.
    """
    for port in SystemRandom().sample(range(20_000, 32_000), 100):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise OSError("100 ports were tried, and all are in use")
