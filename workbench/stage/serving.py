"""A game's HTTP service at home: what the cloud runs, over SQLite or the emulated AWS."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from cardsharp.cloud.feeds import FEED
from cardsharp.cloud.ports import Clock
from cardsharp.cloud.sockets import named
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.errors import ConfigError
from cardsharp.game import Game
from cardsharp.web import edge
from cardsharp.web.api import Api
from cardsharp.web.asgi import AsgiService
from cardsharp.web.events import Context, Event, Response
from cardsharp.web.route import S
from cardsharp.web.service import BOT_QUEUE, BOT_STORE, BOT_URL, Service
from workbench.cloud.events import Function
from workbench.cloud.http_front import HttpFront
from workbench.listening import HOST
from workbench.show.lookup import data_folder
from workbench.show.output import print_aside
from workbench.stage.surroundings import environment, telemetry_in

TIMEOUT = timedelta(seconds=29)  # of the function, as template.yaml deploys it
EMULATOR = "emulator"  # a table in an emulated AWS, which starts empty and goes with it
MOST_BOTS = 64  # bots that play at once at home; more wait for one of them to end
IN_MEMORY = f"sqlite:{MEMORY}"  # the store that a newcomer plays with: in this process only


ANYWHERE = (HOST, 0)  # where to listen, host and port: any free one of this machine


def serve(
    game: Game,
    announce: Callable[[str], None],
    store: str = IN_MEMORY,
    place: tuple[str, int] = ANYWHERE,
    settings: Mapping[str, str] | None = None,
) -> None:
    """Serve a game until SIGINT or SIGTERM; `announce` is told the address of its API.

    `store` is sqlite:FILE or emulator, and `settings` are environment variables of the game. Raises
    `ConfigError` if the game has no service, or a setting, the store or the port cannot be used.
    """
    with made(game, store, place, settings) as running:
        announce(f"{running.url}{service_of(game).base}")
        running.run()


@contextmanager
def made(
    game: Game,
    store: str = IN_MEMORY,
    place: tuple[str, int] = ANYWHERE,
    settings: Mapping[str, str] | None = None,
) -> Iterator[HttpFront]:
    """Yield a game's service, with its feed and the bots that it invites; it is not yet started."""
    service = service_of(game)
    name, sockets, feed = uuid4().hex, None, {}
    if service.feed is not None:  # the sockets of those who watch
        sockets, feed = named(name), {FEED: f"memory:{name}"}

    def answer(event: Event, context: Context) -> Response:
        return handler(event, context)

    function = Function(game.name, answer, TIMEOUT)
    host, port = place
    running = HttpFront(function, port, host, sockets=sockets)
    try:
        with kept(game, store) as variables, _bots(game, store, running.url) as bot:
            handler = service.build({**variables, **feed, **bot, **(settings or {})})
            yield running
    finally:
        running.stop()  # also where it was never started: it listens already


@contextmanager
def _bots(game: Game, store: str, url: str) -> Iterator[Mapping[str, str]]:
    """What a service is told of bots that play if invited, whose files lie beside its own."""
    if not service_of(game).invites:
        yield {}
        return
    from workbench.stage.ordered import workers  # noqa: PLC0415 - a service without bots needs none

    with ExitStack() as stack:
        file = store.removeprefix("sqlite:")
        if store == EMULATOR or file == MEMORY:
            file = f"{stack.enter_context(TemporaryDirectory(prefix='cardsharp-'))}/{game.name}"
        stack.enter_context(telemetry_in(data_folder() / "bot.log"))
        places = stack.enter_context(workers(Path(f"{file}.bots"), print_aside, MOST_BOTS))
        told = places.settings
        yield {BOT_STORE: told.store, BOT_QUEUE: told.queue, BOT_URL: url}


def service_of(game: Game) -> Service[Any] | AsgiService:
    """The service of a game; raises `ConfigError` if it has none."""
    if game.service is None:
        raise ConfigError(f"{game.title} has no HTTP service.")
    return game.service.load()


@contextmanager
def kept(game: Game, store: str = IN_MEMORY) -> Iterator[Mapping[str, str]]:
    """Yield the variable that has a game's service keep its matches in `store`."""
    variable = service_of(game).store
    if store.startswith("sqlite:"):
        yield {variable: store}
        return
    if store != EMULATOR:
        raise ConfigError(f"--store must be sqlite:FILE or {EMULATOR}, not '{store}'.")
    # boto3 is slow to import, and not needed for the embedded store.
    from workbench.cloud.emulator import Emulator  # noqa: PLC0415
    from workbench.cloud.template import create_table  # noqa: PLC0415

    with Emulator() as emulator, environment(emulator.environment):
        table = create_table(emulator.client("dynamodb"), f"{game.name}Table")
        yield {variable: f"dynamodb:{table}"}


def front(api: Api[S], service: S, clock: Clock | None = None) -> HttpFront:
    """An API over use cases put together by hand, in a `with`; raises `ConfigError`."""
    return HttpFront(Function(api.title, edge.build(api, service), TIMEOUT), clock=clock)
