"""What matches over the games' services cost: `python -m workbench.cost.games [--games N]`.

The real handlers answer a typical match, at the emulator's table, which reckons units by AWS's
rules. What is billed of a request is reckoned: the processor time of its handler on this machine,
longer where the function has only a part of a processor, and a wait for each request to the table.
"""

import argparse
import io
import os
import time
from dataclasses import dataclass
from datetime import timedelta
from random import Random

from cardsharp.cloud.telemetry import redirect
from cardsharp.errors import ConfigError
from cardsharp.game import Game
from cardsharp.games import games
from workbench.build.say import say
from workbench.cloud.context import Function, LambdaContext, LambdaHandler
from workbench.cloud.events import Event
from workbench.cloud.http_front import HttpFront
from workbench.cost.bill import load_prices, make_bill
from workbench.cost.meter import AwsCounts, UseMeter
from workbench.cost.request import billed, memory_of, properties_of
from workbench.cost.usage import RequestUse
from workbench.stage.serving import EMULATOR, kept

THOUSAND = 1000


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


@dataclass(frozen=True, slots=True)
class Used:
    """What some matches used: requests to the service, its seconds, bytes and AWS requests."""

    requests: int
    seconds: float
    logged: int
    counts: AwsCounts


def visited() -> list[Game]:
    """The games with a service whose typical match is known."""
    return [game for game in games() if game.service is not None and game.visit is not None]


def measure(game: Game, matches: int) -> Used:
    """What so many matches of a game use over its service.

    Raises:
        ConfigError: the game has no service, or no typical match.
    """
    if game.service is None or game.visit is None:
        raise ConfigError(f"{game.title} has no service that could be visited.")
    logged = io.StringIO()
    redirect(logged)
    service, visit = game.service.load(), game.visit.load()
    with UseMeter() as uses, kept(game, EMULATOR) as variables:
        timed = Timed(service.build({**os.environ, **variables}))
        function = Function(game.name, timed, _timeout(game.name))
        before = uses.counts
        with HttpFront(function) as front:
            for seed in range(matches):
                visit(front.url, Random(seed))
        counts = uses.since(before)
    return Used(timed.requests, timed.seconds, len(logged.getvalue().encode()), counts)


def request_uses() -> dict[str, RequestUse]:
    """What a request to each game's service uses, by the names of the games."""
    return {game.name: a_request(measure(game, 3)) for game in visited()}


def a_request(used: Used) -> RequestUse:
    """The mean of what was used by a request."""
    return RequestUse(
        read_units=round(used.counts["read units"] / used.requests, 2),
        write_units=round(used.counts["write units"] / used.requests, 2),
        log_bytes=round(used.logged / used.requests),
    )


def units(game: Game, used: Used) -> dict[str, float]:
    """What was used, by the names of the price list."""
    table = used.counts.of("dynamodb")
    return {
        **billed(
            used.requests, used.seconds, table, memory=memory_of(game.name), logged=used.logged
        ),
        "DynamoDB write units": used.counts["write units"],
        "DynamoDB read units": used.counts["read units"],
    }


def _timeout(game: str) -> timedelta:
    return timedelta(seconds=int(str(properties_of(game)["Timeout"])))


def main() -> None:
    """Print what 1,000 matches of each game cost, line by line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=5)
    matches = parser.parse_args().games
    for game in visited():
        say(f"{game.title}: playing {matches} games ...")
        used = measure(game, matches)
        say(
            f"  {used.requests / matches:.0f} requests a game, "
            f"{THOUSAND * used.seconds / used.requests:.2f} ms of processor time each"
        )
        thousand = {i: one * THOUSAND / matches for i, one in units(game, used).items()}
        bill = make_bill(thousand, load_prices())
        for line in bill.lines:
            say(f"  {line.item:24} {thousand[line.item]:14,.1f}  {line.full:7.3f} USD")
        say(f"  1,000 games{' ':33}{bill.full:7.3f} USD without the free tier")


if __name__ == "__main__":
    main()
