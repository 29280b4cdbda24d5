"""A whole match under a fault plan: workers die and fail, the scout finds the match again."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Protocol, cast

from cardsharp.cloud.memory import MemoryQueue
from cardsharp.cloud.messages import parse_message
from cardsharp.cloud.ports import MatchLog, MatchRecord, MoveRecord
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.cloud.timing import Timing
from cardsharp.deadmansdraw.arena import ArenaClient
from cardsharp.deadmansdraw.bot import Bot
from cardsharp.deadmansdraw.scout import Scout
from cardsharp.deadmansdraw.seats import Players, Seat
from cardsharp.deadmansdraw.strategies import build
from cardsharp.errors import ArenaError, StoreError
from support.arena import ALICE, PASSWORDS
from support.bot_arena import Accepted, BenchArena, client_of
from support.bot_clock import StillClock
from support.bot_faults import Crash, FaultPlan, FaultyLog, Kind, Meant
from workbench.bench.judge import intent_faults, is_same_action, log_faults

HOUR = timedelta(hours=1)
SEED = "seed-canary-1"
"""With it Alice begins; nothing that we store may repeat it."""

PAUSE = timedelta(seconds=10)
PATIENCE = 60
"""Looks of the scout, half a second each, after which a match counts as lost."""

# Two turns of ours, each with five actions or more: draws that could be drawn twice, and effects.
TABLE: dict[str, Any] = {
    "drawPile": [
        {"suit": suit, "value": value}
        for suit, value in (
            ("Mermaid", 7),
            ("Oracle", 4),
            ("Map", 5),
            ("Key", 5),
            ("Cannon", 7),
            ("Hook", 4),
            ("Sword", 6),
            ("Kraken", 3),
            ("Anchor", 6),
        )
    ],
    "banks": [[{"suit": "Key", "value": 7}], [{"suit": "Chest", "value": 7}]],
}

HARD = Timing(
    lease=timedelta(seconds=1),
    renew=timedelta(milliseconds=400),
    breath=timedelta(milliseconds=500),
)
"""A lease shorter than an action's limit: a successor comes while an action may be under way."""


class Attender(Protocol):
    """Somebody who can play a match, well or badly."""

    def attend(self, match_id: str, remaining: Callable[[], timedelta]) -> object:
        """Play until the match ends, or an exception ends the worker."""
        ...


@dataclass(frozen=True)
class Tools:
    """What a worker is given: its client and log, both faulty, and its name."""

    client: ArenaClient
    log: MatchLog
    name: str
    meant: Meant


@dataclass
class Bench:
    """One arena, one match log, one match; a new worker for every attendance."""

    folder: Path
    faults: Mapping[int, Kind | float] = field(default_factory=dict)
    timing: Timing = HARD
    strategy: str = "champion"
    table: Mapping[str, Any] = field(default_factory=lambda: TABLE)
    make: "Callable[[Bench, Tools], Attender] | None" = None
    successor_steps: int | None = None
    """How far another worker gets while one is paused, None for the end of the match."""

    clock: StillClock = field(default_factory=StillClock)

    def __post_init__(self) -> None:
        self.arena = BenchArena(self.folder, self.clock)
        self.plan = FaultPlan(self.clock, self.faults, pause=self.meanwhile)
        self.log = SqliteLog(Path(":memory:"), self.clock)
        self.queue = MemoryQueue(self.clock, visibility=HOUR)
        self.match_id = self.arena.create({"randomSeed": SEED, **self.table})
        self.numbers, self.workers = count(1), 0
        self.found: list[str] = []
        self.moves: list[MoveRecord] = []
        self.last_record: MatchRecord | None = None

    def close(self) -> None:
        self.arena.close()
        self.log.close()

    def worker(self, plan: FaultPlan | None = None) -> Attender:
        """A new worker, whose every I/O step passes the plan."""
        # In one step, for two threads may ask at once, and one name would be one holder of a lease.
        number = self.workers = next(self.numbers)
        meant = Meant()
        client = client_of(self.arena, plan or self.plan, meant)
        log = cast("MatchLog", FaultyLog(self.log, plan or self.plan, meant))
        tools = Tools(client, log, f"worker-{number}", meant)
        return (self.make or real_bot)(self, tools)

    def play(self) -> None:
        """Let workers attend the match, one after the other, until it has ended."""
        scout = Scout(cast("ArenaClient", None), self.log, self.queue, self.clock)
        for _ in range(PATIENCE):
            self.arena.deliver(len(self.plan.steps))
            self.arena.play_dummy(self.match_id)
            named = [self.match_id] if self.arena.waits_for(ALICE, self.match_id) else []
            scout.offer(named)
            message = self.queue.receive(timedelta(0))
            if message is None:
                if self.finished:
                    return
                self.clock.advance(timedelta(milliseconds=500))
                continue
            self.attend(parse_message(message.body).match_id)

    def meanwhile(self) -> None:
        """What happens while a worker is paused: its lease runs out and another comes."""
        self.clock.advance(PAUSE)
        self.arena.play_dummy(self.match_id)
        steps = self.successor_steps
        end: dict[int, Kind | float] = {} if steps is None else {steps: Kind.CRASH_BEFORE}
        self.attend(self.match_id, FaultPlan(self.clock, end))

    def attend(self, match_id: str, plan: FaultPlan | None = None) -> None:
        """One worker's time, whatever ends it."""
        try:
            self.worker(plan).attend(match_id, lambda: HOUR)
        except (Crash, ArenaError, StoreError) as end:
            logging.getLogger("bench").info("the worker ended: %s", end)

    @property
    def finished(self) -> bool:
        record = self.log.match(self.match_id)
        return record is not None and record.outcome is not None

    @property
    def ended_at(self) -> datetime:
        """When the log was closed."""
        record = self.last_record
        assert record is not None
        assert record.finished is not None
        return record.finished

    def everything(self) -> str:
        """All that the log has, as text."""
        with self.log._file.reading() as db:
            return "\n".join(db.iterdump())

    def faults_found(self) -> list[str]:
        """Everything that is wrong with the match, in sentences."""
        whole = self.arena.look(self.match_id)
        self.last_record = self.log.match(self.match_id)
        accepted = [one for one in self.arena.accepted if one.player == ALICE]
        return [
            *log_faults(whole, self.log),
            *(intent_faults(whole, self.log, [ALICE]) if self.finished else ()),
            *(fault for one in accepted for fault in met_as_decided(one)),
            *secrets_stored(self.everything()),
        ]


def real_bot(bench: Bench, tools: Tools) -> Bot:
    """The bot as it is."""
    strategy = build(bench.strategy, Random(1))
    seat = Seat(ALICE, tools.client, strategy, bench.strategy)
    return Bot(Players(seat), tools.log, bench.clock, tools.name, bench.timing)


def met_as_decided(one: Accepted) -> list[str]:
    """R03: whether an accepted action was decided on exactly the state that it met."""
    if one.meant is None:
        return [f"{one.body} was played at {one.before.moves} without an intent"]
    sequence, intent = one.meant
    faults = []
    if sequence != one.before.moves:
        faults.append(f"{one.body} was meant for move {sequence} and met {one.before.moves}")
    if not is_same_action(intent.get("action"), one.body):
        faults.append(f"{intent.get('action')} was meant and {one.body} was played")
    faults += position_faults(one, cast("Mapping[str, Any]", intent.get("position") or {}))
    return faults


def position_faults(one: Accepted, position: Mapping[str, Any]) -> list[str]:
    """Where the position that was decided on differs from the arena's own table."""
    state = one.before.state
    pending = None if state.between_turns else state.pending
    area = () if state.between_turns else state.play_area
    table = {
        "me": state.active,
        "banks": [[str(card) for card in bank] for bank in state.banks],
        "playArea": [str(card) for card in area],
        "discardPile": [str(card) for card in state.discard_pile],
        "unseen": sorted(str(card) for card in state.draw_pile),
        "pending": pending and pending.effect_type.value,
    }
    seen = {**position, "unseen": sorted(position.get("unseen", ()))}
    seen["pending"] = position.get("pending") and position["pending"]["effect"]
    wrong = [f"{k}: thought {seen.get(k)}, was {v}" for k, v in table.items() if seen.get(k) != v]
    top = position.get("knownTop")
    if top is not None and top != str(state.draw_pile[0]):
        wrong.append(f"knownTop: thought {top}")
    return [f"move {one.before.moves} met another table: {fault}" for fault in wrong]


def secrets_stored(text: str) -> list[str]:
    """The secrets that anything in the store repeats: passwords, and nothing like a seed."""
    found = [name for name in (PASSWORDS[ALICE], SEED, "matchStartedSeed") if name in text]
    return [f"the store repeats the secret {name!r}" for name in found]
