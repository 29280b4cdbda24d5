"""What the Blef service costs, beside the original's figures of `perf_reference_cpu.json`.

    python -m workbench.bench.blef_bench cpu      CPU time a request, with and without its storage
    python -m workbench.bench.blef_bench game     a whole random game through the local HTTP front
    python -m workbench.bench.blef_bench crowd    list and counts with more and more private games

CPU time is that of the process, so it compares between runs better than the clock's; the
original's was measured on its own machine, so only the order of the ratio means something.
"""

import http.client
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any

import cyclopts
from rich.console import Console
from rich.table import Table

from cardsharp.blef.assembly import STORES, build_service
from cardsharp.blef.game import GAME
from cardsharp.blef.records import GameRecord
from cardsharp.blef.routes import API
from cardsharp.blef.rules import legal_actions
from cardsharp.blef.service import Blef
from cardsharp.blef.sqlite import SqliteGames
from cardsharp.blef.store import GameStore
from cardsharp.blef.wire import parse_state, position_in
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.web import edge
from cardsharp.web.events import Handler as Answering
from workbench.bench.measuring import Spent, counted
from workbench.cloud.context import LambdaContext
from workbench.cloud.http_events import WireRequest, http_event
from workbench.stage.serving import EMULATOR, IN_MEMORY, TIMEOUT, front, kept

ORIGINAL = {
    "create": 9.27,
    "join": 4.13,
    "state, own hand": 13.33,
    "state, observer": 4.4,
    "bet": 10.47,
    "check": 9.0,
    "state, past round": 16.2,
    "list": 64.0,
    "active": 13.5,
}
"""CPU milliseconds a request of the original: `perf_reference_cpu.json`, 150 requests each.

The join is that of a second player, the list that over 1,164 games.
"""

ORIGINAL_GAME = timedelta(seconds=4.8)
"""Wall time of a whole random game of two with the original, by the same file."""

REQUESTS = 400
app = cyclopts.App(help=__doc__, help_format="plaintext")
console = Console(highlight=False)


@dataclass(frozen=True)
class Handler:
    """The function's handler in this process, asked without HTTP."""

    api: Answering
    clock: SystemClock

    def event(self, path: str, **query: str) -> dict[str, Any]:
        """The event of a request."""
        given = "&".join(f"{name}={value}" for name, value in query.items())
        return http_event(WireRequest("GET", f"/v2{path}?{given}"), self.clock.now())

    def answer(self, event: dict[str, Any]) -> dict[str, Any]:
        """The function's answer."""
        return self.api(event, LambdaContext("blef", TIMEOUT, self.clock))

    def ask(self, path: str, **query: str) -> Any:  # noqa: ANN401 - whatever JSON came
        """The body of an answer."""
        answer = self.answer(self.event(path, **query))
        if answer["statusCode"] >= http.HTTPStatus.BAD_REQUEST:
            raise RuntimeError(f"{path} was answered {answer['statusCode']}: {answer['body']}")
        return json.loads(answer["body"])

    def started(self) -> tuple[str, dict[str, str]]:
        """A running game of two, and the uuids of its players."""
        game, admin = self.waiting()
        other = self.ask(f"/games/{game}/join", nickname="bob")["player_uuid"]
        self.ask(f"/games/{game}/start", admin_uuid=admin)
        return game, {"ann": admin, "bob": other}

    def waiting(self) -> tuple[str, str]:
        """A game with one player, and the player's uuid."""
        game = self.ask("/games/create")["game_uuid"]
        return game, self.ask(f"/games/{game}/join", nickname="ann")["player_uuid"]

    def move(self, game: str, uuids: dict[str, str], action: int) -> dict[str, Any]:
        """The event of an action of the player to move."""
        mover = uuids[self.ask(f"/games/{game}")["cp_nickname"]]
        return self.event(f"/games/{game}/play", player_uuid=mover, action_id=str(action))


def _cases(handler: Handler) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The name of each case and its events; each is made when the one before is done."""
    many = range(REQUESTS)
    yield "create", [handler.event("/games/create") for _ in many]
    rooms = [handler.waiting()[0] for _ in many]
    yield "join", [handler.event(f"/games/{room}/join", nickname="bob") for room in rooms]
    games = [handler.started() for _ in many]
    yield "bet", [handler.move(game, uuids, 7) for game, uuids in games]
    game, uuids = games[0]
    yield "state, own hand", [handler.event(f"/games/{game}", player_uuid=uuids["ann"])] * REQUESTS
    yield "state, observer", [handler.event(f"/games/{game}")] * REQUESTS
    yield "check", [handler.move(game, uuids, 88) for game, uuids in games]
    yield "state, past round", [handler.event(f"/games/{game}", round="1")] * REQUESTS
    for number in range(20):
        room, admin = handler.waiting()
        handler.ask(f"/games/{room}/make-public", admin_uuid=admin)
        if number == 0:
            yield "active", [handler.event("/games/active")] * REQUESTS
    yield "list", [handler.event("/games")] * REQUESTS


@app.command
def cpu() -> None:
    """CPU milliseconds a request in the handler, over the embedded store in memory."""
    clock = SystemClock()
    spent = Spent()
    handler = Handler(
        edge.build(API, Blef(counted(SqliteGames(MEMORY, clock), spent), clock)), clock
    )
    table = Table("request", "handler alone", "with storage", "original", "ratio", box=None)
    for name, events in _cases(handler):
        for event in events[:20]:
            if name.startswith(("state", "active", "list")):
                handler.answer(event)
        stored, began = spent.seconds, time.process_time()
        for event in events:
            handler.answer(event)
        whole = (time.process_time() - began) * 1000 / len(events)
        alone = whole - (spent.seconds - stored) * 1000 / len(events)
        figures = [f"{alone:.3f} ms", f"{whole:.3f} ms", f"{ORIGINAL[name]:.2f} ms"]
        table.add_row(name, *figures, f"{ORIGINAL[name] / whole:.0f} x")
    console.print(table)
    console.print("aim: own hand and bet at most 1.3 ms in the handler, a tenth of the original")


class Connection:
    """One kept connection to a front, as a lean client has."""

    def __init__(self, url: str) -> None:
        self._http = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
        self.requests = 0

    def get(self, path: str) -> bytes:
        """The body of an answer; raises RuntimeError if it is none of success."""
        self.requests += 1
        self._http.request("GET", f"/v2{path}")
        answer = self._http.getresponse()
        body = answer.read()
        if answer.status >= http.HTTPStatus.BAD_REQUEST:
            raise RuntimeError(f"{path} was answered {answer.status}: {body!r}")
        return body

    def close(self) -> None:
        """Hang up."""
        self._http.close()


def _play(line: Connection, random: Random) -> int:
    """Play a random game of two, looking before each move; the number of moves."""
    game = json.loads(line.get("/games/create"))["game_uuid"]
    uuids = {
        name: json.loads(line.get(f"/games/{game}/join?nickname={name}"))["player_uuid"]
        for name in ("ann", "bob")
    }
    line.get(f"/games/{game}/start?admin_uuid={uuids['ann']}")
    mover, moves = parse_state(line.get(f"/games/{game}")).cp_nickname, 0
    while mover is not None:
        state = parse_state(line.get(f"/games/{game}?player_uuid={uuids[mover]}"))
        if state.cp_nickname != mover:
            mover = state.cp_nickname
            continue
        position = position_in(state, mover)
        if position is None:
            raise RuntimeError("The game has not started.")
        action = random.choice(legal_actions(position.round()))
        line.get(f"/games/{game}/play?player_uuid={uuids[mover]}&action_id={action}")
        moves += 1
        mover = "bob" if mover == "ann" else "ann"
    return moves


@app.command
def game(games: int = 5, *, emulated: bool = False, seed: int = 1) -> None:
    """Wall time of whole random games of two, on the embedded or the emulated store."""
    random = Random(seed)
    with kept(GAME, EMULATOR if emulated else IN_MEMORY) as variables:
        _games(build_service(variables), games, random)


def _games(blef: Blef, games: int, random: Random) -> None:
    with front(API, blef) as running:
        line = Connection(running.url)
        for _ in range(games):
            line.requests, began = 0, time.perf_counter()
            moves = _play(line, random)
            taken = time.perf_counter() - began
            console.print(f"{moves} moves, {line.requests} requests: {taken:.2f} s")
        line.close()
    console.print(f"original: {ORIGINAL_GAME.total_seconds()} s; aim: less than 1 s")


@app.command
def crowd(most: int = 10_000, *, emulated: bool = False) -> None:
    """Wall milliseconds of list and active count with 10, 100, … private games."""
    with kept(GAME, EMULATOR if emulated else IN_MEMORY) as variables:
        _crowd(STORES.open(variables[STORES.variable], SystemClock()), most)


def _crowd(store: GameStore, most: int) -> None:
    clock = SystemClock()
    blef = Blef(store, clock)
    made, size = 0, 10
    while size <= most:
        while made < size:
            store.create(GameRecord(f"{made:08}-0000-4000-8000-000000000000", clock.now()))
            made += 1
        listed, active = _milliseconds(blef.listed), _milliseconds(blef.count_active)
        console.print(f"{size:6} private games: list {listed:.2f} ms, active {active:.2f} ms")
        size *= 10


def _milliseconds(request: Callable[[], object], times: int = 20) -> float:
    began = time.perf_counter()
    for _ in range(times):
        request()
    return (time.perf_counter() - began) * 1000 / times


if __name__ == "__main__":
    app()
