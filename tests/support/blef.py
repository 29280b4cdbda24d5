"""The Blef service in this process, and how recorded cards are read."""

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any
from urllib.parse import urlencode

from cardsharp.blef import routes_next
from cardsharp.blef.assembly import announce
from cardsharp.blef.cards import Card, Hand
from cardsharp.blef.changes import SecretChance
from cardsharp.blef.game import GAME
from cardsharp.blef.position import Position
from cardsharp.blef.routes import API
from cardsharp.blef.rules import Deal, Move, Round, max_cards
from cardsharp.blef.service import NO_AGENTS, Agents, Blef
from cardsharp.blef.simulation import dealt_anew
from cardsharp.blef.store import GAME_STORE, Games
from cardsharp.cloud import telemetry
from cardsharp.cloud.feeds import WATCHERS
from cardsharp.cloud.ports import Clock
from cardsharp.cloud.sockets import Feed, Sockets
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.web import edge
from support.cloud_benches import FakeClock
from support.games import Decides, taken
from support.recorded import table
from workbench.cloud.events import LambdaContext
from workbench.cloud.http_events import WireRequest, http_event, read_answer

TIMEOUT = timedelta(seconds=29)


@dataclass(frozen=True)
class Reply:
    """An answer as a client sees it."""

    status: int
    text: str
    headers: dict[str, str]

    @property
    def json(self) -> Any:  # noqa: ANN401 - whatever JSON came
        return json.loads(self.text)


@dataclass
class Client:
    """Asks the handler in this process, with the events that API Gateway would send."""

    store: Games
    clock: Clock = field(default_factory=FakeClock)
    chance: SecretChance = field(default_factory=SecretChance)
    base: str = API.base
    """That of today's generation is empty; both are there."""
    agents: Agents = NO_AGENTS

    def __post_init__(self) -> None:
        self.blef = Blef(self.store, self.clock, self.chance, self.agents)
        self.api = edge.build_all((API, routes_next.API), self.blef)

    def fed_into(self, sockets: Sockets) -> Feed:
        """Have what changes told to those who watch; who may watch is still to be said."""
        feed = Feed(WATCHERS.open(f"sqlite:{MEMORY}", self.clock), sockets, self.clock)
        self.blef.hear = partial(announce, feed)
        return feed

    def send(self, asked: WireRequest) -> Reply:
        event = json.loads(json.dumps(http_event(asked, self.clock.now())))
        context = LambdaContext("blef", TIMEOUT, self.clock)
        answer = read_answer(json.loads(json.dumps(self.api(event, context))))
        return Reply(answer.status, answer.body.decode(), dict(answer.headers))

    def get(self, path: str, **query: object) -> Reply:
        return self.ask("GET", path, **query)

    def ask(self, method: str, path: str, **query: object) -> Reply:
        given = {name: str(value) for name, value in query.items()}
        target = f"{self.base}{path}" + (f"?{urlencode(given)}" if given else "")
        return self.send(WireRequest(method, target))

    def post(self, path: str, body: object) -> Reply:
        headers = (("Content-Type", "application/json"),)
        return self.send(
            WireRequest("POST", f"{self.base}{path}", headers, json.dumps(body).encode())
        )

    def create(self) -> str:
        return self.get("/games/create").json["game_uuid"]

    def join(self, game: str, nickname: str) -> str:
        return self.get(f"/games/{game}/join", nickname=nickname).json["player_uuid"]

    def joined(self, players: int = 2) -> "StartedGame":
        """Return a game that can be started, by nickname the uuids of its players."""
        game = self.create()
        names = [f"p{number}" for number in range(players)]
        return StartedGame(self, game, {name: self.join(game, name) for name in names})

    def started(self, players: int = 2) -> "StartedGame":
        """The same once it has just been started."""
        made = self.joined(players)
        assert self.get(f"/games/{made.game}/start", admin_uuid=made.uuids["p0"]).status == 202
        return made


@dataclass(frozen=True)
class StartedGame:
    """A started game with all the secrets of its players."""

    client: Client
    game: str
    uuids: dict[str, str]

    def state(self, nickname: str | None = None, **query: object) -> Any:  # noqa: ANN401 - JSON
        if nickname is not None:
            query["player_uuid"] = self.uuids[nickname]
        return self.client.get(f"/games/{self.game}", **query).json

    def play(self, action: int, nickname: str | None = None) -> Reply:
        """Let the player to move, or another one, send an action."""
        mover = nickname or self.state()["cp_nickname"]
        return self.client.get(
            f"/games/{self.game}/play", player_uuid=self.uuids[mover], action_id=action
        )

    def play_out(self) -> None:
        """Play to the end: the highest bet, which hardly ever holds, and its check."""
        while self.state()["status"] == "Running":
            assert self.play(87).status == 200
            assert self.play(88).status == 200


@contextmanager
def logged() -> Iterator[io.StringIO]:
    """Yield what the function logs meanwhile."""
    handlers = {handler: handler.stream for handler in telemetry.logger.handlers}  # type: ignore[attr-defined]
    metrics = telemetry.meter.stream
    log = io.StringIO()
    telemetry.redirect(log)
    try:
        yield log
    finally:
        telemetry.meter.stream = metrics
        for handler, stream in handlers.items():
            handler.setStream(stream)  # type: ignore[attr-defined]


def memory_client(base: str = API.base, **parts: Any) -> Client:  # noqa: ANN401 - of `Client`
    """A client of a service that keeps its games in this process, under a fake clock."""
    clock = FakeClock()
    return Client(GAME_STORE.in_file(MEMORY, clock), clock, base=base, **parts)


class RecordedChance(SecretChance):
    """Chance as a recording had it; what that does not tell is real, or dealt by `rest`."""

    def __init__(self, rest: Deal | None = None) -> None:
        self._rest = rest or super().deal
        self.uuids: list[str] = []
        self.orders: dict[int, tuple[int, ...]] = {}
        self.hands: list[Hand] = []

    def uuid(self) -> str:
        return self.uuids.pop(0) if self.uuids else super().uuid()

    def seats(self, players: int) -> tuple[int, ...]:
        return self.orders.get(players) or super().seats(players)

    def deal(self, number: int) -> Hand:
        told = self.hands and len(self.hands[0]) == number
        return self.hands.pop(0) if told else self._rest(number)


def cards_of(items: Iterable[dict[str, int]]) -> list[Card]:
    """The cards of a hand in the API's JSON."""
    return [Card(item["value"], item["colour"]) for item in items]


def hands_of(state: dict[str, Any]) -> list[list[Card]]:
    """The hands that a state shows, in seating order."""
    return [cards_of(shown["hand"]) for shown in state["hands"]]


def without_nothings(body: Any) -> Any:  # noqa: ANN401 - whatever JSON came
    """A body in which the original's empty object for a missing value is None."""
    if isinstance(body, dict):
        nothing = {name for name in ("admin_nickname", "cp_nickname") if body.get(name) == {}}
        return {name: None if name in nothing else value for name, value in body.items()}
    return body


def random_round(random: Random, players: int, out: int = 0) -> Round:
    """Some round of a game with so many players, some of them out, with a few bets made."""
    most = max_cards(players)
    gone = random.sample(range(players), out)
    n_cards = tuple(0 if seat in gone else random.randint(1, most) for seat in range(players))
    left = [seat for seat in range(players) if seat not in gone]
    bets = sorted(random.sample(range(88), random.randint(0, 4)))
    history = tuple(Move(left[turn % len(left)], bet) for turn, bet in enumerate(bets))
    turn, number = left[len(bets) % len(left)], random.randint(1, 9)
    bare = Round(number, most, n_cards, ((),) * players, turn, history)
    return dealt_anew(bare, None, random)


def faced(first: str, second: str, seed: int, seats: int | None = None) -> Iterator[Position]:
    """What whoever sits first sees where it is to act, in a game between those strategies."""
    players = [Decides(GAME, name, seed, seats) for name in (first, second)]
    simulation = players[0].simulation
    for note in taken(simulation.deal(Random(seed)), players, Random(seed))[:-1]:
        if simulation.to_act(note.state) == 0:
            yield simulation.position(note.state)


class Decisions:
    """Where we answer otherwise than the original on purpose: which cases, with what, and why.

    A table of `tests/samples` lists them; noted is which of them are `needed`.
    """

    def __init__(self, name: str) -> None:
        self.listed = {case: one for one in table(name)["decision"] for case in one["cases"]}
        self.needed: set[str] = set()

    def agree(self, case: str, reply: Reply, told: Mapping[str, object]) -> bool:
        """Whether this is what is listed; its error may have words in braces, which are `told`."""
        listed = self.listed.get(case)
        if listed is None:
            return False
        self.needed.add(case)
        error = "error" not in listed or reply.json["error"] == listed["error"].format(**told)
        return bool(error and reply.status == listed.get("status", 400))
