"""Measured usage of matches in the cloud: `make bench-games` writes it for `cardsharp cost`.

The real handlers run on this machine, with the emulator's table, which counts units by
AWS's rules. Opponents decide within milliseconds, so the usage per second of a match is
not measured; the cost model adds it.
"""

import os
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import worker.app
from cardsharp.aws.telemetry import metrics_recorder
from cardsharp.core.clock import SystemClock
from cardsharp.core.metrics import ALARM_METRICS
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.deadmansdraw.arena.match import ArenaMatch
from cardsharp.games.deadmansdraw.arena_bot.bootstrap import ArenaBotDependencies
from cardsharp.play.catalog import all_games
from cardsharp.play.game import Game
from cardsharp_tools.costs.model import MEASURED_USAGE_PATH, ActivityUsage, MeasuredUsage
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.games.deadmansdraw.emulated_arena import (
    DynamoArenaServer,
    create_arena_table,
)
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.local_cloud.lambda_events import LambdaFunction, sqs_event
from cardsharp_tools.local_cloud.metric_samples import read_emf_samples
from cardsharp_tools.local_play.bot_runtime import open_bot_dependencies
from cardsharp_tools.local_play.game_service import (
    EMULATOR,
    prepare_store_environment,
    service_definition,
)
from cardsharp_tools.local_play.opponent import (
    BOT_CREDENTIALS,
    OPPONENT_CREDENTIALS,
    OpponentConfig,
    OpponentProcess,
    start_steady_opponent,
)
from cardsharp_tools.local_server.arena_server import ArenaServer
from support.api_gateway import function_server, run_as_function
from support.usage_meter import UsageMeter

LONG_POLL = timedelta(seconds=3)  # two of them stand for the poller's two of 30 s
TIMEOUT = timedelta(minutes=3)
INDEX_BYTES = 100  # which DynamoDB bills of each item besides its attributes


def measure(bot_matches: int = 10, games: int = 5) -> MeasuredUsage:
    """Return the mean usage of so many matches of the bot, and of games at each service."""
    with open_bot() as bot:
        idle_minute = bot.measure_idle_minute()
        bot_match = bot.measure_match(bot_matches)
        samples = read_emf_samples(bot.meter.log.getvalue().splitlines())
    metrics = {sample.metric.name for sample in samples}
    return MeasuredUsage(
        date=datetime.now(UTC).date(),
        matches=bot_matches,
        metrics={"alarms": len(metrics & ALARM_METRICS), "all": len(metrics)},
        bot_match=bot_match,
        idle_minute=idle_minute,
        arena_match=measure_arena_match(games),
        games={
            game.name: measure_game(game, games)
            for game in all_games()
            if game.play_typical_match is not None
        },
    )


# --- The bot -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MeasuredBot:
    """Handlers of the bot on the emulator, at a local arena with an opponent."""

    arena: ArenaServer
    dependencies: ArenaBotDependencies
    dynamodb: Any
    table_name: str
    meter: UsageMeter

    def measure_idle_minute(self) -> ActivityUsage:
        """Return the usage of one start of the poller at an arena in which nothing happens."""
        start = self.meter.counts
        remaining_times = iter([TIMEOUT, TIMEOUT])
        with self.dependencies.build_poller() as poller:
            poller.run(lambda: next(remaining_times, timedelta(0)))
        metrics_recorder.flush()
        return self.meter.usage_since(start)

    def measure_match(self, matches: int) -> ActivityUsage:
        """Return the mean usage of that many matches, with the bytes that they store."""
        start = self.meter.counts
        for _ in range(matches):
            self._play_match()
        metrics_recorder.flush()
        usage = self.meter.usage_since(start, matches)
        return usage.model_copy(update={"stored_bytes": round(self._stored_bytes() / matches)})

    def _play_match(self) -> None:
        """Dispatch a match as the poller does, and play it as the queue's mapping does."""
        match_id = self.arena.create_match_and_get_id([BOT_CREDENTIALS[0], OPPONENT_CREDENTIALS[0]])
        self.dependencies.dispatcher.dispatch(match_id)
        message = self.dependencies.queue.receive_message(timedelta(seconds=5))
        assert message is not None
        context = LambdaFunction("worker", worker.app.handler, TIMEOUT).context(SystemClock())
        response = worker.app.handler(sqs_event([message], datetime.now(UTC)), context)
        assert response["batchItemFailures"] == []
        self.dependencies.queue.delete(message)

    def _stored_bytes(self) -> int:
        """Return the size of all items in the table."""
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=self.table_name)
        items = [item for page in pages for item in page["Items"]]
        return sum(INDEX_BYTES + attribute_size({"M": item}) for item in items)


def attribute_size(attribute: Mapping[str, Any]) -> int:
    """Return the bytes of an attribute's value, about as DynamoDB counts them."""
    ((kind, value),) = attribute.items()
    if kind == "M":
        return 3 + sum(
            1 + len(name.encode()) + attribute_size(member) for name, member in value.items()
        )
    if kind == "L":
        return 3 + sum(1 + attribute_size(element) for element in value)
    return len(value if isinstance(value, bytes) else str(value).encode())


@contextmanager
def open_bot() -> Iterator[MeasuredBot]:
    """Yield a bot whose requests are counted, with a table, a queue, an arena and an opponent."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        arena = stack.enter_context(ArenaServer(ArenaConfig(long_poll_timeout=LONG_POLL)))
        meter = stack.enter_context(UsageMeter())
        emulator = stack.enter_context(Emulator())
        resources = emulator.create_resources()
        stack.enter_context(start_steady_opponent(arena.url, folder))
        variables = {
            **emulator.environment,
            **resources.bot_settings(arena.url),
            "CARDSHARP_USER": BOT_CREDENTIALS[0],
            "CARDSHARP_PASSWORD": BOT_CREDENTIALS[1],
        }
        dependencies = stack.enter_context(open_bot_dependencies(variables))
        dynamodb = emulator.client("dynamodb")
        yield MeasuredBot(arena, dependencies, dynamodb, resources.tables["Matches"], meter)


# --- The arena and the services ------------------------------------------------------------------


def measure_arena_match(matches: int) -> ActivityUsage:
    """Return the mean usage of matches at our arena between two clients in long polls."""
    is_finished = threading.Event()

    def on_move(match: ArenaMatch) -> None:
        if match.is_finished:
            is_finished.set()

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        meter = stack.enter_context(UsageMeter())
        config = ArenaConfig()
        table = create_arena_table(stack.enter_context(Emulator()), config.players_file)
        arena = stack.enter_context(
            DynamoArenaServer(
                config,
                table,
                on_move=on_move,
                run_blocking=lambda app: run_as_function(app, meter.wrap_handler),
            )
        )
        for team in (BOT_CREDENTIALS, OPPONENT_CREDENTIALS):
            opponent_config = OpponentConfig(arena.url, *team, BuiltIn("draw-3"))
            opponent = OpponentProcess(opponent_config, folder / f"{team[0]}.log")
            stack.enter_context(opponent).wait_until_polling()
        start = meter.counts
        for seed in range(matches):
            is_finished.clear()
            arena.create_match_and_get_id(
                [BOT_CREDENTIALS[0], OPPONENT_CREDENTIALS[0]], seed=str(seed)
            )
            assert is_finished.wait(TIMEOUT.total_seconds())
        return meter.usage_since(start, matches)


def measure_game(game: Game, games: int) -> ActivityUsage:
    """Return the mean usage of typical games at a game's service."""
    assert game.play_typical_match is not None
    play_typical_match = game.play_typical_match.load()
    with UsageMeter() as meter, prepare_store_environment(game, EMULATOR) as variables:
        build_handler = service_definition(game).build_handler
        handler = meter.wrap_handler(build_handler({**os.environ, **variables}))
        start = meter.counts
        with function_server(LambdaFunction(game.name, handler)) as gateway:
            for seed in range(games):
                play_typical_match(gateway.url, Random(seed))
        return meter.usage_since(start, games)


if __name__ == "__main__":
    text = measure().model_dump_json(indent=2, exclude_defaults=True)
    MEASURED_USAGE_PATH.write_text(f"{text}\n", encoding="utf-8")
