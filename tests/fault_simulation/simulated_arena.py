"""Dead Man's Draw in the fault simulation: the real arena in this process, without sockets."""

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
from support.arena_server import ADMIN_PASSWORD, ALICE, DUMMY, PASSWORDS, call_asgi, write_players

from cardsharp.bot.bot_match import OpenMatch
from cardsharp.bot.match_dispatcher import MatchDispatcher
from cardsharp.client.session_state import ClientSessionState
from cardsharp.core.credentials import Credentials
from cardsharp.games.deadmansdraw.actions import action_json
from cardsharp.games.deadmansdraw.arena.access.throttling import MAX_PER_USER
from cardsharp.games.deadmansdraw.arena.access.users import User
from cardsharp.games.deadmansdraw.arena.app import ExtraPages
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.deadmansdraw.arena.local_arena import LocalArena
from cardsharp.games.deadmansdraw.arena.match import ArenaMatch
from cardsharp.games.deadmansdraw.arena.randomness import RandomnessMethod
from cardsharp.games.deadmansdraw.arena.views import ViewOptions, full_view
from cardsharp.games.deadmansdraw.arena_bot.arena_match import NO_SUCH_MATCH, match_opener
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.arena_bot.opponent_history import ArenaBotPlayer, BotAndDummySeats
from cardsharp.games.deadmansdraw.arena_bot.position_from_view import position_from_view
from cardsharp.games.deadmansdraw.arena_bot.wire import parse_view
from cardsharp.games.deadmansdraw.game import GAME
from cardsharp.games.deadmansdraw.strategies import Strategy, build
from cardsharp.store.match_log import Body, MatchLog
from cardsharp_tools.local_cloud.api_gateway_events import HttpResponse
from fault_simulation.checker import (
    accepted_actions,
    is_same_action,
    log_differences,
    player_turns,
    player_view,
)
from fault_simulation.transport import LIMITS, WorkerEnvironment, request_body
from fault_simulation.virtual_clock import VirtualClock

ALICE_USER = User(ALICE, "Alice", "player")
DUMMY_USER = User(DUMMY, "Dummy", "player")
URL = "http://127.0.0.1:9"
FORCED_TURN_TEXT = "ended by force, and a turn of ours"
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
class SimulatedArena:
    """Arena with one match between Alice, our bot, and the dummy, which this class plays."""

    folder: Path
    clock: VirtualClock
    table: Mapping[str, Any] | None = field(default_factory=lambda: TABLE)
    """What the match begins with; None for an arena without that match."""

    strategy: str = "champion"
    player: Strategy | None = None  # who plays for us, where it is nobody of that name
    date_offset: timedelta = timedelta(0)  # of answers, before the clock of the matches
    has_rate_limit: bool = True  # whether it counts our requests, as the competition's does
    data: Path | None = None  # keeps its matches, where it is to go back or to be killed
    randomness: RandomnessMethod = RandomnessMethod.FAIR
    pages: ExtraPages | None = None  # beside its own; with them it is public and ends late turns

    game = GAME.name
    not_found_response = (404, NO_SUCH_MATCH)
    secrets: Sequence[str] = (PASSWORDS[ALICE], SEED, "matchStartedSeed")

    def __post_init__(self) -> None:
        players = self.folder / "players.json"
        if not players.exists():
            write_players(self.folder)
        self._config = ArenaConfig(
            players_file=players,
            data_file=self.data,
            long_poll_timeout=LIMITS.long_poll_timeout * 0,
            admin_password=ADMIN_PASSWORD,
            randomness=self.randomness,
            clock=self.clock.now,
            throttle=self.has_rate_limit,
            max_per_user=MAX_PER_USER,
            watchdog_grace=None if self.pages is None else timedelta(seconds=1),
            is_public=self.pages is not None,
        )
        self._open_arena()
        self._loop = asyncio.new_event_loop()
        self._dummy = build("draw-2", Random(1))
        self.match_id, self.throttle_seconds = "", 0.0
        if self.table is None:
            return
        match_params = {"playerids": [ALICE, DUMMY], "randomSeed": SEED, **self.table}
        self.match_id = self.arena.referee.create_match(ALICE_USER, match_params, None).id

    def close(self) -> None:
        self.arena.close()
        self._loop.close()

    def _open_arena(self) -> None:
        self.arena = LocalArena(self._config)
        self.arena._guard._sleep = self._record_throttling
        if self.pages is not None:
            self.arena.mount_pages(self.pages)

    async def _record_throttling(self, seconds: float) -> None:
        """Record the delay that the arena imposes on a guesser; the simulation waits for it."""
        self.throttle_seconds += seconds

    def restart(self, during_restart: Callable[[], object] = lambda: None) -> None:
        """Start the arena again from its file, as after a kill; call `during_restart` meanwhile."""
        self.arena.close()
        during_restart()
        self._open_arena()

    def order_match(self, environment: WorkerEnvironment, dispatcher: MatchDispatcher) -> None:
        """Do nothing: the arena itself announces the match."""

    def poll(self, environment: WorkerEnvironment, dispatcher: MatchDispatcher) -> None:
        with self.client(environment) as client:
            match_ids = [match.id for match in client.matches(active=True, wait=True)]
        dispatcher.dispatch_unattended(match_ids)

    def announced_matches(self) -> list[str]:
        return [self.match_id] if self.match.active_player == ALICE else []

    def connect_bot(self, environment: WorkerEnvironment) -> OpenMatch:
        strategy = self.player or build(self.strategy, Random(1))
        bot_player = ArenaBotPlayer(ALICE, self.client(environment), strategy, self.strategy)
        return match_opener(
            BotAndDummySeats(bot_player, match_reader=environment.log), environment.clock
        )

    def client(self, environment: WorkerEnvironment) -> ArenaClient:
        """Return a client that signs in as Alice."""
        session_state = ClientSessionState(environment.clock)
        credentials = Credentials(ALICE, PASSWORDS[ALICE])
        return environment.attach(
            ArenaClient(URL, credentials, LIMITS, session_state=session_state)
        )

    @property
    def match(self) -> ArenaMatch:
        return self.arena.referee.get_match(self.match_id)

    @property
    def sequence(self) -> int:
        return self.match.moves

    def server_state(self) -> ArenaMatch:
        return self.match

    def action_errors(self, server_state: ArenaMatch, sent: Any, intent: Body) -> Iterable[str]:  # noqa: ANN401
        if not is_same_action(intent.get("action"), sent):
            yield f"{intent.get('action')} was meant and {sent} was played"
        yield from position_differences(
            server_state, cast("Mapping[str, Any]", intent.get("position") or {})
        )

    def history(self) -> dict[int, Body]:
        return dict(enumerate(map(player_view, self.match_json()["moves"])))

    def bot_moves(self) -> list[int]:
        return [entry["sequenceId"] for entry in accepted_actions(self.match_json(), [ALICE])]

    def violations(self, log: MatchLog) -> Sequence[str]:
        full_match = self.match_json()
        forced = [turn.move_number for turn in player_turns(full_match, ALICE) if turn.was_forced]
        return [
            *log_differences(full_match, log),
            *(f"move {move_number} was {FORCED_TURN_TEXT}" for move_number in forced),
        ]

    def match_json(self, *, as_admin: bool = True) -> Any:  # noqa: ANN401 - JSON
        """Return the match with all its moves as JSON, as the admin or as Alice sees it."""
        user = User("admin", None, "admin") if as_admin else ALICE_USER
        view_options = ViewOptions(user, show_debug=as_admin, show_events=True)
        history = self.arena.lobby.move_history(self.match_id)
        return json.loads(json.dumps(full_view(self.match, view_options, history, self.arena.book)))

    def play_rival(self) -> None:
        """Play the dummy's turn to its end, if it is the dummy's."""
        while self.match.active_player == DUMMY:
            view = parse_view(self.match_json(as_admin=False))
            decision = self._dummy.decide(position_from_view(view, 1))
            self.arena.referee.act(DUMMY_USER, self.match_id, action_json(decision.action), None)

    def act_outside_worker(self, body: dict[str, Any]) -> None:
        """Have Alice act without any worker."""
        self.arena.referee.act(ALICE_USER, self.match_id, body, None)

    def request_kind(self, request: requests.PreparedRequest) -> str:
        if request.method == "POST":
            return "act"
        if urlsplit(str(request.url)).path == "/api/matches":
            return "list"
        return "wait" if "waitactive" in str(request.url) else "view"

    def handle_request(self, request: requests.PreparedRequest) -> HttpResponse:
        request_headers = {name: to_native_string(value) for name, value in request.headers.items()}
        asgi_call = call_asgi(
            self.arena.app,
            str(request.method),
            str(request.url),
            request_body(request),
            request_headers,
        )
        status, headers, body = self._loop.run_until_complete(asgi_call)
        response_time = self.clock.now() + self.date_offset
        return HttpResponse(
            status, (("Date", format_datetime(response_time, usegmt=True)), *headers), body
        )


def position_differences(match: ArenaMatch, position: Mapping[str, Any]) -> list[str]:
    """R03: return the differences between a decision's position and the arena's table."""
    state = match.state
    pending = None if state.is_between_turns else state.pending_effect
    play_area = () if state.is_between_turns else state.play_area
    table = {
        "me": state.active_player,
        "banks": [" ".join(map(str, bank)) for bank in state.banks],
        "playArea": " ".join(map(str, play_area)),
        "discardPile": " ".join(map(str, state.discard_pile)),
        "unseen": sorted(str(card) for card in state.draw_pile),
        "pending": pending and pending.effect_type.value,
    }
    decided_on = {**position, "unseen": sorted(position.get("unseen", "").split())}
    decided_on["pending"] = position.get("pending") and position["pending"]["effect"]
    differences = [
        f"{k}: thought {decided_on.get(k)}, was {v}"
        for k, v in table.items()
        if decided_on.get(k) != v
    ]
    top_card = position.get("knownTop")
    if top_card is not None and top_card != str(state.draw_pile[0]):
        differences.append(f"knownTop: thought {top_card}")
    return [f"another table: {fault}" for fault in differences]
