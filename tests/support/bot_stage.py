"""Our side in its real shape against several opponents at once: arena, poller, queue, worker."""

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from cardsharp.access import Credentials, Limits
from cardsharp.cloud.ports import Queue
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.errors import ArenaError
from support.arena import ADMIN_PASSWORD, ALICE, NAMES, PASSWORDS, write_players
from support.bot_table import Account, PlayedTable, attended_by
from workbench.arena.server import ArenaServer
from workbench.cloud.context import Invocation
from workbench.stage.clouds import embedded_in
from workbench.stage.opponent import Opponent, Order
from workbench.stage.side import WORKER_TIME, HomeRhythm, assembled, attending
from workbench.stage.tally import Tally

SEATS = tuple(player for player, name in NAMES.items() if name.startswith("Player"))
"""The players as whom opponents play."""

TURN_LIMIT = timedelta(seconds=10)


@dataclass(frozen=True, kw_only=True)
class Casting:
    """Who plays: the strategy of each opponent, our own, and how our side is run."""

    opponents: Sequence[str]
    strategy: str = "steady"
    at_once: int = 8
    poll_timeout: timedelta = timedelta(seconds=30)
    worker_time: timedelta = WORKER_TIME
    settings: Mapping[str, str] = field(default_factory=dict)
    pause: timedelta = timedelta(0)
    """How long an opponent thinks before each turn."""


@dataclass(frozen=True)
class Scene:
    """A table at which Alice is ours and each opponent plays as one of `SEATS`, in their order."""

    table: PlayedTable
    queue: Queue
    seats: Sequence[str]
    received: Counter[str]
    """How often each message was delivered to a worker."""

    def play(self, each: int, at_once: int = 100) -> list[Account]:
        """The accounts of as many matches as are said against each opponent."""
        table, taken = self.table, range(each * len(self.seats))
        matches = (table.begin(self.seats[number % len(self.seats)]) for number in taken)
        return list(table.finished(matches, at_once))


@contextmanager
def stage(casting: Casting, folder: Path) -> Iterator[Scene]:
    """The scene of a casting, until the end of the `with`."""
    config = ArenaConfig(
        players=write_players(folder),
        admin_password=ADMIN_PASSWORD,
        poll_timeout=casting.poll_timeout,
    )
    attendances: Counter[str] = Counter()
    received: Counter[str] = Counter()

    def observe(invocation: Invocation) -> None:
        attendances.update(attended_by(invocation))
        records = invocation.event.get("Records", ())
        assert isinstance(records, list | tuple)
        received.update(record["body"] for record in records)

    with ExitStack() as stack:
        arena = stack.enter_context(ArenaServer(config))
        variables = {**ours(arena.url), "CARDSHARP_STRATEGY": casting.strategy}
        cloud = embedded_in(folder / "matches.db")
        variables |= {**cloud.settings, **casting.settings}
        assembly = stack.enter_context(assembled(variables))
        passing = frozenset(f"opponent {seat}" for seat in SEATS)
        statuses = stack.enter_context(Tally(arena.url, passing))
        threads = start_opponents(arena.url, casting.opponents, casting.pause)
        rhythm = HomeRhythm(
            at_once=casting.at_once,
            breath=timedelta(milliseconds=100),
            worker_time=casting.worker_time,
            observe=observe,
        )
        side = stack.enter_context(attending(assembly, rhythm, arena.stop))
        table = PlayedTable(arena, side.log, statuses, ALICE, TURN_LIMIT, attendances)
        yield Scene(table, assembly.queue, SEATS[: len(casting.opponents)], received)
    for thread in threads:
        thread.join(10)


def ours(url: str) -> dict[str, str]:
    """The settings with which we are Alice at the arena of this address."""
    return {
        "CARDSHARP_ARENA_URL": url,
        "CARDSHARP_USER": ALICE,
        "CARDSHARP_PASSWORD": PASSWORDS[ALICE],
        "CARDSHARP_PACE_SECONDS": "0.2",
        "CARDSHARP_WATCH_SECONDS": "0.1",
    }


class Thinker(Opponent):
    """An opponent that takes its time before each turn."""

    pause = timedelta(0)

    def play_turn(self, match_id: str) -> None:
        threading.Event().wait(self.pause.total_seconds())
        super().play_turn(match_id)


def start_opponents(
    url: str, strategies: Sequence[str], pause: timedelta = timedelta(0)
) -> list[threading.Thread]:
    """Players in threads, who play until the arena is gone."""
    assert len(strategies) <= len(SEATS), "more opponents than the players' file has seats"
    threads = []
    for seat, strategy in zip(SEATS, strategies, strict=False):
        order = Order(url, seat, PASSWORDS[seat], strategy, "seed")
        thread = threading.Thread(
            target=_play, args=(order, pause), name=f"opponent {seat}", daemon=True
        )
        thread.start()
        threads.append(thread)
    return threads


def _play(order: Order, pause: timedelta) -> None:
    credentials, limits = Credentials(order.user, order.password), Limits(attempts=1)
    with ArenaClient(order.url, credentials, limits) as client, suppress(ArenaError):
        thinker = Thinker(client, order)
        thinker.pause = pause
        thinker.play_on()
