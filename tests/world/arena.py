"""Dead Man's Draw on the fault bench: the real arena in this process, without sockets."""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from email.utils import format_datetime
from pathlib import Path
from random import Random
from typing import Any, cast
from urllib.parse import urlsplit

import requests
from requests.utils import to_native_string
from support.arena import ADMIN_PASSWORD, ALICE, DUMMY, PASSWORDS, answered, write_players

from cardsharp.access import Credentials
from cardsharp.cloud.attended import Meet
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import Body, MatchLog
from cardsharp.contact import Contact
from cardsharp.deadmansdraw.actions import action_body
from cardsharp.deadmansdraw.arena.app import MorePages
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.arena.home import HomeArena
from cardsharp.deadmansdraw.arena.limits import PER_USER
from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.deadmansdraw.arena.players import User
from cardsharp.deadmansdraw.arena.views import Look, full_view
from cardsharp.deadmansdraw.bot import NO_SUCH_MATCH, meeting
from cardsharp.deadmansdraw.briefing import Players, Seat
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.reading import rebuild
from cardsharp.deadmansdraw.strategies import Strategy, build
from cardsharp.deadmansdraw.wire import parse_view
from workbench.cloud.http_events import Answered
from world.clock import StillClock
from world.judge import actions_of, is_same_action, log_faults, shown, turns_of
from world.network import LIMITS, Tools, body_of

ALICE_USER = User(ALICE, "Alice", "player")
DUMMY_USER = User(DUMMY, "Dummy", "player")
URL = "http://127.0.0.1:9"
BY_FORCE = "ended by force, and a turn of ours"
SEED = "seed-canary-1"  # with it Alice begins; nothing that we store may repeat it
# Two turns of ours, each with five actions or more: draws that could be drawn twice, and effects.
PILE = "Mermaid 7, Oracle 4, Map 5, Key 5, Cannon 7, Hook 4, Sword 6, Kraken 3, Anchor 6"
TABLE: dict[str, Any] = {
    "drawPile": [
        {"suit": suit, "value": int(value)} for suit, value in map(str.split, PILE.split(", "))
    ],
    "banks": [[{"suit": "Key", "value": 7}], [{"suit": "Chest", "value": 7}]],
}


@dataclass
class BenchArena:
    """An arena with one match between Alice, who is ours, and the dummy, who plays by himself."""

    folder: Path
    clock: StillClock
    table: Mapping[str, Any] | None = field(default_factory=lambda: TABLE)
    """What the match begins with; None for an arena without that match."""

    strategy: str = "champion"
    player: Strategy | None = None  # who plays for us, where it is nobody of that name
    dates_ahead: timedelta = timedelta(0)  # of answers, before the clock of the matches
    counts: bool = True  # whether it counts our requests, as the competition's does
    data: Path | None = None  # keeps its matches, where it is to go back or to be killed
    pages: MorePages | None = None  # beside its own; with them it is public and ends late turns

    game = GAME.name
    denial = (404, NO_SUCH_MATCH)
    secrets: Sequence[str] = (PASSWORDS[ALICE], SEED, "matchStartedSeed")

    def __post_init__(self) -> None:
        players = self.folder / "players.json"
        if not players.exists():
            write_players(self.folder)
        self._config = ArenaConfig(
            players=players,
            data=self.data,
            poll_timeout=LIMITS.long_poll * 0,
            admin_password=ADMIN_PASSWORD,
            clock=self.clock.now,
            slow_down=self.counts,
            per_user=PER_USER,
            watchdog=None if self.pages is None else timedelta(seconds=1),
            public=self.pages is not None,
        )
        self._open()
        self._loop = asyncio.new_event_loop()
        self._dummy = build("draw-2", Random(1))
        self.match_id, self.held = "", 0.0
        if self.table is None:
            return
        wish = {"playerids": [ALICE, DUMMY], "randomSeed": SEED, **self.table}
        self.match_id = self.arena.referee.create(ALICE_USER, wish, None).id

    def close(self) -> None:
        self.arena.close()
        self._loop.close()

    def _open(self) -> None:
        self.arena = HomeArena(self._config)
        self.arena._guard._sleep = self._hold
        if self.pages is not None:
            self.arena.show(self.pages)

    async def _hold(self, seconds: float) -> None:
        """What the arena does to who guesses passwords; how long is for the world to wait."""
        self.held += seconds

    def restart(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Start the arena again from its file, as after a kill; this happens while it is down."""
        self.arena.close()
        meanwhile()
        self._open()

    def order(self, tools: Tools, offering: Offering) -> None:
        """Nobody orders: the arena names the match."""

    def poll(self, tools: Tools, offering: Offering) -> None:
        with self.client(tools) as client:
            named = [match.id for match in client.matches(active=True, wait=True)]
        offering.offer(named)

    def named(self) -> list[str]:
        return [self.match_id] if self.match.active_player == ALICE else []

    def meet(self, tools: Tools) -> Meet:
        strategy = self.player or build(self.strategy, Random(1))
        seat = Seat(ALICE, self.client(tools), strategy, self.strategy)
        return meeting(Players(seat, log=tools.log), tools.clock)

    def client(self, tools: Tools) -> ArenaClient:
        """Alice's."""
        contact = Contact(tools.clock)
        mine = Credentials(ALICE, PASSWORDS[ALICE])
        return tools.through(ArenaClient(URL, mine, LIMITS, contact=contact))

    @property
    def match(self) -> Match:
        return self.arena.referee.find(self.match_id)

    @property
    def sequence(self) -> int:
        return self.match.moves

    def truth(self) -> Match:
        return self.match

    def mistakes(self, truth: Match, sent: Any, intent: Body) -> Iterable[str]:  # noqa: ANN401
        if not is_same_action(intent.get("action"), sent):
            yield f"{intent.get('action')} was meant and {sent} was played"
        yield from position_faults(truth, cast("Mapping[str, Any]", intent.get("position") or {}))

    def history(self) -> dict[int, Body]:
        return dict(enumerate(map(shown, self.look()["moves"])))

    def ours(self) -> list[int]:
        return [entry["sequenceId"] for entry in actions_of(self.look(), [ALICE])]

    def faults(self, log: MatchLog) -> Sequence[str]:
        whole = self.look()
        forced = [turn.number for turn in turns_of(whole, ALICE) if turn.forced]
        return [*log_faults(whole, log), *(f"move {one} was {BY_FORCE}" for one in forced)]

    def look(self, *, admin: bool = True) -> Any:  # noqa: ANN401 - JSON
        """The match with all its moves as JSON, as the admin or as Alice sees it."""
        user = User("admin", None, "admin") if admin else ALICE_USER
        look = Look(user, debug=admin, events=True)
        history = self.arena.lobby.history(self.match_id)
        return json.loads(json.dumps(full_view(self.match, look, history, self.arena.book)))

    def go_on(self) -> None:
        """The dummy's whole turn, if it is his."""
        while self.match.active_player == DUMMY:
            view = parse_view(self.look(admin=False))
            decision = self._dummy.decide(rebuild(view, 1))
            self.arena.referee.act(DUMMY_USER, self.match_id, action_body(decision.action), None)

    def act_as_alice(self, body: dict[str, Any]) -> None:
        """An action of Alice's that passes no worker."""
        self.arena.referee.act(ALICE_USER, self.match_id, body, None)

    def step_of(self, request: requests.PreparedRequest) -> str:
        if request.method == "POST":
            return "act"
        if urlsplit(str(request.url)).path == "/api/matches":
            return "list"
        return "wait" if "waitactive" in str(request.url) else "view"

    def ask(self, request: requests.PreparedRequest) -> Answered:
        given = {name: to_native_string(value) for name, value in request.headers.items()}
        asked = answered(
            self.arena.app, str(request.method), str(request.url), body_of(request), given
        )
        status, headers, body = self._loop.run_until_complete(asked)
        dated = self.clock.now() + self.dates_ahead
        return Answered(status, (("Date", format_datetime(dated, usegmt=True)), *headers), body)


def position_faults(match: Match, position: Mapping[str, Any]) -> list[str]:
    """R03: where the position that was decided on differs from the arena's own table."""
    state = match.state
    pending = None if state.between_turns else state.pending
    area = () if state.between_turns else state.play_area
    table = {
        "me": state.active,
        "banks": [" ".join(map(str, bank)) for bank in state.banks],
        "playArea": " ".join(map(str, area)),
        "discardPile": " ".join(map(str, state.discard_pile)),
        "unseen": sorted(str(card) for card in state.draw_pile),
        "pending": pending and pending.effect_type.value,
    }
    seen = {**position, "unseen": sorted(position.get("unseen", "").split())}
    seen["pending"] = position.get("pending") and position["pending"]["effect"]
    wrong = [f"{k}: thought {seen.get(k)}, was {v}" for k, v in table.items() if seen.get(k) != v]
    top = position.get("knownTop")
    if top is not None and top != str(state.draw_pile[0]):
        wrong.append(f"knownTop: thought {top}")
    return [f"another table: {fault}" for fault in wrong]
