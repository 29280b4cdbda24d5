"""The stage of `cardsharp play`: a local arena, our side in its cloud, an opponent in a process.

The arena knows two teams: we are the first, the opponent is the second.
"""

import logging
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from cardsharp.access import Credentials
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.arena.players import ADMIN
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.wire import MatchParams
from cardsharp.deadmansdraw.wire_views import MatchView
from workbench.arena.server import ArenaServer
from workbench.cloud.home import HomeOptions
from workbench.stage.following import Follower, Glance
from workbench.stage.opponent import OPPONENT, US, OpponentProcess, Order
from workbench.stage.side import Cloud, CloudKind, Side, assembled, attending, opened

_SOURCE = logging.getLogger("urllib3.connectionpool")
_ANSWER_ARGS = 8  # of the message "scheme://host:port "method path version" status length"


class Tally(logging.Handler):
    """Counts answers of the server at `url` between enter and exit.

    The clients of poller and worker live and end inside the handlers, so the count is taken where
    every request passes: the debug messages that urllib3 logs, one for each answer.

    The kinds are those of `ArenaClient.counts`: list_wait, view, view_wait, act, create, other.
    """

    def __init__(self, url: str) -> None:
        super().__init__(logging.DEBUG)
        self._address = urlsplit(url).netloc
        self._counts = Counter[str]()
        self._before = (_SOURCE.level, _SOURCE.propagate)

    def __enter__(self) -> Self:
        self._before = (_SOURCE.level, _SOURCE.propagate)
        _SOURCE.setLevel(logging.DEBUG)
        _SOURCE.propagate = False  # a line a request would fill every log
        _SOURCE.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        _SOURCE.removeHandler(self)
        level, _SOURCE.propagate = self._before
        _SOURCE.setLevel(level)

    @property
    def counts(self) -> Counter[str]:
        """Answers so far by kind."""
        return self._counts.copy()

    def emit(self, record: logging.LogRecord) -> None:
        """Count a message that tells of an answer; others are passed over."""
        args = record.args
        if not isinstance(args, tuple) or len(args) != _ANSWER_ARGS:
            return
        _scheme, host, port, method, target, *_ = args
        if f"{host}:{port}" == self._address:
            self._counts[kind_of(str(method), str(target))] += 1


def kind_of(method: str, target: str) -> str:
    """What a request asks for, by its method and its path with query."""
    path, _, query = target.partition("?")
    parts = path.strip("/").split("/")
    match parts:
        case ["api", "matches"]:
            if method == "POST":
                return "create"
            return "list_wait" if "wait=true" in query else "list"
        case ["api", "matches", _]:
            if method == "POST":
                return "act"
            return "view_wait" if "waitactive=true" in query else "view"
    return "other"


STALL = timedelta(seconds=30)  # without a move before a match is stuck, beyond two turns


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Who plays, and how: strategies by name, or an opponent's file; a `seed` makes it the same."""

    strategy: str
    opponent: str
    cloud: CloudKind = CloudKind.EMBEDDED
    seed: str | None = None
    turn_limit: timedelta = timedelta(seconds=10)
    at_once: int = 1


class Stage:
    """Everything in its place: `organiser` makes matches, `look_on` follows, `tally` counts."""

    def __init__(
        self,
        script: Script,
        side: Side,
        organiser: ArenaClient,
        tally: Tally,
        check: Callable[[], None],
    ) -> None:
        self.script, self.log, self._clock = script, side.log, side.assembly.clock
        self._organiser, self._tally, self._check = organiser, tally, check
        self._begun = 0

    def begin(self) -> str:
        """The id of a new match between the two teams, created by the organiser."""
        self._begun += 1
        script = self.script
        seed = None if script.seed is None else f"{script.seed}/{self._begun}"
        params = MatchParams(
            player_ids=(US[0], OPPONENT[0]),
            tags=(f"play-{self._begun}",),
            random_seed=seed,
            timeout=script.turn_limit,
        )
        return self._organiser.create_match(params).id

    def look_on(self, count: int, glance: Glance) -> Iterator[str]:
        """The ids of `count` matches as they end; `glance` hears of who runs; may raise."""
        follower = Follower(self.log, self._clock, STALL + 2 * self.script.turn_limit)
        matches = (self.begin() for _ in range(count))
        return follower.as_they_end(matches, self.script.at_once, glance, self._check)

    def history(self, match_id: str) -> MatchView:
        """The match as the arena tells it, with all its moves."""
        return self._organiser.view(match_id)

    @property
    def requests(self) -> Counter[str]:
        """What our side has asked the arena for, by kind, without the organiser's questions."""
        counts = self._tally.counts
        counts.subtract(self._organiser.counts)
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
        variables = variables_of(script.strategy, arena.url, cloud)
        assembly = stack.enter_context(assembled(variables))
        admin = stack.enter_context(ArenaClient(arena.url, Credentials(ADMIN, password)))
        tally = stack.enter_context(Tally(arena.url))
        opponent.await_ready()

        def hang_up() -> None:
            opponent.kill()
            arena.stop()

        home = HomeOptions(concurrency=script.at_once, breath=cloud.breath)
        side = stack.enter_context(attending(assembly, home, hang_up))
        yield Stage(script, side, admin, tally, opponent.check)


def variables_of(strategy: str, url: str, cloud: Cloud) -> dict[str, str]:
    """Our settings; the arena is ours alone, so the poller may ask it often."""
    return {
        "CARDSHARP_ARENA_URL": url,
        "CARDSHARP_USER": US[0],
        "CARDSHARP_PASSWORD": US[1],
        "CARDSHARP_STRATEGY": strategy,
        "CARDSHARP_PACE_SECONDS": "0.2",
        "CARDSHARP_WATCH_SECONDS": "0.1",
        **cloud.settings,
    }
