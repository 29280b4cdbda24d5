"""What matches over the games' services cost: `python -m workbench.cost.games [--games N]`.

The real handlers answer a typical match, at the emulator's table, which reckons units by AWS's
rules. What is billed of a request is reckoned: the processor time of its handler on this machine,
longer where the function has only a part of a processor, and a wait for each request to the table.
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

from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.errors import CardsharpError
from cardsharp.game import Game, Visit
from cardsharp.games import games
from workbench.build.target import say
from workbench.cloud.emulator import Emulator
from workbench.cloud.events import Function, LambdaHandler
from workbench.cloud.http_front import HttpFront
from workbench.cloud.template import all_resources
from workbench.cost.bill import load_prices, make_bill
from workbench.cost.meter import UseMeter
from workbench.cost.usage import CloudUse, billed, memory_of
from workbench.deadmansdraw.emulated import CloudServer, new_table
from workbench.stage.opponent import OPPONENT, US, OpponentProcess, Order
from workbench.stage.serving import EMULATOR, kept

THOUSAND = 1000
PATIENCE = 180  # seconds in which a match between two programs must be over


def measure(
    game: Game, build: Callable[[dict[str, str]], LambdaHandler], visit: Visit, matches: int
) -> CloudUse:
    """The mean of so many matches of a game over its service."""
    with UseMeter() as uses, kept(game, EMULATOR) as variables:
        handler = uses.timed(build({**os.environ, **variables}))
        told = all_resources()[f"{game.name}Service"]["Properties"]
        before = uses.counts
        with HttpFront(Function(game.name, handler, timedelta(seconds=told["Timeout"]))) as front:
            for seed in range(matches):
                visit(front.url, Random(seed))
        return uses.since(before).use(matches)


def measure_contest(matches: int = 5) -> CloudUse:
    """The mean of so many matches at the cloud's arena; raises `CardsharpError`.

    Two clients that wait in long polls and read once a turn play through the real handler.
    """
    ended = threading.Event()

    def moved(match: Match) -> None:
        if match.finished:
            ended.set()

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cardsharp-cost-")))
        uses = stack.enter_context(UseMeter())
        config = ArenaConfig()
        table = new_table(stack.enter_context(Emulator()), config.players)
        arena = stack.enter_context(CloudServer(config, table, moved=moved, around=uses.timed))
        for number, team in enumerate((US, OPPONENT)):
            order = Order(arena.url, *team, "draw-3")
            stack.enter_context(OpponentProcess(order, folder / f"{number}.log")).await_ready()
        before = uses.counts
        for number in range(matches):
            ended.clear()
            arena.create_match([US[0], OPPONENT[0]], seed=str(number))
            if not ended.wait(PATIENCE):
                raise CardsharpError(f"Match {number + 1} did not end within {PATIENCE} s.")
        return uses.since(before).use(matches)


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
        milliseconds = THOUSAND * used.seconds / used.requests
        say(f"  {used.requests:.0f} requests a game, {milliseconds:.2f} ms of processor time each")
        bill = make_bill(billed(used.times(THOUSAND), memory_of(game.name)), load_prices())
        for line in bill.lines:
            say(f"  {line.item:24} {line.units:14,.1f}  {line.full:7.3f} USD")
        say(f"  1,000 games{' ':33}{bill.full:7.3f} USD without the free tier")


if __name__ == "__main__":
    main()
