"""Blef in the fault simulation: the real service in this process, and one short game."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import requests
from fault_simulation.transport import LIMITS, WorkerEnvironment, invoke_handler

from cardsharp.bot.bot_match import OpenMatch
from cardsharp.core.clock import Clock
from cardsharp.games.blef.actions import CHECK, LOST_MARKER, action_name
from cardsharp.games.blef.bot.client import BlefClient
from cardsharp.games.blef.bot.seat_match import BlefJoinGameOrder, open_match
from cardsharp.games.blef.cards import DECK, sort_hand
from cardsharp.games.blef.game import GAME
from cardsharp.games.blef.history.log_records import SEQUENCES_PER_ROUND
from cardsharp.games.blef.rules import Round
from cardsharp.games.blef.service.game_changes import SecureRandomness
from cardsharp.games.blef.service.game_store import GAME_STORE_FACTORY
from cardsharp.games.blef.service.records import GameRecord
from cardsharp.games.blef.service.request_params import NO_GAME
from cardsharp.store.match_log import Body, MatchLog
from cardsharp.store.sqlite_file import MEMORY_PATH
from cardsharp_tools.local_cloud.api_gateway_events import HttpResponse
from support.blef_service import BlefHandlerClient, parse_cards
from support.simulated_hosted_server import SeatedGameServer

SERVICE = "https://blef.example"
NAME = "ours"
OPPONENT = "rival"
SECRET = UUID("00000000-0000-4000-8000-00000000cafe")


@dataclass
class SimulatedBlefServer(SeatedGameServer):
    """A service with one game.

    The game is short: right after its start both players hold so many cards that the player who
    loses the next round, or the one after it, is out.
    """

    folder: Path
    clock: Clock
    allows_chosen_uuid: bool = True
    """Whether the service lets a player choose the uuid by which it is known."""

    game = GAME.name
    not_found_response = (400, NO_GAME)
    secrets: Sequence[str] = (str(SECRET),)

    def __post_init__(self) -> None:
        self.games = GAME_STORE_FACTORY.open_file(MEMORY_PATH, self.clock)
        self.client = BlefHandlerClient(self.games, self.clock, SecureRandomness(Random(4)))
        self.table = self.client.create()
        self.rival = self.client.join(self.table, OPPONENT)
        self.dice = Random(1)
        order = {"url": SERVICE, "game": self.table, "nickname": NAME, "strategy": "greedy"}
        self.seat_order = BlefJoinGameOrder.model_validate(order)
        self.match_id = self.seat_order.match_id

    def close(self) -> None:
        self.games.close()

    def connect_bot(self, environment: WorkerEnvironment) -> OpenMatch:
        @contextmanager
        def connect(url: str) -> Iterator[BlefClient]:
            with BlefClient(url, LIMITS) as client:
                yield environment.attach(client)

        return partial(open_match, connect, environment.vault, self.clock)

    def handle_request(self, request: requests.PreparedRequest) -> HttpResponse:
        if not self.allows_chosen_uuid and self.request_kind(request) == "join":
            request = request.copy()
            request.prepare_body(b"", None, {"nickname": NAME})
        return invoke_handler(self.client.api, request, self.clock)

    def play_rival(self) -> str:
        """Start the game as soon as the bot has joined, or move for the rival.

        Return the status before that.
        """
        state = self.state()
        if state["status"] == "Not started" and len(state["players"]) > 1:
            self.client.post(f"/games/{self.table}/start", {"admin_uuid": self.rival})
            self._shorten()
        elif state["cp_nickname"] == OPPONENT:
            last = state["history"][-1]["action_id"] if state["history"] else None
            action = CHECK if last is not None and last > 20 else (last or 0) + 7
            body = {"player_uuid": self.rival, "action_id": action}
            assert self.client.post(f"/games/{self.table}/play", body).status == 200
        return str(state["status"])

    def state(self, **query: object) -> Any:  # noqa: ANN401 - JSON
        return self.client.get(f"/games/{self.table}", **query).json

    @property
    def sequence(self) -> int:
        live = self.server_state().round
        return 0 if live is None else SEQUENCES_PER_ROUND * live.number + len(live.history)

    def server_state(self) -> GameRecord:
        return self.games.read(self.table).game

    def action_errors(self, server_state: GameRecord, sent: Any, intent: Body) -> Iterable[str]:  # noqa: ANN401
        live = server_state.round
        state = {
            "actionId": sent["action_id"],
            "seat": live.turn,
            "hand": [str(card) for card in live.hands[live.turn]],
            "cards": list(live.n_cards),
            "history": [[move.seat, action_name(move.action)] for move in live.history],
        }
        for key, value in state.items():
            if intent.get(key) != value:
                yield f"{key}: thought {intent.get(key)}, was {value}"

    def history(self) -> dict[int, Body]:
        """Return the facts of all moves; the last move of a round reveals both hands."""
        facts: dict[int, Body] = {}
        for number in range(1, self.state()["round_number"] + 1):
            past = self.state(round=number)
            hands = {s["nickname"]: [str(c) for c in parse_cards(s["hand"])] for s in past["hands"]}
            for place, move in enumerate(past["history"]):
                action = move["action_id"]
                fact = {"round": number, "player": move["player"], "actionId": action}
                revealed = {"hands": hands} if action == LOST_MARKER else {}
                facts[SEQUENCES_PER_ROUND * number + place] = {
                    **fact,
                    "action": action_name(action),
                    **revealed,
                }
        return facts

    def bot_moves(self) -> list[int]:
        history = self.history().items()
        return [
            n for n, move in history if move["player"] == NAME and move["actionId"] != LOST_MARKER
        ]

    def violations(self, log: MatchLog) -> Iterable[str]:
        state, record = self.state(), log.match(self.match_id)
        names = sorted(player["nickname"] for player in state["players"])
        if names != [NAME, OPPONENT] or state["status"] != "Finished":
            yield f"seated are {names}, the game is {state['status']}"
        winner = next(player["nickname"] for player in state["players"] if player["n_cards"])
        if record is None or record.outcome is None or record.outcome["winnerName"] != winner:
            yield f"{winner} has won, and the log has {record}"

    def _shorten(self) -> None:
        saved = self.games.read(self.table)
        cards = self.dice.sample(DECK, 20)
        hands = (sort_hand(cards[:10]), sort_hand(cards[10:]))
        live: Round = replace(saved.game.round, n_cards=(10, 10), hands=hands)
        self.games.write(saved, replace(saved.game, round=live), None)
