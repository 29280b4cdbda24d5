"""A contest on this machine: its arena and the teams that are played here.

All of it is one process. Whatever kills it, the next start goes on from the arena's file.
"""

import fcntl
import json
import logging
import os
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from cardsharp.access import Address, Credentials, ha1
from cardsharp.cloud.private import make_private
from cardsharp.contest.entries import Entrant
from cardsharp.contest.kept import ContestsKept
from cardsharp.contest.records import Records
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.arena.limits import OF_A_TEAM, PER_ADDRESS
from cardsharp.deadmansdraw.arena.players import ADMIN
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.contest.page_routes import ContestPages
from cardsharp.deadmansdraw.contest.tables import AttendedTables
from cardsharp.deadmansdraw.recorded import told
from cardsharp.deadmansdraw.wire_views import MatchView
from cardsharp.errors import ArenaError, CardsharpError, ConfigError, Malformed, StoreError
from workbench.arena.server import ArenaServer
from workbench.contest.tables import LOG
from workbench.show.keeping import keep_match
from workbench.show.lookup import open_log
from workbench.stage.opponent import Opponent, Order
from workbench.stage.opponent_process import opponent_at_play
from workbench.strategy_file import is_own, strategy_named

PAUSE = timedelta(seconds=0.5)
"""Between two steps of the director."""

NEWS = timedelta(seconds=2)
"""Between two looks whether a team has a new password."""

AGAIN = timedelta(seconds=1)
"""Until a team that fell over plays on."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the arena of the contest listens, and to whom; see `ArenaConfig`."""

    host: str = "127.0.0.1"
    port: int = 8080
    tls: tuple[Path, Path] | None = None
    insecure: bool = False
    public: bool = False


class KeptTables(AttendedTables):
    """The arena's tables, of which each match that has ended is kept in the contest's match log.

    There `matches`, `show`, `watch`, `analyse` and `stats` find it.
    """

    def __init__(self, arena: ArenaClient, folder: Path) -> None:
        super().__init__(arena)
        self._log = folder / LOG

    def view(self, match: str) -> MatchView:
        """A match with all its moves."""
        view = super().view(match)
        if view.finished:
            try:
                with open_log(f"sqlite:{self._log}") as log:
                    keep_match(*told(view), log)
            except (StoreError, Malformed) as error:  # the contest goes on without it
                _log.warning("Match %s could not be kept in %s: %s", match, self._log, error)
        return view


@contextmanager
def directed(folder: Path, command: str) -> Iterator[None]:
    """Have a contest's folder for this process alone; its death gives it free.

    Raises:
        ConfigError: another process has it; says which, and how to stop it.
    """
    path = folder / "director"
    make_private(path)
    with path.open("r+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(
                f"`{file.read() or 'Another command'}: stop it there with Ctrl-C, and try again."
            ) from None
        file.truncate()
        now = datetime.now().astimezone()
        file.write(f"contest {command}` has run since {now:%H:%M} in process {os.getpid()}")
        file.flush()
        yield


@contextmanager
def opened(
    records: Records, folder: Path, place: Place, organiser: str
) -> Iterator[tuple[str, ArenaClient]]:
    """The contest's arena with the teams that are played here: its address, and its organiser.

    What the arena keeps lies in `folder`, beside the records.
    `organiser` is the password of the arena's admin.

    Raises:
        ConfigError: there are fewer than two teams, or the arena cannot be run as it was told.
    """
    teams = records.teams()
    if len(teams) < 2:  # noqa: PLR2004 - nobody meets anybody
        raise ConfigError("A contest has two teams at least; `cardsharp contest teams add`.")
    for team in teams:
        if team.strategy is not None and not is_own(team.strategy):
            strategy_named(team.strategy)  # what is wrong with one is said before anything begins
    words = {team.id: secrets.token_urlsafe(18) for team in teams if team.strategy is not None}
    players = folder / "players.json"
    _write_players(players, teams, words)
    config = replace(
        _config(folder, place, len(teams)),
        players=players,
        free=frozenset(words),
        admin_password=organiser,
    )
    with ExitStack() as stack:
        arena = stack.enter_context(
            ArenaServer(config, ContestPages(lambda: ContestsKept(records.documents)))
        )
        url = arena.url.replace("0.0.0.0", "127.0.0.1")  # noqa: S104
        over = threading.Event()
        following = threading.Thread(
            target=_follow_passwords, args=(records, players, words, over), daemon=True
        )
        following.start()
        stack.callback(following.join)  # it reads records, which are closed after that
        stack.callback(over.set)
        for team in teams:
            if team.strategy is not None:
                ca = None if place.tls is None else str(place.tls[0])
                order = Order(url, team.id, words[team.id], team.strategy, team.name, ca)
                play_on(order, team.name, folder, over)
        here = Address(url, place.tls and place.tls[0])
        client = stack.enter_context(ArenaClient(here, Credentials(ADMIN, organiser)))
        yield arena.url, client


def _config(folder: Path, place: Place, teams: int) -> ArenaConfig:
    """How the arena of a contest of so many teams is run, but for who may enter."""
    return ArenaConfig(
        host=place.host,
        port=place.port,
        data=folder / "arena.db",
        tls=place.tls,
        insecure=place.insecure,
        public=place.public,
        watchdog=timedelta(seconds=1),
        quotas=OF_A_TEAM,
        slow_down=True,
        # The original's 100 would slow teams whose programs answer at once, and cost them turns.
        per_user=PER_ADDRESS,
        # A whole contest may come from one address, and an attack on it, too.
        per_address=PER_ADDRESS * teams,
        crowded=True,
    )


def run(step: Callable[[], bool], tell: Callable[[], None], pause: Callable[[], None]) -> None:
    """Take steps until one says that it was the last; `tell` is called after each."""
    over = False
    while not over:
        try:
            over = step()
        except ArenaError as error:
            _log.warning("The arena failed the director: %s", error)
        tell()
        if not over:
            pause()


def _follow_passwords(
    records: Records, players: Path, words: dict[str, str], over: threading.Event
) -> None:
    """Have the arena know the passwords that teams are given while the contest goes on."""
    known = records.teams()
    while not over.wait(NEWS.total_seconds()):
        with suppress(StoreError, OSError):  # a busy store, a full disk: it is tried again
            teams = records.teams()
            if teams != known:
                _write_players(players, teams, words)
                known = teams


def _write_players(path: Path, teams: list[Entrant], words: dict[str, str]) -> None:
    """The arena's players: entrants by their hashed passwords, our own by those of this start."""
    found = [
        {
            "_id": team.id,
            "name": team.name,
            "ha1": ha1(team.id, words[team.id]) if team.id in words else team.ha1,
        }
        for team in teams
    ]
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    make_private(fresh)
    fresh.write_text(json.dumps(found))
    fresh.replace(path)


def play_on(order: Order, name: str, folder: Path, over: threading.Event) -> None:
    """Play a team's matches, whatever happens, until the contest is over.

    A team's own code plays in a process of its own: it can neither end ours nor look into it.
    """
    play = _apart if is_own(order.strategy) else _here
    threading.Thread(
        target=play, args=(order, name, folder, over), name=f"team {order.user}", daemon=True
    ).start()


def _here(order: Order, name: str, _folder: Path, over: threading.Event) -> None:
    while not over.is_set():
        try:
            credentials = Credentials(order.user, order.password)
            with ArenaClient(order.address, credentials) as client:
                Opponent(client, order).play_on()
        except CardsharpError as error:
            if not over.wait(AGAIN.total_seconds()):
                _log.warning("%s fell over: %s", name, error)


def _apart(order: Order, name: str, folder: Path, over: threading.Event) -> None:
    while not over.is_set():
        with opponent_at_play(order, folder / f"{order.user}.log") as process:
            try:
                process.await_ready()
                while not over.wait(AGAIN.total_seconds()):
                    process.check()
            except CardsharpError as error:
                _log.warning("%s fell over: %s", name, error)
                over.wait(AGAIN.total_seconds())
