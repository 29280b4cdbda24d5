"""A game's HTTP service at home: what the cloud runs, over SQLite or the emulated AWS."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from cardsharp.core.clock import Clock
from cardsharp.errors import ConfigError
from cardsharp.play.game import Game
from cardsharp.server.api import Api
from cardsharp.server.api_application import build_application
from cardsharp.server.feed_bootstrap import FEED_VARIABLE
from cardsharp.server.gateway_events import GatewayEvent, GatewayResponse, LambdaContext
from cardsharp.server.http_service import (
    BOT_QUEUE_SETTING,
    BOT_STORE_SETTING,
    BOT_URL_SETTING,
    AsgiService,
    HttpService,
)
from cardsharp.server.lambda_adapter import lambda_handler_for_asgi
from cardsharp.server.routing import S
from cardsharp.server.websocket_feed import get_in_memory_connections
from cardsharp.store.sqlite_file import MEMORY_PATH
from cardsharp_tools.cli.console import print_notice
from cardsharp_tools.local_cloud.api_gateway import ApiGatewayServer
from cardsharp_tools.local_cloud.lambda_events import API_REQUEST_TIMEOUT, LambdaFunction
from cardsharp_tools.local_play.handler_environment import (
    override_settings_environment,
    redirect_telemetry,
)
from cardsharp_tools.local_server.http_server import HOST
from cardsharp_tools.match_sources.match_logs import data_folder

EMULATOR = "emulator"  # a table in an emulated AWS, which starts empty and goes with it
MAX_INVITED_BOTS = 64  # bots that play at once at home; more wait for one of them to end
IN_MEMORY = f"sqlite:{MEMORY_PATH}"  # the store that a newcomer plays with: in this process only


ANY_FREE_PORT = (HOST, 0)  # where to listen, host and port: any free one of this machine


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
    with create_game_service(game, store, address, settings) as running:
        # Not earlier: a signal while the event loop is being made leaves a trace.
        base_url = f"{running.url}{service_definition(game).base_path}"
        running.run(lambda: on_listening(base_url))


@contextmanager
def create_game_service(
    game: Game,
    store: str = IN_MEMORY,
    address: tuple[str, int] = ANY_FREE_PORT,
    settings: Mapping[str, str] | None = None,
) -> Iterator[ApiGatewayServer]:
    """Yield a game's service, with its feed and the bots that it invites; it is not yet started."""
    service = service_definition(game)
    name, sockets, feed = uuid4().hex, None, {}
    if service.websocket_feed is not None:  # the sockets of those who watch
        sockets, feed = get_in_memory_connections(name), {FEED_VARIABLE: f"memory:{name}"}

    def answer(event: GatewayEvent, context: LambdaContext) -> GatewayResponse:
        return handler(event, context)

    function = LambdaFunction(game.name, answer, API_REQUEST_TIMEOUT)
    host, port = address
    running = ApiGatewayServer(function, port, host, sockets=sockets)
    try:
        with (
            store_environment(game, store) as variables,
            _run_inviting_bots(game, store, running.url) as bot,
        ):
            handler = service.build_handler({**variables, **feed, **bot, **(settings or {})})
            yield running
    finally:
        running.stop()  # also where it was never started: it listens already


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
        file = store.removeprefix("sqlite:")
        if store == EMULATOR or file == MEMORY_PATH:
            file = f"{stack.enter_context(TemporaryDirectory(prefix='cardsharp-'))}/{game.name}"
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


def service_definition(game: Game) -> HttpService[Any] | AsgiService:
    """Return the definition of a game's HTTP service; raise `ConfigError` if it has none."""
    if game.http_service is None:
        raise ConfigError(f"{game.title} has no HTTP service.")
    return game.http_service.load()


@contextmanager
def store_environment(game: Game, store: str = IN_MEMORY) -> Iterator[Mapping[str, str]]:
    """Yield the environment variable that makes a game's service use `store`."""
    variable = service_definition(game).store_setting
    if store.startswith("sqlite:"):
        yield {variable: store}
        return
    if store != EMULATOR:
        raise ConfigError(f"--store must be sqlite:FILE or {EMULATOR}, not '{store}'.")
    # boto3 is slow to import, and not needed for the embedded store.
    from cardsharp_tools.local_cloud.emulator import Emulator  # noqa: PLC0415
    from cardsharp_tools.local_cloud.template_files import create_table, service_prefix  # noqa: PLC0415

    with Emulator() as emulator, override_settings_environment(emulator.environment):
        table = create_table(emulator.client("dynamodb"), f"{service_prefix(game.name)}Table")
        yield {variable: f"dynamodb:{table}"}


def service_gateway(api: Api[S], service: S, clock: Clock | None = None) -> ApiGatewayServer:
    """Return a local API Gateway for the use cases of `service`; raise `ConfigError`."""
    handler = lambda_handler_for_asgi(build_application((api,), service))
    return ApiGatewayServer(LambdaFunction(api.title, handler, API_REQUEST_TIMEOUT), clock=clock)
