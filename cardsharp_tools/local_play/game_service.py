"""A game's HTTP service at home: what the cloud runs, over SQLite or the emulated AWS."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from starlette.types import Receive, Scope, Send

from cardsharp.core.clock import Clock
from cardsharp.errors import ConfigError
from cardsharp.play.game import Game
from cardsharp.server.api import Api
from cardsharp.server.api_application import build_application
from cardsharp.server.feed_bootstrap import FEED_VARIABLE
from cardsharp.server.http_service import (
    BOT_QUEUE_SETTING,
    BOT_STORE_SETTING,
    BOT_URL_SETTING,
    HttpService,
    ServiceApplication,
)
from cardsharp.server.routing import S
from cardsharp.server.websocket_feed import get_in_memory_connections
from cardsharp.store.locations import sqlite_path
from cardsharp.store.sqlite_file import MEMORY_PATH
from cardsharp_tools.cli.console import print_notice
from cardsharp_tools.local_play.handler_environment import (
    override_settings_environment,
    redirect_telemetry,
)
from cardsharp_tools.local_server.feed_endpoint import FeedEndpoint
from cardsharp_tools.local_server.request_threads import run_in_threads
from cardsharp_tools.local_server.service_server import ANY_FREE_PORT, ServiceServer
from cardsharp_tools.match_sources.match_logs import data_folder

EMULATOR = "emulator"  # a table in an emulated AWS, which starts empty and goes with it
MAX_INVITED_BOTS = 64  # bots that play at once at home; more wait for one of them to end
IN_MEMORY = f"sqlite:{MEMORY_PATH}"  # the store that a newcomer plays with: in this process only


def serve(
    game: Game,
    on_listening: Callable[[str], None],
    store: str = IN_MEMORY,
    address: tuple[str, int] = ANY_FREE_PORT,
    settings: Mapping[str, str] | None = None,
) -> None:
    """Serve a game until SIGINT or SIGTERM; `on_listening` gets the address of its API.

    `store` is sqlite:FILE or emulator, and `settings` are environment variables of the game.
    Raises `ConfigError` if the game has no service, or a setting, the store or the port cannot
    be used.
    """
    with unstarted_game_service(game, store, address, settings) as running:
        # Not earlier: a signal while the event loop is being made leaves a trace.
        base_url = f"{running.url}{service_definition(game).base_path}"
        running.run_in_foreground(lambda: on_listening(base_url))


@contextmanager
def unstarted_game_service(
    game: Game,
    store: str = IN_MEMORY,
    address: tuple[str, int] = ANY_FREE_PORT,
    settings: Mapping[str, str] | None = None,
) -> Iterator[ServiceServer]:
    """Yield a game's service, with its feed and the bots that it invites; it is not yet started."""
    service = service_definition(game)
    feed_name = uuid4().hex
    feed = {FEED_VARIABLE: f"memory:{feed_name}"} if service.has_feed else {}
    endpoint = FeedEndpoint(lambda: parts.subscriptions, get_in_memory_connections(feed_name))

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await parts.application(scope, receive, send)

    running = ServiceServer(answer, address, feed_endpoint=endpoint if service.has_feed else None)
    try:
        with (
            prepare_store_environment(game, store) as variables,
            _run_inviting_bots(game, store, running.url) as bot,
        ):
            environment = {**variables, **feed, **bot, **(settings or {})}
            parts = _build_application(service, environment)
            yield running
    finally:
        running.stop()  # also where it was never started: it listens already


def _build_application(service: HttpService, environment: Mapping[str, str]) -> ServiceApplication:
    parts = service.build(environment)
    # Only an application of its own, without a table of routes, may block its event loop.
    return parts if service.api else parts._replace(application=run_in_threads(parts.application))


@contextmanager
def _run_inviting_bots(game: Game, store: str, service_url: str) -> Iterator[Mapping[str, str]]:
    """Run the bots that can be invited; yield their settings for the game's service.

    Their files lie in the same folder as the service's files. The settings are empty if the
    game has no invitations.
    """
    if not service_definition(game).supports_invites:
        yield {}
        return
    from cardsharp_tools.local_play.seat_orders import run_workers  # noqa: PLC0415 - a service without bots needs none

    with ExitStack() as stack:
        file = sqlite_path(store)
        if file is None or str(file) == MEMORY_PATH:
            folder = stack.enter_context(TemporaryDirectory(prefix="cardsharp-"))
            file = Path(folder, game.name)
        stack.enter_context(redirect_telemetry(data_folder() / "bot.log"))
        dependencies = stack.enter_context(
            run_workers(Path(f"{file}.bots"), print_notice, MAX_INVITED_BOTS)
        )
        settings = dependencies.settings
        yield {
            BOT_STORE_SETTING: settings.store,
            BOT_QUEUE_SETTING: settings.queue,
            BOT_URL_SETTING: service_url,
        }


def service_definition(game: Game) -> HttpService:
    """Return the definition of a game's HTTP service; raise `ConfigError` if it has none."""
    if game.http_service is None:
        raise ConfigError(f"{game.title} has no HTTP service.")
    return game.http_service.load()


@contextmanager
def prepare_store_environment(game: Game, store: str = IN_MEMORY) -> Iterator[Mapping[str, str]]:
    """Prepare a store; yield the environment variable that makes a game's service use it.

    For the emulator, start one and create the table. Raises `ConfigError` for another store.
    """
    variable = service_definition(game).store_setting
    if sqlite_path(store) is not None:
        yield {variable: store}
        return
    if store != EMULATOR:
        raise ConfigError(f"--store must be sqlite:FILE or {EMULATOR}, not '{store}'.")
    # boto3 is slow to import, and not needed for the embedded store.
    from cardsharp_tools.local_cloud.emulator import Emulator  # noqa: PLC0415
    from cardsharp_tools.local_cloud.template_files import create_table, service_resource_prefix  # noqa: PLC0415

    with Emulator() as emulator, override_settings_environment(emulator.environment):
        table = create_table(
            emulator.client("dynamodb"), f"{service_resource_prefix(game.name)}Table"
        )
        yield {variable: f"dynamodb:{table}"}


def api_server(api: Api[S], service: S, clock: Clock | None = None) -> ServiceServer:
    """Return a server of one API for the use cases of `service`; raise `ConfigError`."""
    return ServiceServer(build_application((api,), service), clock=clock)
