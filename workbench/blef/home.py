"""The Blef service at home: the handler that the cloud runs, over SQLite or the emulated AWS."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from cardsharp.blef.api import build_api
from cardsharp.blef.resolver import Resolver
from cardsharp.blef.service import Blef
from cardsharp.blef.store import GameStore
from cardsharp.blef.wiring import build_store
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.sqlite_file import MEMORY
from workbench.cloud.context import Function
from workbench.cloud.http_front import HOST, HttpFront

TIMEOUT = timedelta(seconds=29)
"""Of the function, as template.yaml deploys it."""

IN_MEMORY = f"sqlite:{MEMORY}"


def blef_function(api: Resolver) -> Function:
    """The function as it is deployed, around a handler."""
    return Function("blef", api.resolve, TIMEOUT)


@contextmanager
def blef_home(store: GameStore, port: int = 0, host: str = HOST) -> Iterator[HttpFront]:
    """Yield a front that serves games from a store, at `front.url`."""
    api = build_api(Blef(store, SystemClock()))
    with HttpFront(blef_function(api), port, host) as front:
        yield front


def serve(
    store: GameStore, on_start: Callable[[str], None], port: int = 0, host: str = HOST
) -> None:
    """Serve games from a store until SIGINT or SIGTERM; `on_start` is told the address.

    Raises:
        ConfigError: the port cannot be used.
    """
    front = HttpFront(blef_function(build_api(Blef(store, SystemClock()))), port, host)
    on_start(front.url)
    front.run()


@contextmanager
def emulated_store() -> Iterator[GameStore]:
    """Yield a store in the emulated AWS, which starts empty and goes with it."""
    # boto3 is slow to import, and not needed for the embedded store.
    from cardsharp.blef.dynamodb import DynamoGames  # noqa: PLC0415
    from workbench.cloud.emulator import Emulator  # noqa: PLC0415
    from workbench.cloud.tables import create_table  # noqa: PLC0415

    with Emulator() as emulator:
        client = emulator.client("dynamodb")
        yield DynamoGames(create_table(client, "BlefGames"), SystemClock(), client)


def embedded_store(store: str = IN_MEMORY) -> GameStore:
    """The store that a newcomer plays with: `sqlite:FILE`, by default in this process only."""
    return build_store(store, SystemClock())
