"""The stage of `cardsharp play`: a local arena, our side in its cloud, an opponent in a process.

The arena knows two teams: we are the first, the opponent is the second.
"""

import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from cardsharp.access import Credentials
from cardsharp.cloud.timing import USUAL
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.arena.players import ADMIN
from cardsharp.deadmansdraw.assembly import Assembly
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.wire import MatchParams
from workbench.arena.server import ArenaServer
from workbench.cloud.home import HomeOptions
from workbench.stage.opponent import OPPONENT, US, OpponentProcess, Order
from workbench.stage.side import CloudKind, Follower, Glance, assembled, attending, opened

STALL = timedelta(minutes=2)  # without a move before a match is stuck, beyond two turns
LATEST = timedelta(seconds=8)  # a worker hands on a match in which it has less for a decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Who plays, and how: strategies by name, or an opponent's file; a `seed` makes it the same."""

    strategy: str
    opponent: str
    cloud: CloudKind = CloudKind.EMBEDDED
    seed: str | None = None
    turn_limit: timedelta = timedelta(seconds=10)
    at_once: int = 1


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything in its place: `organiser` makes matches, `look_on` follows them."""

    script: Script
    assembly: Assembly
    organiser: ArenaClient
    check: Callable[[], None]

    def _begun(self, number: int) -> str:
        """The id of the match of that number between the two teams, created by the organiser."""
        script = self.script
        seed = None if script.seed is None else f"{script.seed}/{number}"
        params = MatchParams(
            player_ids=(US[0], OPPONENT[0]),
            tags=(f"play-{number}",),
            random_seed=seed,
            timeout=script.turn_limit,
        )
        return self.organiser.create_match(params).id

    def look_on(self, count: int, glance: Glance) -> Iterator[str]:
        """The ids of `count` matches as they end; `glance` hears of who runs; may raise."""
        limit = STALL + 2 * self.script.turn_limit
        matches = map(self._begun, range(1, count + 1))
        follower = Follower(self.assembly.log, self.assembly.clock, limit)
        return follower.as_they_end(matches, self.script.at_once, glance, self.check)

    @property
    def requests(self) -> Counter[str]:
        """What our side has asked the arena for, by kind."""
        counts = self.assembly.contact_of(US[0]).counts.copy()
        counts["retries"] = counts["slowed"] = 0  # which tell how, not what
        return +counts


@contextmanager
def set_up(script: Script, folder: Path) -> Iterator[Stage]:
    """A stage for matches, its files in `folder`; raises `ConfigError`, or `CardsharpError`."""
    password = secrets.token_urlsafe()
    with ExitStack() as stack:
        arena = stack.enter_context(ArenaServer(ArenaConfig(admin_password=password)))
        order = Order(arena.url, *OPPONENT, script.opponent, script.seed)
        opponent = stack.enter_context(OpponentProcess(order, folder / "opponent.log"))
        cloud = stack.enter_context(opened(script.cloud, folder))
        limit = decision_limit(script.turn_limit)
        variables = variables_of(script.strategy, arena.url, cloud, limit)
        assembly = stack.enter_context(assembled(variables))
        admin = stack.enter_context(ArenaClient(arena.url, Credentials(ADMIN, password)))
        opponent.await_ready()

        def hang_up() -> None:
            opponent.kill()
            arena.stop()

        home = HomeOptions(concurrency=script.at_once)
        stack.enter_context(attending(assembly.offering, home, hang_up))
        yield Stage(script, assembly, admin, opponent.check)


def decision_limit(turn: timedelta) -> timedelta:
    """How long a decision may take on the clock in a match with that limit of a turn.

    What is not ours has 2 s of processor time in a process of its own. On the clock this takes
    longer where the machine does other things; it must only leave time for a safe action.
    """
    return max(USUAL.decision, min(turn * 0.8, LATEST))


def variables_of(
    strategy: str, url: str, cloud: Mapping[str, str], decision: timedelta = USUAL.decision
) -> dict[str, str]:
    """Our settings; the arena is ours alone, so the poller may ask it often."""
    return {
        "CARDSHARP_ARENA_URL": url,
        "CARDSHARP_USER": US[0],
        "CARDSHARP_PASSWORD": US[1],
        "CARDSHARP_STRATEGY": strategy,
        "CARDSHARP_PACE_SECONDS": "0.2",
        "CARDSHARP_WATCH_SECONDS": "0.1",
        "CARDSHARP_DECISION_SECONDS": str(decision.total_seconds()),
        **cloud,
    }
