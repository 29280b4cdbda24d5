"""A match that was ordered by hand, played from this machine by the handlers of the cloud."""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import practice.app
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import Body
from cardsharp.cloud.settings import Workplace
from cardsharp.cloud.telemetry import meter
from cardsharp.game import Game
from cardsharp.seats import Places, assemble
from workbench.cloud.events import Event, Function, LambdaContext, failures_to
from workbench.cloud.home import HomeOptions
from workbench.show.http_session import PROXY
from workbench.stage.side import attending
from workbench.stage.surroundings import Say, environment, warnings_to

WORKER_TIME = timedelta(days=1)  # nothing limits a worker at home, so it stays with its match
GLANCE = timedelta(milliseconds=200)  # how often the match log is looked at


def ordered(game: Game, wanted: Mapping[str, object]) -> str:
    """Order a match of the workers here, its id; raises `Malformed` if it cannot be ordered so."""
    ordering = Function("practice", practice.app.handler, WORKER_TIME)
    event = {practice.app.PLAY: game.name, **wanted}
    [match_id] = practice.app.handler(event, ordering.context(SystemClock()))["match_ids"]
    return str(match_id)


def outcome_in(places: Places, match_id: str) -> Body | None:
    """How a match ended; its result is unknown where the service refused us."""
    record = places.offering.log.match(match_id)
    return None if record is None else record.outcome


@contextmanager
def workers(store: Path, say: Say, at_once: int) -> Iterator[Places]:
    """Have so many seats played at once; `say` is told of failures; raises `ConfigError`."""
    variables = {"CARDSHARP_STORE": f"sqlite:{store}", "CARDSHARP_QUEUE": f"memory:{uuid4().hex}"}
    if (proxy := os.environ.get(PROXY)) is not None:
        variables[PROXY] = proxy
    with environment(variables), ExitStack() as stack:
        places = assemble(Workplace.load(os.environ), meter)
        stack.callback(assemble.cache_clear)
        stack.enter_context(warnings_to(say))
        stack.callback(places.offering.log.close)
        stack.callback(places.vault.close)

        def lookout(_event: Event, context: LambdaContext) -> object:
            """Watch the match log, as no arena names matches here."""
            offered = places.offering.watch(
                places.settings.watch,
                lambda: timedelta(milliseconds=context.get_remaining_time_in_millis()),
            )
            return {"offered": offered}

        options = HomeOptions(concurrency=at_once, observe=failures_to(say))
        at_work = attending(places.offering, options, worker_time=WORKER_TIME, listen=lookout)
        stack.enter_context(at_work)
        yield places
