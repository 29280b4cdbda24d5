"""The service until Ctrl-C, with its deals and its log in this machine's files."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cardsharp.cloud.telemetry import redirect
from cardsharp.errors import ConfigError
from cardsharp.euchre.assembly import STRATEGY
from cardsharp.euchre.game import GAME
from workbench.show.lookup import data_folder
from workbench.stage import serving
from workbench.stage.serving import ServingPlace
from workbench.stage.surroundings import LogFile


@dataclass(frozen=True, slots=True)
class ServedAt:
    """Where the service answers, and where it explains its decisions."""

    url: str
    openapi: str
    docs: str
    log: Path


def serve(
    strategy: str,
    place: ServingPlace,
    on_start: Callable[[ServedAt], None],
    store: str | None = None,
    log: Path | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM; `on_start` is told the address.

    Raises:
        ConfigError: strategy, port, store or log cannot be used.
    """
    written = log or data_folder() / "euchre.log"

    def announce(url: str) -> None:
        on_start(ServedAt(url, f"{url}/openapi.json", f"{url}/docs", written))

    kept = store or f"sqlite:{data_folder() / 'euchre.db'}"
    with _written_to(written):
        serving.serve(GAME, announce, kept, place, {STRATEGY: strategy})


@contextmanager
def _written_to(log: Path) -> Iterator[None]:
    """Send our log lines and metrics to the end of that file."""
    try:
        stream = LogFile(log)
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
