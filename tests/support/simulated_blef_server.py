"""Blef in the fault simulation: the real service in this process, and a short game."""

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

SERVICE_URL = "https://blef.example"
BOT_NICKNAME = "ours"
OPPONENT_NICKNAME = "rival"
BOT_SECRET_UUID = UUID("00000000-0000-4000-8000-00000000cafe")


@dataclass
class SimulatedBlefServer(SeatedGameServer):
    """Blef service with one game.

    The game is short: right after its start both players get so many cards that the player
    who loses the next round, or the one that follows, is out.
    """

    folder: Path
    clock: Clock
    allows_chosen_uuid: bool = True
    """Whether the service lets a player choose the uuid by which it is known."""

    game = GAME.name
    not_found_response = (400, NO_GAME)
    secrets: Sequence[str] = (str(BOT_SECRET_UUID),)

    def __post_init__(self) -> None:
        self.games = GAME_STORE_FACTORY.open_file(MEMORY_PATH, self.clock)
        self.client = BlefHandlerClient(self.games, self.clock, SecureRandomness(Random(4)))
        self.game_id = self.client.create()
        self.rival_secret = self.client.join(self.game_id, OPPONENT_NICKNAME)
        self.rng = Random(1)
        order = {
            "url": SERVICE_URL,
            "game": self.game_id,
            "nickname": BOT_NICKNAME,
            "strategy": "greedy",
        }
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
            request.prepare_body(b"", None, {"nickname": BOT_NICKNAME})
        return invoke_handler(self.client.api, request, self.clock)

    def play_rival(self) -> str:
        """Start the game once the bot has joined, or move for the rival.

        Return the previous status.
        """
        state = self.state()
        if state["status"] == "Not started" and len(state["players"]) > 1:
            self.client.post(f"/games/{self.game_id}/start", {"admin_uuid": self.rival_secret})
            self._shorten_game()
        elif state["cp_nickname"] == OPPONENT_NICKNAME:
            last_action = state["history"][-1]["action_id"] if state["history"] else None
            action = (
                CHECK if last_action is not None and last_action > 20 else (last_action or 0) + 7
            )
            body = {"player_uuid": self.rival_secret, "action_id": action}
            assert self.client.post(f"/games/{self.game_id}/play", body).status == 200
        return str(state["status"])

    def state(self, **query: object) -> Any:  # noqa: ANN401 - JSON
        return self.client.get(f"/games/{self.game_id}", **query).json

    @property
    def sequence(self) -> int:
        current_round = self.server_state().round
        return (
            0
            if current_round is None
            else SEQUENCES_PER_ROUND * current_round.number + len(current_round.history)
        )

    def server_state(self) -> GameRecord:
        return self.games.read(self.game_id).game

    def action_errors(self, server_state: GameRecord, sent: Any, intent: Body) -> Iterable[str]:  # noqa: ANN401
        current_round = server_state.round
        state = {
            "actionId": sent["action_id"],
            "seat": current_round.turn,
            "hand": [str(card) for card in current_round.hands[current_round.turn]],
            "cards": list(current_round.n_cards),
            "history": [[move.seat, action_name(move.action)] for move in current_round.history],
        }
        for key, value in state.items():
            if intent.get(key) != value:
                yield f"{key}: thought {intent.get(key)}, was {value}"

    def history(self) -> dict[int, Body]:
        """Return the facts of all moves; the last move of a round reveals both hands."""
        facts: dict[int, Body] = {}
        for round_number in range(1, self.state()["round_number"] + 1):
            round_state = self.state(round=round_number)
            hands = {
                s["nickname"]: [str(c) for c in parse_cards(s["hand"])]
                for s in round_state["hands"]
            }
            for index, move in enumerate(round_state["history"]):
                action = move["action_id"]
                fact = {"round": round_number, "player": move["player"], "actionId": action}
                revealed_hands = {"hands": hands} if action == LOST_MARKER else {}
                facts[SEQUENCES_PER_ROUND * round_number + index] = {
                    **fact,
                    "action": action_name(action),
                    **revealed_hands,
                }
        return facts

    def bot_moves(self) -> list[int]:
        history = self.history().items()
        return [
            n
            for n, move in history
            if move["player"] == BOT_NICKNAME and move["actionId"] != LOST_MARKER
        ]

    def violations(self, log: MatchLog) -> Iterable[str]:
        state, record = self.state(), log.match(self.match_id)
        names = sorted(player["nickname"] for player in state["players"])
        if names != [BOT_NICKNAME, OPPONENT_NICKNAME] or state["status"] != "Finished":
            yield f"seated are {names}, the game is {state['status']}"
        winner = next(player["nickname"] for player in state["players"] if player["n_cards"])
        if record is None or record.outcome is None or record.outcome["winnerName"] != winner:
            yield f"{winner} has won, and the log has {record}"

    def _shorten_game(self) -> None:
        saved = self.games.read(self.game_id)
        cards = self.rng.sample(DECK, 20)
        hands = (sort_hand(cards[:10]), sort_hand(cards[10:]))
        short_round: Round = replace(saved.game.round, n_cards=(10, 10), hands=hands)
        self.games.write(saved, replace(saved.game, round=short_round), None)
