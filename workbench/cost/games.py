"""What games of Blef and Euchre cost: `python -m workbench.cost.games [--games N]`.

The real handlers answer random games, at the emulator's table, which reckons units by AWS's
rules. What is billed of a request is reckoned: the processor time of its handler on this machine,
longer where the function has only a part of a processor, and a wait for each request to the table.
"""

import argparse
import io
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from random import Random
from typing import Any
from urllib.parse import urlencode

from cardsharp.blef.api import build_api as blef_api
from cardsharp.blef.rules import legal_actions
from cardsharp.blef.wire import parse_state, position_in
from cardsharp.blef.wiring import build_service as blef_service
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.telemetry import redirect
from cardsharp.errors import CardsharpError
from cardsharp.euchre.api import build_api as euchre_api
from cardsharp.euchre.wiring import build_service as euchre_service
from workbench.build.say import say
from workbench.cloud.context import Function, Handler, LambdaContext
from workbench.cloud.emulator import Emulator
from workbench.cloud.events import Event
from workbench.cloud.http_events import Asked, http_event
from workbench.cloud.http_front import HttpFront
from workbench.cloud.template import TEMPLATE, load_template
from workbench.cost.bill import make_bill
from workbench.cost.measure import PLATFORM_BYTES
from workbench.cost.meter import UseMeter
from workbench.cost.prices import load_prices
from workbench.euchre.coordinator import play_game
from workbench.euchre.home import TIMEOUT
from workbench.euchre.remote import RemotePlayer
from workbench.stage.surroundings import environment

ACCESS_BYTES = 200
"""What the access log has of a request."""

TABLE_SECONDS = 0.005
"""A request to the table, assumed."""

WHOLE_PROCESSOR = 1769
"""Megabytes with which a function has a whole processor."""

THOUSAND = 1000
_TABLES = {"Blef": "BlefGames", "Euchre": "EuchreDeals"}
_REFUSED = 400


class Timed:
    """A handler, how often it was called and the processor time that it took."""

    def __init__(self, handler: Handler) -> None:
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


def play_blef(function: Function, random: Random) -> None:
    """A random game of two who look before each move."""
    clock = SystemClock()

    def get(path: str, **query: object) -> str:
        event = http_event(Asked("GET", f"/v2/games{path}?{urlencode(query)}"), clock.now())
        answer: Any = function.handler(event, function.context(clock))
        if answer["statusCode"] >= _REFUSED:
            raise CardsharpError(f"{path} was answered {answer['statusCode']}: {answer['body']}")
        return str(answer["body"])

    game = json.loads(get("/create"))["game_uuid"]
    names = ("ann", "bob")
    keys = {n: json.loads(get(f"/{game}/join", nickname=n))["player_uuid"] for n in names}
    get(f"/{game}/start", admin_uuid=keys["ann"])
    mover = parse_state(get(f"/{game}").encode()).cp_nickname
    while mover is not None:
        state = parse_state(get(f"/{game}", player_uuid=keys[mover]).encode())
        position = position_in(state, mover)
        if state.cp_nickname != mover or position is None:
            mover = state.cp_nickname
            continue
        action = random.choice(legal_actions(position.round()))
        get(f"/{game}/play", player_uuid=keys[mover], action_id=action)


def play_euchre(function: Function, random: Random) -> None:
    """A game that the service plays at all four seats."""
    with HttpFront(function) as front, RemotePlayer(front.url) as player:
        play_game((player, player, player, player), random)


_GAMES: Mapping[str, tuple[Callable[[], Handler], Callable[[Function, Random], None]]] = {
    "Blef": (lambda: blef_api(blef_service(os.environ)).resolve, play_blef),
    "Euchre": (lambda: _without_context(euchre_api(euchre_service(os.environ))), play_euchre),
}


def _without_context(answer: Callable[[Event], object]) -> Handler:
    return lambda event, _context: answer(event)


@contextmanager
def _emulated() -> Iterator[UseMeter]:
    """The tables of the games in an emulator, named as the services look for them."""
    with Emulator() as emulator, UseMeter() as uses:
        made = emulator.create(TEMPLATE)
        stores = {
            f"{game.upper()}_STORE": f"dynamodb:{made.tables[table]}"
            for game, table in _TABLES.items()
        }
        with environment({**emulator.environment, **stores}):
            yield uses


def measure(game: str, games: int) -> dict[str, float]:
    """What so many games used, by the names of the price list."""
    make, play = _GAMES[game]
    logged = io.StringIO()
    redirect(logged)
    with _emulated() as uses:
        timed = Timed(make())
        function = Function(game, timed, TIMEOUT)
        for seed in range(games):
            play(function, Random(seed))
        counts = uses.counts
    written = len(logged.getvalue().encode()) + timed.requests * (PLATFORM_BYTES + ACCESS_BYTES)
    memory = _memory(game)
    waits = TABLE_SECONDS * sum(n for name, n in counts.items() if name.startswith("dynamodb."))
    seconds = timed.seconds * max(1, WHOLE_PROCESSOR / memory) + waits
    return {
        "Lambda GB-seconds arm64": seconds * memory / 1024,
        "Lambda requests": timed.requests,
        "HTTP API requests": timed.requests,
        "DynamoDB write units": counts["write units"],
        "DynamoDB read units": counts["read units"],
        "Logs GB written": written / 1e9,
    }


def _memory(game: str) -> int:
    return int(load_template(TEMPLATE)["Parameters"][f"{game}Memory"]["Default"])


def main() -> None:
    """Print what 1,000 games of each cost, line by line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=5)
    games = parser.parse_args().games
    for name in _GAMES:
        say(f"{name}: playing {games} games ...")
        used = measure(name, games)
        thousand = {item: units * THOUSAND / games for item, units in used.items()}
        bill = make_bill(thousand, load_prices())
        for line in bill.lines:
            say(f"  {line.item:24} {thousand[line.item]:14,.1f}  {line.full:7.3f} USD")
        say(f"  1,000 games{' ':33}{bill.full:7.3f} USD without the free tier")


if __name__ == "__main__":
    main()
