"""Measured cost of matches over the games' services.

    python -m cardsharp_tools.costs.game_costs [--games N]

The real handlers answer a typical match at the emulator's table, which counts units by AWS's
rules. The billed duration of a request is estimated: the processor time of its handler on this
machine, scaled up if the function has only a share of a processor, plus a wait for each request
to the table.
"""

import argparse
import os
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from random import Random

from cardsharp.errors import CardsharpError
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.deadmansdraw.arena.match import ArenaMatch
from cardsharp.play.catalog import all_games
from cardsharp.play.game import Game, PlayTypicalMatch
from cardsharp_tools.build.target import print_flushed
from cardsharp_tools.costs.aws_meter import AwsMeter
from cardsharp_tools.costs.bill import load_prices, make_bill
from cardsharp_tools.costs.usage import CloudUsage, api_function_units, function_memory
from cardsharp_tools.games.deadmansdraw.emulated_arena import (
    EmulatedArenaServer,
    create_arena_table,
)
from cardsharp_tools.local_cloud.api_gateway import ApiGatewayServer
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.local_cloud.lambda_events import LambdaFunction, LambdaHandler
from cardsharp_tools.local_cloud.template_files import all_template_resources, service_prefix
from cardsharp_tools.local_play.game_service import EMULATOR, store_environment
from cardsharp_tools.local_play.opponent import (
    BOT_CREDENTIALS,
    OPPONENT_CREDENTIALS,
    OpponentConfig,
    OpponentProcess,
)

THOUSAND = 1000
TIMEOUT_SECONDS = 180  # seconds in which a match between two programs must be over


def measure_game(
    game: Game,
    build: Callable[[dict[str, str]], LambdaHandler],
    play_match: PlayTypicalMatch,
    matches: int,
) -> CloudUsage:
    """The mean of so many matches of a game over its service."""
    with AwsMeter() as uses, store_environment(game, EMULATOR) as variables:
        handler = uses.wrap_handler(build({**os.environ, **variables}))
        properties = all_template_resources()[f"{service_prefix(game.name)}Service"]["Properties"]
        start_counts = uses.counts
        with ApiGatewayServer(
            LambdaFunction(game.name, handler, timedelta(seconds=properties["Timeout"]))
        ) as front:
            for seed in range(matches):
                play_match(front.url, Random(seed))
        return uses.since(start_counts).average(matches)


def measure_arena(matches: int = 5) -> CloudUsage:
    """The mean of so many matches at the cloud's arena; raises `CardsharpError`.

    Two clients that wait in long polls and read once a turn play through the real handler.
    """
    finished = threading.Event()

    def moved(match: ArenaMatch) -> None:
        if match.is_finished:
            finished.set()

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cardsharp-cost-")))
        uses = stack.enter_context(AwsMeter())
        config = ArenaConfig()
        table = create_arena_table(stack.enter_context(Emulator()), config.players_file)
        arena = stack.enter_context(
            EmulatedArenaServer(config, table, on_move=moved, wrap_handler=uses.wrap_handler)
        )
        for number, team in enumerate((BOT_CREDENTIALS, OPPONENT_CREDENTIALS)):
            order = OpponentConfig(arena.url, *team, "draw-3")
            stack.enter_context(
                OpponentProcess(order, folder / f"{number}.log")
            ).wait_until_polling()
        start_counts = uses.counts
        for number in range(matches):
            finished.clear()
            arena.create_match([BOT_CREDENTIALS[0], OPPONENT_CREDENTIALS[0]], seed=str(number))
            if not finished.wait(TIMEOUT_SECONDS):
                raise CardsharpError(f"Match {number + 1} did not end within {TIMEOUT_SECONDS} s.")
        return uses.since(start_counts).average(matches)


def main() -> None:
    """Print what 1,000 matches of each game cost, line by line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=5)
    matches = parser.parse_args().games
    for game in all_games():
        if game.http_service is None or game.play_typical_match is None:
            continue
        print_flushed(f"{game.title}: playing {matches} games ...")
        used = measure_game(
            game, game.http_service.load().build_handler, game.play_typical_match.load(), matches
        )
        milliseconds = THOUSAND * used.seconds / used.requests
        print_flushed(
            f"  {used.requests:.0f} requests a game, {milliseconds:.2f} ms of processor time each"
        )
        bill = make_bill(
            api_function_units(used.times(THOUSAND), function_memory(game.name)), load_prices()
        )
        for line in bill.lines:
            print_flushed(f"  {line.item:24} {line.units:14,.1f}  {line.full_price:7.3f} USD")
        print_flushed(
            f"  1,000 games{' ':33}{bill.total_full_price:7.3f} USD without the free tier"
        )


if __name__ == "__main__":
    main()
