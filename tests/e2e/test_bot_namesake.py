"""Two bots of one user with a match log each, as on two laptops of a team."""

import logging
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from support.arena import ADMIN_PASSWORD, ALICE, PASSWORDS, write_players
from support.bot_proxy import Passing, Proxy, Reply
from support.bot_stage import SEATS, start_opponents

from cardsharp.access import Credentials
from cardsharp.cloud.attend import Bot
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.memory import MemoryQueue
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import Status
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.bot import meeting
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.seats import Players, Seat
from cardsharp.deadmansdraw.strategies import build
from cardsharp.deadmansdraw.wire import MatchParams
from workbench.arena.server import ArenaServer

MATCHES = 2
HOUR = timedelta(hours=1)
FOUND = "somebody else plays as this user"


@dataclass
class Laptop:
    """A bot with its own log; what it sends and says goes to `events`, in order."""

    name: str
    url: str
    log: SqliteLog
    events: list[tuple[str, str, str]]
    threads: list[threading.Thread] = field(default_factory=list)

    def play(self, match_id: str) -> None:
        """Attend a match until this bot leaves it or it has ended, in a thread of its own."""
        thread = threading.Thread(target=self._play, args=(match_id,), name=self.name, daemon=True)
        self.threads.append(thread)
        thread.start()

    def _play(self, match_id: str) -> None:
        clock = SystemClock()
        offering = Offering(self.log, MemoryQueue(clock, visibility=HOUR), clock)
        with (
            Proxy(self.url, back=self._note) as proxy,
            ArenaClient(proxy.url, Credentials(ALICE, PASSWORDS[ALICE])) as client,
        ):
            me = Seat(ALICE, client, build("steady", Random(self.name)), "steady")
            bot = Bot(GAME.name, meeting(Players(me), self.log, clock), offering, self.name)
            bot.attend(match_id, lambda: HOUR)

    def _note(self, passing: Passing, reply: Reply) -> Reply:
        if passing.is_action:
            self.events.append((passing.path.rsplit("/", 1)[1], self.name, str(reply.status)))
        return reply


class Hearing(logging.Handler):
    """Writes down which bot says of which match that somebody else plays."""

    def __init__(self, events: list[tuple[str, str, str]]) -> None:
        super().__init__()
        self.events = events

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()
        if FOUND in said:
            what = "leaves" if "leaves" in said else "goes on"
            self.events.append((str(vars(record)["match_id"]), str(record.threadName), what))


@pytest.fixture
def events() -> Iterator[list[tuple[str, str, str]]]:
    found: list[tuple[str, str, str]] = []
    hearing, log = Hearing(found), logging.getLogger("cardsharp.bot")
    log.addHandler(hearing)
    yield found
    log.removeHandler(hearing)


@pytest.mark.parametrize("late", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_two_bots_of_one_user_soon_become_one(
    tmp_path: Path, events: list[tuple[str, str, str]], late: bool
) -> None:
    """The younger leaves each match and is refused nothing after that; every match is played."""
    config = ArenaConfig(players=write_players(tmp_path), admin_password=ADMIN_PASSWORD)
    with ExitStack() as stack:
        arena = stack.enter_context(ArenaServer(config))
        start_opponents(arena.url, ["steady"], timedelta(milliseconds=500))
        admin = stack.enter_context(ArenaClient(arena.url, Credentials("admin", ADMIN_PASSWORD)))
        laptops = []
        for name in ("first", "second"):
            log = SqliteLog(tmp_path / f"{name}.db", SystemClock())
            laptops.append(Laptop(name, arena.url, stack.enter_context(closing(log)), events))
        order = MatchParams(player_ids=(ALICE, SEATS[0]))
        matches = [admin.create_match(order).id for _ in range(MATCHES)]
        for match in matches:
            laptops[0].play(match)
        while late and any(admin.view(match).turn_count < 3 for match in matches):
            threading.Event().wait(0.05)
        for match in matches:
            laptops[1].play(match)
        for thread in (*laptops[0].threads, *laptops[1].threads):
            thread.join(60)
            assert not thread.is_alive()
        for match in matches:
            left = [
                (i, who)
                for i, (m, who, what) in enumerate(events)
                if (m, what) == (match, "leaves")
            ]
            assert len(left) == 1, "one of two, once"
            since, younger = left[0]
            assert not late or younger == "second"
            after = [(who, what) for m, who, what in events[since + 1 :] if m == match]
            assert younger not in {who for who, _ in after}
            # The elder may have decided one action on what the younger has just changed.
            refused = [what for _, what in after if what in {"400", "409"}]
            assert len(refused) <= 1, refused
            elder = next(one for one in laptops if one.name != younger)
            record = elder.log.match(match)
            assert record is not None
            assert record.status is Status.FINISHED
            assert record.outcome is not None
            assert not record.outcome["terminated"]
        if late:
            acted = [event for event in events if event[1:] == ("second", "200")]
            assert acted == [], "who comes late looks first whether somebody plays"
