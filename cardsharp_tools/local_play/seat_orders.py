"""A match that was ordered by hand, played from this machine by the handlers of the cloud."""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import practice.app
from cardsharp.aws.telemetry import metrics_recorder
from cardsharp.bot.service_seats import SeatDependencies, build_seat_dependencies
from cardsharp.bot.settings import WorkerSettings
from cardsharp.core.clock import SystemClock
from cardsharp.play.game import Game
from cardsharp.store.match_log import Body
from cardsharp_tools.local_cloud.lambda_events import (
    Event,
    LambdaFunction,
    LocalLambdaContext,
    failure_observer,
)
from cardsharp_tools.local_cloud.lambda_scheduler import LambdaSchedulerOptions
from cardsharp_tools.local_play.bot_runtime import LOCAL_WORKER_TIME, run_poller_and_workers
from cardsharp_tools.local_play.handler_environment import (
    USER_CODE_SETTINGS,
    Notify,
    forward_warnings,
    override_settings_environment,
)
from cardsharp_tools.proxy_option import PROXY

SEAT_LOG_POLL_INTERVAL = timedelta(milliseconds=200)  # how often the match log is looked at


def place_join_game_order(game: Game, join_order: Mapping[str, object]) -> str:
    """Place an order for a bot's seat with the local workers and return the match id.

    Raises `InvalidInput` if it cannot be ordered so.
    """
    ordering = LambdaFunction("practice", practice.app.handler, LOCAL_WORKER_TIME)
    event = {practice.app.PLAY: game.name, **join_order}
    [match_id] = practice.app.handler(event, ordering.context(SystemClock()))["match_ids"]
    return str(match_id)


def match_outcome(dependencies: SeatDependencies, match_id: str) -> Body | None:
    """Return the outcome of a match, or None while it has none.

    Its result is unknown if the service refused the bot.
    """
    record = dependencies.dispatcher.match_log.match(match_id)
    return None if record is None else record.outcome


@contextmanager
def run_workers(
    store: Path, notify: Notify, concurrency: int, *, is_user_code: bool = False
) -> Iterator[SeatDependencies]:
    """Run workers for up to `concurrency` seats; `notify` gets their failures.

    With `is_user_code` the strategies of the seats are a user's, in processes of their own.
    Raises `ConfigError` if they cannot be run.
    """
    variables = {
        **(USER_CODE_SETTINGS if is_user_code else {}),
        "CARDSHARP_STORE": f"sqlite:{store}",
        "CARDSHARP_QUEUE": f"memory:{uuid4().hex}",
    }
    if (proxy := os.environ.get(PROXY)) is not None:
        variables[PROXY] = proxy
    with override_settings_environment(variables), ExitStack() as stack:
        dependencies = build_seat_dependencies(WorkerSettings.load(os.environ), metrics_recorder)
        stack.callback(build_seat_dependencies.cache_clear)
        stack.enter_context(forward_warnings(notify))
        stack.callback(dependencies.dispatcher.match_log.close)
        stack.callback(dependencies.vault.close)

        def lookout(_event: Event, context: LocalLambdaContext) -> object:
            """Watch the match log, as no arena names matches here."""
            offered = dependencies.dispatcher.dispatch_until(
                dependencies.settings.lease_check_interval,
                lambda: timedelta(milliseconds=context.get_remaining_time_in_millis()),
            )
            return {"offered": offered}

        options = LambdaSchedulerOptions(
            concurrency=concurrency, on_invocation=failure_observer(notify)
        )
        at_work = run_poller_and_workers(
            dependencies.dispatcher, options, worker_time=LOCAL_WORKER_TIME, poller_handler=lookout
        )
        stack.enter_context(at_work)
        yield dependencies
