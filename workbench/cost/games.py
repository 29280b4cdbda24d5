"""What matches over the games' services cost: `python -m workbench.cost.games [--games N]`.

The real handlers answer a typical match, at the emulator's table, which reckons units by AWS's
rules. What is billed of a request is reckoned: the processor time of its handler on this machine,
longer where the function has only a part of a processor, and a wait for each request to the table.
"""

import argparse
import io
import os
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from random import Random

from cardsharp.cloud.telemetry import redirect
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.errors import CardsharpError
from cardsharp.game import Game, Visit
from cardsharp.games import games
from workbench.build.target import say
from workbench.cloud.emulator import Emulator
from workbench.cloud.events import Event, Function, LambdaContext, LambdaHandler
from workbench.cloud.http_front import HttpFront
from workbench.cost.bill import load_prices, make_bill
from workbench.cost.meter import UseMeter
from workbench.cost.usage import CloudUse, billed, memory_of, properties_of
from workbench.deadmansdraw.emulated import CloudServer, new_table
from workbench.stage.opponent import OPPONENT, US, OpponentProcess, Order
from workbench.stage.serving import EMULATOR, kept

THOUSAND = 1000
PATIENCE = 180  # seconds in which a match between two programs must be over


class Timed:
    """A handler, how often it was called and the processor time that it took."""

    def __init__(self, handler: LambdaHandler) -> None:
        self._handler = handler
        self.requests = 0
        self.seconds = 0.0

    def __call__(self, event: Event, context: LambdaContext) -> object:
        """The handler's answer."""
        began = time.thread_time()
        try:
            return self._handler(event, context)
        finally:
            self.seconds += time.thread_time() - began
            self.requests += 1


def measure(
    game: Game, build: Callable[[dict[str, str]], LambdaHandler], visit: Visit, matches: int
) -> dict[str, float]:
    """What so many matches of a game use over its service, by the names of the price list."""
    logged = io.StringIO()
    redirect(logged)
    with UseMeter() as uses, kept(game, EMULATOR) as variables:
        timed = Timed(build({**os.environ, **variables}))
        limit = timedelta(seconds=int(str(properties_of(game.name)["Timeout"])))
        function = Function(game.name, timed, limit)
        before = uses.counts
        with HttpFront(function) as front:
            for seed in range(matches):
                visit(front.url, Random(seed))
        counts = uses.since(before)
    requests, written = timed.requests, len(logged.getvalue().encode())
    say(
        f"  {requests / matches:.0f} requests a game, "
        f"{THOUSAND * timed.seconds / requests:.2f} ms of processor time each"
    )
    table, memory = counts.of("dynamodb"), memory_of(game.name)
    return {
        **billed(requests, timed.seconds, table, memory=memory, logged=written),
        "DynamoDB write units": counts["write units"],
        "DynamoDB read units": counts["read units"],
    }


def measure_contest(matches: int = 5) -> CloudUse:
    """The mean of so many matches at the cloud's arena; raises `CardsharpError`.

    Two clients that wait in long polls and read once a turn play through the real handler.
    """
    ended = threading.Event()

    def moved(match: Match) -> None:
        if match.finished:
            ended.set()

    timed: list[Timed] = []

    def counted(handler: LambdaHandler) -> Timed:
        timed.append(Timed(handler))
        return timed[0]

    logged = io.StringIO()
    redirect(logged)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cardsharp-cost-")))
        uses = stack.enter_context(UseMeter())
        config = ArenaConfig()
        table = new_table(stack.enter_context(Emulator()), config.players)
        arena = stack.enter_context(CloudServer(config, table, moved=moved, around=counted))
        for number, team in enumerate((US, OPPONENT)):
            order = Order(arena.url, *team, "draw-3")
            stack.enter_context(OpponentProcess(order, folder / f"{number}.log")).await_ready()
        before = uses.counts
        for number in range(matches):
            ended.clear()
            arena.create_match([US[0], OPPONENT[0]], seed=str(number))
            if not ended.wait(PATIENCE):
                raise CardsharpError(f"Match {number + 1} did not end within {PATIENCE} s.")
        used = uses.since(before)
    (handler,) = timed
    logs, count = len(logged.getvalue().encode()), handler.requests
    return used.use(matches, requests=count, seconds=handler.seconds, log_bytes=logs)


def main() -> None:
    """Print what 1,000 matches of each game cost, line by line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=5)
    matches = parser.parse_args().games
    for game in games():
        if game.service is None or game.visit is None:
            continue
        say(f"{game.title}: playing {matches} games ...")
        used = measure(game, game.service.load().build, game.visit.load(), matches)
        thousand = {item: one * THOUSAND / matches for item, one in used.items()}
        bill = make_bill(thousand, load_prices())
        for line in bill.lines:
            say(f"  {line.item:24} {thousand[line.item]:14,.1f}  {line.full:7.3f} USD")
        say(f"  1,000 games{' ':33}{bill.full:7.3f} USD without the free tier")


if __name__ == "__main__":
    main()
