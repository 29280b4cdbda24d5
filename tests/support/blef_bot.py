"""Blef on the fault bench: the real service in this process, and one short game."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import requests
from world.network import LIMITS, Tools, asked_of

from cardsharp.blef.actions import CHECK, LOST, name_of
from cardsharp.blef.bot import SeatOrder, meet
from cardsharp.blef.cards import DECK, sort_hand
from cardsharp.blef.changes import SecretChance
from cardsharp.blef.client import BlefClient
from cardsharp.blef.game import GAME
from cardsharp.blef.logbook import SPAN
from cardsharp.blef.params import NO_GAME
from cardsharp.blef.records import GameRecord
from cardsharp.blef.rules import Round
from cardsharp.blef.store import GAME_STORE
from cardsharp.cloud.attended import Meet
from cardsharp.cloud.ports import Body, Clock, MatchLog
from cardsharp.cloud.sqlite_file import MEMORY
from support.blef import Client, cards_of
from support.hosted_bot import SeatPlace
from workbench.cloud.http_events import Answered

SERVICE = "https://blef.example"
NAME = "ours"
RIVAL = "rival"
SECRET = UUID("00000000-0000-4000-8000-00000000cafe")


@dataclass
class BlefPlace(SeatPlace):
    """A service with one game.

    It is short: right after its start both players hold so many cards that the one who loses
    next, or the one after, is out.
    """

    folder: Path
    clock: Clock
    chosen: bool = True
    """Whether the service lets a player choose the uuid by which it is known."""

    game = GAME.name
    denial = (400, NO_GAME)
    secrets: Sequence[str] = (str(SECRET),)

    def __post_init__(self) -> None:
        self.games = GAME_STORE.in_file(MEMORY, self.clock)
        self.client = Client(self.games, self.clock, SecretChance(Random(4)))
        self.table = self.client.create()
        self.rival = self.client.join(self.table, RIVAL)
        self.dice = Random(1)
        order = {"url": SERVICE, "game": self.table, "nickname": NAME, "strategy": "greedy"}
        self.wanted = SeatOrder.model_validate(order)
        self.match_id = self.wanted.match_id

    def close(self) -> None:
        self.games.close()

    def meet(self, tools: Tools) -> Meet:
        @contextmanager
        def connect(url: str) -> Iterator[BlefClient]:
            with BlefClient(url, LIMITS) as client:
                yield tools.through(client)

        return partial(meet, connect, tools.vault, self.clock)

    def ask(self, request: requests.PreparedRequest) -> Answered:
        if not self.chosen and self.step_of(request) == "join":
            request = request.copy()
            request.prepare_body(b"", None, {"nickname": NAME})
        return asked_of(self.client.api, request, self.clock)

    def go_on(self) -> str:
        """The rival starts the game as soon as we are there, and moves; the status before."""
        state = self.state()
        if state["status"] == "Not started" and len(state["players"]) > 1:
            self.client.post(f"/games/{self.table}/start", {"admin_uuid": self.rival})
            self._shorten()
        elif state["cp_nickname"] == RIVAL:
            last = state["history"][-1]["action_id"] if state["history"] else None
            action = CHECK if last is not None and last > 20 else (last or 0) + 7
            body = {"player_uuid": self.rival, "action_id": action}
            assert self.client.post(f"/games/{self.table}/play", body).status == 200
        return str(state["status"])

    def state(self, **query: object) -> Any:  # noqa: ANN401 - JSON
        return self.client.get(f"/games/{self.table}", **query).json

    @property
    def sequence(self) -> int:
        live = self.truth().round
        return 0 if live is None else SPAN * live.number + len(live.history)

    def truth(self) -> GameRecord:
        return self.games.read(self.table).game

    def mistakes(self, truth: GameRecord, sent: Any, intent: Body) -> Iterable[str]:  # noqa: ANN401
        live = truth.round
        state = {
            "actionId": sent["action_id"],
            "seat": live.turn,
            "hand": [str(card) for card in live.hands[live.turn]],
            "cards": list(live.n_cards),
            "history": [[move.seat, name_of(move.action)] for move in live.history],
        }
        for key, value in state.items():
            if intent.get(key) != value:
                yield f"{key}: thought {intent.get(key)}, was {value}"

    def history(self) -> dict[int, Body]:
        """Round by round, everybody's hand with its last move."""
        facts: dict[int, Body] = {}
        for number in range(1, self.state()["round_number"] + 1):
            past = self.state(round=number)
            hands = {s["nickname"]: [str(c) for c in cards_of(s["hand"])] for s in past["hands"]}
            for place, move in enumerate(past["history"]):
                action = move["action_id"]
                fact = {"round": number, "player": move["player"], "actionId": action}
                shown = {"hands": hands} if action == LOST else {}
                facts[SPAN * number + place] = {**fact, "action": name_of(action), **shown}
        return facts

    def ours(self) -> list[int]:
        history = self.history().items()
        return [n for n, one in history if one["player"] == NAME and one["actionId"] != LOST]

    def faults(self, log: MatchLog) -> Iterable[str]:
        state, record = self.state(), log.match(self.match_id)
        names = sorted(player["nickname"] for player in state["players"])
        if names != [NAME, RIVAL] or state["status"] != "Finished":
            yield f"seated are {names}, the game is {state['status']}"
        winner = next(one["nickname"] for one in state["players"] if one["n_cards"])
        if record is None or record.outcome is None or record.outcome["winnerName"] != winner:
            yield f"{winner} has won, and the log has {record}"

    def _shorten(self) -> None:
        saved = self.games.read(self.table)
        cards = self.dice.sample(DECK, 20)
        hands = (sort_hand(cards[:10]), sort_hand(cards[10:]))
        live: Round = replace(saved.game.round, n_cards=(10, 10), hands=hands)
        self.games.write(saved, replace(saved.game, round=live), None)
