"""Blef service in this process, and parsers for recorded cards."""

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

from requests.structures import CaseInsensitiveDict

from cardsharp.aws import telemetry
from cardsharp.core.clock import Clock
from cardsharp.games.blef.cards import BlefCard, Hand
from cardsharp.games.blef.game import GAME
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.rules import DealHand, Round, RoundMove, max_cards
from cardsharp.games.blef.service import routes_v2022
from cardsharp.games.blef.service.bootstrap import publish_change
from cardsharp.games.blef.service.game_changes import SecureRandomness
from cardsharp.games.blef.service.game_store import GAME_STORE_FACTORY, GameStore
from cardsharp.games.blef.service.routes import API
from cardsharp.games.blef.service.service import NO_BOTS, BlefService, InvitableBots
from cardsharp.games.blef.simulation import resample_hidden_hands
from cardsharp.server.api_application import build_application
from cardsharp.server.feed_bootstrap import SUBSCRIBER_STORE
from cardsharp.server.lambda_adapter import lambda_handler_for_asgi
from cardsharp.server.websocket_feed import Feed, WebSocketConnections
from cardsharp.store.sqlite_file import MEMORY_PATH
from cardsharp_tools.local_cloud.api_gateway_events import HttpRequest, parse_response, to_event
from cardsharp_tools.local_cloud.api_gateway_events import HttpResponse as ParsedResponse
from cardsharp_tools.local_cloud.lambda_events import LocalLambdaContext
from support.games import SimulationPlayer, play_to_end
from support.recordings import sample_table
from support.store_fixtures import FakeClock

TIMEOUT = timedelta(seconds=29)


@dataclass(frozen=True)
class BlefResponse:
    """Response as a client sees it."""

    status: int
    text: str
    headers: CaseInsensitiveDict[str]

    @property
    def json(self) -> Any:  # noqa: ANN401 - whatever JSON came
        return json.loads(self.text)


def client_view(answer: ParsedResponse) -> BlefResponse:
    """Return a function's answer as a client sees it."""
    return BlefResponse(answer.status, answer.body.decode(), CaseInsensitiveDict(answer.headers))


@dataclass
class BlefHandlerClient:
    """Client that calls the handler in this process with the events of API Gateway."""

    store: GameStore
    clock: Clock = field(default_factory=FakeClock)
    chance: SecureRandomness = field(default_factory=SecureRandomness)
    base: str = API.base_path
    """That of today's generation is empty; both are there."""
    agents: InvitableBots = NO_BOTS

    def __post_init__(self) -> None:
        self.blef = BlefService(self.store, self.clock, self.chance, self.agents)
        self.api = lambda_handler_for_asgi(build_application((API, routes_v2022.API), self.blef))

    def with_feed(self, sockets: WebSocketConnections) -> Feed:
        """Connect a feed that publishes changes to subscribers; there are none at first."""
        feed = Feed(SUBSCRIBER_STORE.open(f"sqlite:{MEMORY_PATH}", self.clock), sockets, self.clock)
        self.blef.on_change = partial(publish_change, feed)
        return feed

    def send(self, request: HttpRequest) -> BlefResponse:
        event = json.loads(json.dumps(to_event(request, self.clock.now())))
        context = LocalLambdaContext("blef", TIMEOUT, self.clock)
        response = parse_response(json.loads(json.dumps(self.api(event, context))))
        return client_view(response)

    def get(self, path: str, **query: object) -> BlefResponse:
        return self.request("GET", path, **query)

    def request(self, method: str, path: str, **query: object) -> BlefResponse:
        params = {name: str(value) for name, value in query.items()}
        target = f"{self.base}{path}" + (f"?{urlencode(params)}" if params else "")
        return self.send(HttpRequest(method, target))

    def post(self, path: str, body: object) -> BlefResponse:
        headers = (("Content-Type", "application/json"),)
        return self.send(
            HttpRequest("POST", f"{self.base}{path}", headers, json.dumps(body).encode())
        )

    def create(self) -> str:
        return self.get("/games/create").json["game_uuid"]

    def join(self, game: str, nickname: str) -> str:
        return self.get(f"/games/{game}/join", nickname=nickname).json["player_uuid"]

    def create_with_players(self, players: int = 2) -> "StartedBlefGame":
        """Create a game that can be started; return it with its players' uuids."""
        game = self.create()
        names = [f"p{number}" for number in range(players)]
        return StartedBlefGame(self, game, {name: self.join(game, name) for name in names})

    def create_and_start(self, players: int = 2) -> "StartedBlefGame":
        """Create a game and start it."""
        game = self.create_with_players(players)
        assert self.get(f"/games/{game.game_id}/start", admin_uuid=game.uuids["p0"]).status == 202
        return game


@dataclass(frozen=True)
class StartedBlefGame:
    """Game with all the secrets of its players, by nickname."""

    client: BlefHandlerClient
    game_id: str
    uuids: dict[str, str]

    def state(self, nickname: str | None = None, **query: object) -> Any:  # noqa: ANN401 - JSON
        if nickname is not None:
            query["player_uuid"] = self.uuids[nickname]
        return self.client.get(f"/games/{self.game_id}", **query).json

    def play(self, action: int, nickname: str | None = None) -> BlefResponse:
        """Let the player to move, or another player, send an action."""
        player = nickname or self.state()["cp_nickname"]
        return self.client.get(
            f"/games/{self.game_id}/play", player_uuid=self.uuids[player], action_id=action
        )

    def play_to_end(self) -> None:
        """Play to the end: always the highest bet, which hardly ever holds, and its check."""
        while self.state()["status"] == "Running":
            assert self.play(87).status == 200
            assert self.play(88).status == 200


@contextmanager
def capture_log() -> Iterator[io.StringIO]:
    """Yield the log of the function while the block runs."""
    handlers = {handler: handler.stream for handler in telemetry.logger.handlers}  # type: ignore[attr-defined]
    metrics = telemetry.metrics_recorder.stream
    log = io.StringIO()
    telemetry.redirect_logs_and_metrics(log)
    try:
        yield log
    finally:
        telemetry.metrics_recorder.stream = metrics
        for handler, stream in handlers.items():
            handler.setStream(stream)  # type: ignore[attr-defined]


def memory_client(base: str = API.base_path, **overrides: Any) -> BlefHandlerClient:  # noqa: ANN401 - of `Client`
    """Return a client of a service that stores its games in memory, with a fake clock."""
    clock = FakeClock()
    return BlefHandlerClient(
        GAME_STORE_FACTORY.open_file(MEMORY_PATH, clock), clock, base=base, **overrides
    )


class RecordedRandomness(SecureRandomness):
    """Randomness with recorded values; other values are random, or dealt by `fallback`."""

    def __init__(self, fallback: DealHand | None = None) -> None:
        self._fallback_deal = fallback or super().deal
        self.uuids: list[str] = []
        self.orders: dict[int, tuple[int, ...]] = {}
        self.hands: list[Hand] = []

    def uuid(self) -> str:
        return self.uuids.pop(0) if self.uuids else super().uuid()

    def random_seating_indexes(self, players: int) -> tuple[int, ...]:
        return self.orders.get(players) or super().random_seating_indexes(players)

    def deal(self, deal_index: int) -> Hand:
        is_recorded = self.hands and len(self.hands[0]) == deal_index
        return self.hands.pop(0) if is_recorded else self._fallback_deal(deal_index)


def parse_cards(items: Iterable[dict[str, int]]) -> list[BlefCard]:
    """Return the cards of a hand in the API's JSON."""
    return [BlefCard(item["value"], item["colour"]) for item in items]


def parse_hands(state: dict[str, Any]) -> list[list[BlefCard]]:
    """Return the visible hands of a state, in seating order."""
    return [parse_cards(hand["hand"]) for hand in state["hands"]]


def empty_objects_as_none(body: Any) -> Any:  # noqa: ANN401 - whatever JSON came
    """Return a body with None in place of the original's empty object for a missing value."""
    if isinstance(body, dict):
        empty_fields = {name for name in ("admin_nickname", "cp_nickname") if body.get(name) == {}}
        return {name: None if name in empty_fields else value for name, value in body.items()}
    return body


def random_round(random: Random, players: int, eliminated: int = 0) -> Round:
    """Return a random round of that many players, some of them eliminated, with a few bets."""
    max_hand_size = max_cards(players)
    eliminated_seats = random.sample(range(players), eliminated)
    n_cards = tuple(
        0 if seat in eliminated_seats else random.randint(1, max_hand_size)
        for seat in range(players)
    )
    active_seats = [seat for seat in range(players) if seat not in eliminated_seats]
    bets = sorted(random.sample(range(88), random.randint(0, 4)))
    history = tuple(
        RoundMove(active_seats[turn % len(active_seats)], bet) for turn, bet in enumerate(bets)
    )
    turn, round_number = active_seats[len(bets) % len(active_seats)], random.randint(1, 9)
    round_without_cards = Round(
        round_number, max_hand_size, n_cards, ((),) * players, turn, history
    )
    return resample_hidden_hands(round_without_cards, None, random)


def positions_of_first_seat(
    first: str, second: str, seed: int, seats: int | None = None
) -> Iterator[BlefPosition]:
    """Yield the positions in which the first seat acts, in a game between these strategies."""
    players = [SimulationPlayer(GAME, name, seed, seats) for name in (first, second)]
    simulation = players[0].simulation
    for played_action in play_to_end(simulation.initial_state(Random(seed)), players, Random(seed))[
        :-1
    ]:
        if simulation.current_seat(played_action.state) == 0:
            yield simulation.current_position(played_action.state)


class IntendedDifferences:
    """Intended differences from the original: their cases, our answers, and the reasons.

    A table of `tests/samples` lists them; `used_cases` collects the cases that occurred.
    """

    def __init__(self, name: str) -> None:
        self.decisions = {
            case: decision
            for decision in sample_table(name)["decision"]
            for case in decision["cases"]
        }
        self.used_cases: set[str] = set()

    def accepts(self, case: str, reply: BlefResponse, variables: Mapping[str, object]) -> bool:
        """Return True if the reply is the listed one; `variables` fill the braces of its error."""
        expected = self.decisions.get(case)
        if expected is None:
            return False
        self.used_cases.add(case)
        has_expected_error = "error" not in expected or reply.json["error"] == expected[
            "error"
        ].format(**variables)
        return bool(has_expected_error and reply.status == expected.get("status", 400))
