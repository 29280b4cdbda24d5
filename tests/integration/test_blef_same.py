"""Whatever is asked, in whatever order and however late: both stores lead to the same answers."""

from datetime import timedelta
from random import Random
from uuid import UUID

from support.blef import Client, Reply
from support.blef_bot import SeededChance
from support.blef_next import AGENTS
from support.cloud_clock import FakeClock
from support.game_stores import dynamo_games
from support.size import cases

from cardsharp.blef.sqlite import SqliteGames
from cardsharp.cloud.sqlite_file import MEMORY
from workbench.cloud.emulator import Emulator

STEPS = cases(100, every=4000)
PASSED = [
    *(timedelta(seconds=1.7), timedelta(minutes=29), timedelta(hours=1)),
    *(timedelta(hours=23), timedelta(days=1), timedelta(days=7), timedelta(days=14)),
]


class SameChance(SeededChance):
    """Chance that is the same in both services, the uuids too."""

    def uuid(self) -> str:
        return str(UUID(int=self._dice.getrandbits(128), version=4))


class Both:
    """Two services that differ in their store alone, and the games that somebody made there."""

    def __init__(self, clients: tuple[Client, Client]) -> None:
        self.clients = clients
        self.dice = Random(1)
        self.games: list[tuple[str, dict[str, str]]] = []
        self.expired = 0

    def ask(self, path: str, **query: object) -> Reply:
        """The answer to a request in either generation, which is the same from both."""
        base, method = self.dice.choice(("", "/v2")), self.dice.choice(("GET", "POST"))
        for client in self.clients:
            client.base = "" if "agent_name" in query else base
        one, other = (client.ask(method, path, **query) for client in self.clients)
        assert (one.status, one.text) == (other.status, other.text), (path, query)
        self.expired += "Game does not exist" in one.text
        return one

    def step(self) -> None:
        """Do one thing at random."""
        if not self.games or self.dice.random() < 0.07:
            self.games = [*self.games[-9:], (self.ask("/games/create").json["game_uuid"], {})]
            return
        self.ask("/games")
        game, secrets = self.dice.choice(self.games)
        path, uuids = f"/games/{game}", list(secrets.values())
        admin = uuids[0] if uuids else game
        what = self.dice.choice(("join", "invite-aiagent", "start", "make", "see", *["play"] * 6))
        if what == "join":
            name = f"p{self.dice.randrange(9)}"
            joined = self.ask(f"{path}/join", nickname=name)
            if joined.status == 200:
                secrets[name] = joined.json["player_uuid"]
        elif what == "see":
            who = self.dice.choice([*uuids, ""])
            self.ask(path, round=self.dice.randrange(4), player_uuid=who)
        elif what == "play":
            self._play(path, secrets)
        else:
            what = self.dice.choice(("make-public", "make-private")) if what == "make" else what
            named = {"agent_name": "Dazhbog"} if what == "invite-aiagent" else {}
            self.ask(f"{path}/{what}", admin_uuid=admin, **named)

    def _play(self, path: str, secrets: dict[str, str]) -> None:
        state = self.clients[0].get(path).json
        secret = secrets.get(state.get("cp_nickname") or "", path)
        action = self.dice.choice((88, 88, self.dice.randrange(89), 87))
        self.ask(f"{path}/play", player_uuid=secret, action_id=action)


def test_both_stores_lead_to_the_same_answers(emulator: Emulator) -> None:
    clock = FakeClock()
    with dynamo_games(emulator.client("dynamodb"), clock) as bench:
        stores = (SqliteGames(MEMORY, clock), bench.store)
        first, second = (Client(one, clock, SameChance(5), agents=AGENTS) for one in stores)
        both = Both((first, second))
        for number in range(STEPS):
            clock.advance(both.dice.choice(PASSED) if number % 12 == 0 else timedelta(0, 0.013))
            both.step()
        assert both.expired > STEPS / 50
        assert first.store.count_all() <= second.store.count_all()
