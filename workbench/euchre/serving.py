"""The service until Ctrl-C, with its deals and its log in this machine's files."""

import io
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.telemetry import redirect
from cardsharp.errors import ConfigError
from cardsharp.euchre.store import DealStore
from cardsharp.euchre.strategies import build
from workbench.cli.lookup import data_folder
from workbench.cloud.http_front import HOST
from workbench.euchre.home import embedded_store, emulated_store, euchre_front

EMULATOR = "emulator"


@dataclass(frozen=True, slots=True)
class Place:
    """Where to listen; port 0 is any free one."""

    host: str = HOST
    port: int = 0


@dataclass(frozen=True, slots=True)
class Address:
    """Where the service answers, and where it explains its decisions."""

    url: str
    openapi: str
    log: Path


def serve(
    strategy: str,
    place: Place,
    on_start: Callable[[Address], None],
    store: str | None = None,
    log: Path | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM; `on_start` is told the address.

    Raises:
        ConfigError: strategy, port, store or log cannot be used.
    """
    player = build(strategy, SystemClock().monotonic)
    written = log or data_folder() / "euchre.log"
    with ExitStack() as stack:
        stack.enter_context(_written_to(written))
        kept = _store(store or f"sqlite:{data_folder() / 'euchre.db'}", stack)
        front = euchre_front(player, kept, place.port, host=place.host)
        on_start(Address(front.url, f"{front.url}/openapi.json", written))
        front.run()


@contextmanager
def _written_to(log: Path) -> Iterator[None]:
    """Send our log lines and metrics to the end of that file."""
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        stream = log.open("a", encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"The log {log} cannot be written: {error.strerror}. Name another with --log."
        ) from None
    with stream:
        redirect(stream)
        try:
            yield
        finally:
            # A thread that is left behind must not meet a closed file, nor write to the terminal.
            redirect(io.StringIO())


def _store(store: str, stack: ExitStack) -> DealStore:
    """The store of that name, closed with the stack where that is needed."""
    if store == EMULATOR:
        return stack.enter_context(emulated_store())
    if not store.startswith("sqlite:"):
        raise ConfigError(f"--store must be sqlite:FILE or emulator, not '{store}'.")
    return embedded_store(store)
