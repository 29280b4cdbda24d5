"""Hosted games in the fault simulation: the real service in this process, and a rival."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import requests
from fault_simulation.transport import LIMITS, SimulatedServer, WorkerEnvironment, invoke_handler
from fault_simulation.virtual_clock import VirtualClock

from cardsharp.bot.bot_match import OpenMatch
from cardsharp.bot.match_dispatcher import MatchDispatcher
from cardsharp.bot.service_seats import JoinGameOrder, find_seat, join_and_dispatch
from cardsharp.server.api_application import build_application
from cardsharp.server.hosted.bot_match import HostedGameClient, build_seat_match
from cardsharp.server.hosted.game_store import HostedGameRecord, HostedGameStore
from cardsharp.server.hosted.hosted_game import HostedGame
from cardsharp.server.hosted.routes import build_api
from cardsharp.server.hosted.service import HostedService
from cardsharp.server.hosted.wire import (
    NO_GAME,
    ActParams,
    GetGameParams,
    JoinGameParams,
)
from cardsharp.server.lambda_adapter import lambda_handler_for_asgi
from cardsharp.store.match_log import Body, MatchLog
from cardsharp.store.sqlite_documents import SqliteDocumentStore
from cardsharp.store.sqlite_file import MEMORY_PATH
from cardsharp_tools.local_cloud.api_gateway_events import HttpResponse

BOT_SECRET, RIVAL_SECRET = (f"00000000-0000-4000-8000-00000000000{number}" for number in (1, 2))
GAME_ID = "0" * 32


def one_hour() -> timedelta:
    return timedelta(hours=1)


def hosted_servers(
    folders: Iterable[str],
) -> Mapping[str, Callable[[Path, VirtualClock], SimulatedServer]]:
    """Return the simulated servers of the hosted games in these folders, by the games' names."""
    hosted_games = [HostedGame(folder) for folder in folders]
    server_classes = [
        type(
            "Place",
            (SimulatedHostedServer,),
            {"hosted_game": hosted_game, "game": hosted_game.game.name},
        )
        for hosted_game in hosted_games
    ]
    return {server_class.game: server_class for server_class in server_classes}


class SeatedGameServer:
    """Common part of the simulated servers where the bot is ordered to take a seat."""

    game: str
    seat_order: JoinGameOrder
    secrets: Sequence[str]

    def order_match(self, environment: WorkerEnvironment, dispatcher: MatchDispatcher) -> None:
        join_and_dispatch(
            self.game, self.seat_order, self.secrets[0], environment.vault, dispatcher
        )

    def poll(self, _environment: WorkerEnvironment, dispatcher: MatchDispatcher) -> None:
        dispatcher.dispatch_unattended()

    def announced_matches(self) -> tuple[str, ...]:
        return ()

    def request_kind(self, request: requests.PreparedRequest) -> str:
        if request.method == "POST":
            return "join" if str(request.url).endswith("/join") else "act"
        return "wait" if "wait=" in str(request.url) else "view"


class SimulatedHostedServer(SeatedGameServer):
    """Service with one game, whose first player is the bot."""

    not_found_response = (404, NO_GAME)
    secrets: Sequence[str] = (BOT_SECRET,)

    hosted_game: HostedGame
    game: str

    def __init__(self, folder: Path, clock: VirtualClock) -> None:
        del folder
        self.clock, hosted_game = clock, self.hosted_game
        self.rules = hosted_game.build_rules()
        self.service = HostedService(
            hosted_game, HostedGameStore(SqliteDocumentStore(MEMORY_PATH, clock), clock), clock
        )
        self.api = lambda_handler_for_asgi(
            build_application((build_api(hosted_game),), self.service)
        )
        start = self.hosted_game.json_codecs.states.dump(self._suitable_initial_state())
        self.service.store.write(HostedGameRecord(GAME_ID, self.rules.seats, start, start))
        self.seat_order = JoinGameOrder(
            url=f"https://{hosted_game.game.name}.example",
            game=GAME_ID,
            nickname="ann",
            strategy=hosted_game.game.default_strategy,
        )
        self.match_id = self.seat_order.match_id

    def _suitable_initial_state(self) -> Any:  # noqa: ANN401 - any game's state
        """Return the first initial state in which the bot acts more than once."""
        for seed in range(1000):
            state = start = self.rules.initial_state(Random(seed))
            player = self.rules.strategies.build(self.hosted_game.game.default_strategy, Random(1))
            action_count = 0
            while (seat := self.rules.current_seat(state)) is not None:
                action_count += seat == 0
                action = (
                    player.decide(self.rules.current_position(state)).action if not seat else None
                )
                action = action or self.rules.legal_actions(state)[-1]
                state = self.rules.apply_action(state, action, Random(1))
            if action_count > 1:
                return start
        raise AssertionError("we never act twice")

    def close(self) -> None:
        """Do nothing: no resources are held."""

    def connect_bot(self, environment: WorkerEnvironment) -> OpenMatch:
        @contextmanager
        def open_match(name: str) -> Iterator[Any]:
            seat = find_seat(environment.vault, name)
            with HostedGameClient(seat.url, LIMITS) as client:
                attached_client = environment.attach(client)
                yield build_seat_match(self.hosted_game.folder, seat, attached_client, Random(1))

        return open_match

    def handle_request(self, request: requests.PreparedRequest) -> HttpResponse:
        if self.request_kind(request) == "wait":
            self.play_rival()
        return invoke_handler(self.api, request, self.clock)

    def play_rival(self) -> None:
        """Let the rival take the second seat, or play its last legal action."""
        record = self._game_record()
        if len(record.players) == 1:
            self.service.join(JoinGameParams(game=GAME_ID, name="bob", secret=RIVAL_SECRET))
        state = self.server_state()
        if self.rules.current_seat(state) == 1:
            action = self.rules.legal_actions(state)[-1]
            action_json = self.hosted_game.json_codecs.actions.dump(action)
            params = ActParams(
                game=GAME_ID, secret=RIVAL_SECRET, number=record.move_count, action=action_json
            )
            self.service.act(params)

    @property
    def sequence(self) -> int:
        return self._game_record().move_count

    def server_state(self) -> Any:  # noqa: ANN401 - any game's state
        return self.hosted_game.json_codecs.states.load(self._game_record().state)

    def action_errors(self, server_state: Any, sent: Any, intent: Body) -> Iterable[str]:  # noqa: ANN401
        position = self.hosted_game.json_codecs.positions.dump(
            self.rules.position_for(server_state, 0)
        )
        if intent["position"] != position:
            yield f"thought {intent['position']}, was {position}"
        action = str(self.hosted_game.json_codecs.actions.load(sent["action"]))
        if intent["action"] != action:
            yield f"{intent['action']} was meant and {action} was played"

    def history(self) -> dict[int, Body]:
        params = GetGameParams(game=GAME_ID, secret=BOT_SECRET)
        game_view = self.service.get_game(params, one_hour)
        return {number: move.model_dump() for number, move in enumerate(game_view.moves)}

    def bot_moves(self) -> list[int]:
        return [number for number, move in self.history().items() if move["seat"] == 0]

    def violations(self, log: MatchLog) -> Iterable[str]:
        record, state = log.match(self.match_id), self.server_state()
        if self.rules.current_seat(state) is not None or record is None or record.outcome is None:
            yield "the game did not end"
        elif record.outcome["gains"] != list(self.rules.returns(state)):
            yield f"{self.rules.returns(state)} was won, and the log has {record.outcome}"

    def _game_record(self) -> HostedGameRecord:
        return self.service.store.find(GAME_ID)
