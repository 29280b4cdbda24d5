"""A game of our bot's under a fault plan: workers die and fail, and others find it again."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, cast
from urllib.parse import urlencode
from uuid import UUID

import requests

from cardsharp.blef.actions import CHECK, LOST
from cardsharp.blef.bot import Bot
from cardsharp.blef.cards import DECK, Hand, sort_hand
from cardsharp.blef.chance import SecretChance
from cardsharp.blef.client import BlefClient
from cardsharp.blef.logbook import SPAN
from cardsharp.blef.seat import GAME, SeatOrder, order_seat
from cardsharp.blef.sqlite import SqliteGames
from cardsharp.blef.state import Round
from cardsharp.cloud.memory import MemoryQueue
from cardsharp.cloud.messages import parse_message
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import Body, MatchLog
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.cloud.sqlite_vault import SqliteVault
from cardsharp.cloud.timing import Timing
from cardsharp.cloud.vault import Vault
from cardsharp.errors import ArenaError, StoreError, Unreachable
from cardsharp.exchange import Answer, Call, Exchange, Limits
from cardsharp.refusal import refusal
from support.blef import Client
from support.bot_clock import StillClock
from support.bot_faults import OUTAGE, Crash, FaultPlan, FaultyLog, Kind, Meant, faulty_store
from workbench.cloud.http_events import Asked

SERVICE = "https://blef.example"
NAME = "ours"
RIVAL = "rival"
SECRET = UUID("00000000-0000-4000-8000-00000000cafe")
HOUR = timedelta(hours=1)
PATIENCE = 80

HARD = Timing(
    lease=timedelta(seconds=1),
    renew=timedelta(milliseconds=400),
    breath=timedelta(milliseconds=500),
)
"""A lease shorter than an action's limit: a successor comes while an action may be under way."""

LOST_BUT_DONE = {Kind.RESPONSE_LOST, Kind.TIMED_OUT, Kind.HTTP_500_DONE}
LATER = {Kind.LATE, Kind.CRASH_LATE}
_ARRIVES = timedelta(milliseconds=2400)
"""After its sending: shortly before an action's limit."""


@dataclass
class Played:
    """An action of ours that the service took: where it stood, and what was meant then."""

    sequence: int
    action: int
    intent: Body | None


class SeededChance(SecretChance):
    """Deals and seats that are the same in every run."""

    def __init__(self, seed: int) -> None:
        self._dice = Random(seed)

    def seats(self, number: int) -> tuple[int, ...]:
        return tuple(self._dice.sample(range(number), number))

    def deal(self, number: int) -> Hand:
        return tuple(self._dice.sample(DECK, number))


class Wire(Exchange):
    """Takes calls straight to the handler in this process; a plan says which of them go wrong."""

    def __init__(self, bench: "Bench", plan: FaultPlan) -> None:
        super().__init__(SERVICE, None, Limits())
        self._bench = bench
        self._plan = plan

    def send(self, call: Call) -> Answer:
        """The service's answer, or what the plan makes of it."""
        step = "act" if call.writes else "wait" if call.waits else "view"
        fault = self._plan.next(step)
        if fault in LATER:
            self._bench.late.append((self._bench.clock.passed + _ARRIVES, call))
        if fault is Kind.CRASH_LATE:
            raise Crash("while an action is under way")
        if fault in {Kind.REQUEST_LOST, Kind.HTTP_500, Kind.LATE}:
            raise Unreachable("lost", doubtful=call.writes)
        answer = self._bench.carry_out(call)
        if fault is Kind.CRASH_AFTER:
            raise Crash(f"after {step}")
        if fault in LOST_BUT_DONE:
            raise Unreachable("no answer", doubtful=call.writes)
        return answer


class FaultyVault:
    """A vault of which any call can go wrong."""

    def __init__(self, vault: Vault, plan: FaultPlan) -> None:
        self._vault = vault
        self._plan = plan

    def __getattr__(self, name: str) -> Callable[..., object]:
        method: Callable[..., object] = getattr(self._vault, name)
        return lambda *args: faulty_store(self._plan, f"vault {name}", lambda: method(*args))


@dataclass
class Bench:
    """A service, a match log, one game; a new worker for every attendance.

    The game is short: right after its start both players hold so many cards that the one who
    loses next, or the one after, is out.
    """

    folder: Path
    faults: Mapping[int, Kind | float] = field(default_factory=dict)
    timing: Timing = HARD
    n_cards: tuple[int, int] = (10, 10)
    strategy: str = "greedy"
    chosen: bool = True
    """Whether the service lets a player choose the uuid by which it is known."""

    clock: StillClock = field(default_factory=StillClock)

    def __post_init__(self) -> None:
        self.games = SqliteGames(MEMORY, self.clock)
        self.client = Client(self.games, self.clock, SeededChance(4))
        self.plan = FaultPlan(self.clock, self.faults, before_step=lambda _step: self.go_on())
        self.log = SqliteLog(Path(MEMORY), self.clock)
        self.vault = SqliteVault(self.folder / "log", self.clock)
        self.queue = MemoryQueue(self.clock, visibility=HOUR)
        self.game = self.client.create()
        self.rival = self.client.join(self.game, RIVAL)
        self.late: list[tuple[timedelta, Call]] = []
        self.taken: list[Played] = []
        self.dice = Random(1)
        self.found: list[str] = []
        self.workers = 0
        order = {"url": SERVICE, "game": self.game, "nickname": NAME, "strategy": self.strategy}
        self.order = SeatOrder.model_validate(order)
        self.match_id = self.order.match_id

    def close(self) -> None:
        self.log.close()
        self.vault.close()
        self.games.close()

    def offering(self, log: MatchLog | None = None) -> Offering:
        return Offering(log or self.log, self.queue, self.clock)

    def worker(self) -> Bot:
        """A new worker, whose every I/O step passes the plan."""
        self.workers += 1
        log = cast("MatchLog", FaultyLog(self.log, self.plan, Meant()))
        vault = cast("Vault", FaultyVault(self.vault, self.plan))
        name = f"worker-{self.workers}"
        return Bot(self.connect, vault, log, self.clock, name, self.timing)

    @contextmanager
    def connect(self, url: str) -> Iterator[BlefClient]:
        with BlefClient(url, Limits()) as client:
            client._exchange = Wire(self, self.plan)
            yield client

    def seat(self) -> None:
        """Order the seat as often as it takes: whoever orders may die too."""
        log = cast("MatchLog", FaultyLog(self.log, self.plan, Meant()))
        vault = cast("Vault", FaultyVault(self.vault, self.plan))
        for _ in range(3):
            try:
                order_seat(self.order, SECRET, vault, self.offering(log))
            except (Crash, StoreError):
                self.clock.advance(OUTAGE)
                continue
            return

    def play(self) -> None:
        """Let workers attend the seat, one after the other, until the game has ended."""
        self.seat()
        for _ in range(PATIENCE):
            self.go_on()
            self.offering().offer()
            message = self.queue.receive(timedelta(0))
            if message is None:
                if self.finished:
                    return
                self.clock.advance(timedelta(milliseconds=500))
                continue
            said = parse_message(message.body)
            assert said.game == GAME
            self.attend(said.match_id)

    def attend(self, match_id: str) -> object:
        """One worker's time, whatever ends it."""
        try:
            return self.worker().attend(match_id, lambda: HOUR)
        except (Crash, ArenaError, StoreError) as end:
            return end

    def go_on(self) -> None:
        """What happens meanwhile: late requests arrive, the rival starts the game and moves."""
        due = [call for when, call in self.late if when <= self.clock.passed]
        self.late = [one for one in self.late if one[0] > self.clock.passed]
        for call in due:
            self.carry_out(call, late=True)
        state = self.state()
        if state["status"] == "Not started" and len(state["players"]) > 1:
            self.client.post(f"/games/{self.game}/start", {"admin_uuid": self.rival})
            self._shorten()
        elif state["cp_nickname"] == RIVAL:
            last = state["history"][-1]["action_id"] if state["history"] else None
            action = CHECK if last is not None and last > 20 else (last or 0) + 7
            body = {"player_uuid": self.rival, "action_id": action}
            assert self.client.post(f"/games/{self.game}/play", body).status == 200

    def state(self, **query: object) -> Any:  # noqa: ANN401 - JSON
        return self.client.get(f"/games/{self.game}", **query).json

    def carry_out(self, call: Call, *, late: bool = False) -> Answer:
        """What the service answers to a call; raises what the real exchange would."""
        query = f"?{urlencode(call.params)}" if call.params else ""
        before = self.state()
        if call.writes:
            path, body = call.path.removeprefix("/v2"), cast("dict[str, object]", call.body)
            if path.endswith("/join") and not self.chosen:
                body = {"nickname": body["nickname"]}
            reply = self.client.post(path, body)
        else:
            reply = self.client.send(Asked("GET", call.path + query))
        if reply.status == 200 and call.path.endswith("/play"):
            self._note(before, cast("Mapping[str, int]", call.body)["action_id"])
        if reply.status in call.accept or late:
            return Answer(reply.status, reply.text.encode(), reply.headers)
        response = requests.Response()
        response.status_code = reply.status
        raise refusal(response, reply.text.encode(), (), writes=call.writes)

    def _note(self, before: Any, action: int) -> None:  # noqa: ANN401 - JSON
        sequence = SPAN * before["round_number"] + len(before["history"])
        moves = {move.sequence: move for move in self.log.moves(self.match_id)}
        meant = moves.get(sequence)
        self.taken.append(Played(sequence, action, None if meant is None else meant.intent))

    def _shorten(self) -> None:
        saved = self.games.read(self.game)
        assert saved is not None
        assert saved.game.round is not None
        cards = self.dice.sample(DECK, sum(self.n_cards))
        hands = (sort_hand(cards[: self.n_cards[0]]), sort_hand(cards[self.n_cards[0] :]))
        live: Round = replace(saved.game.round, n_cards=self.n_cards, hands=hands)
        self.games.write(saved, replace(saved.game, round=live), None)

    @property
    def finished(self) -> bool:
        record = self.log.match(self.match_id)
        return record is not None and record.outcome is not None

    def everything(self) -> str:
        """All that the match log has, as text."""
        with self.log._file.reading() as db:
            return "\n".join(db.iterdump())

    def faults_found(self) -> list[str]:
        """Everything that is wrong with the game, in sentences."""
        state = self.state()
        names = sorted(player["nickname"] for player in state["players"])
        found = [] if names == sorted((NAME, RIVAL)) else [f"seated are {names}"]
        found += [] if state["status"] == "Finished" else ["the game did not end"]
        found += [] if self.finished else ["the log was not closed"]
        found += ["the log has the secret"] if str(SECRET) in self.everything() else []
        for one in self.taken:
            meant = None if one.intent is None else one.intent["actionId"]
            if meant != one.action:
                found.append(f"{one.action} was played at {one.sequence}, meant was {meant}")
        return found + self._history_faults(state["round_number"])

    def _history_faults(self, rounds: int) -> list[str]:
        """Whether the log has what the service has, round by round, hands included."""
        kept = {m.sequence: m.facts for m in self.log.moves(self.match_id) if m.facts is not None}
        found = []
        for number in range(1, rounds + 1):
            past = self.state(round=number)
            for place, move in enumerate(past["history"]):
                facts = kept.pop(SPAN * number + place, None)
                if facts is None or facts["actionId"] != move["action_id"]:
                    found.append(f"the log has {facts} for move {place} of round {number}")
                elif move["action_id"] == LOST and len(cast("Body", facts["hands"])) != 2:
                    found.append(f"the log lacks hands of round {number}")
        return found + [f"the log has {facts}, the service has not" for facts in kept.values()]


def play_out(folder: Path, faults: Mapping[int, Kind | float], **settings: Any) -> Bench:  # noqa: ANN401
    """A game under faults, after it has ended or was given up."""
    bench = Bench(folder, faults, **settings)
    try:
        bench.play()
        bench.found = bench.faults_found()
    finally:
        bench.close()
    return bench
