"""A contest on this machine: its arena and the teams that are played here.

All of it is one process. Whatever kills it, the next start goes on from the arena's file.
"""

import logging
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from time import monotonic

from pydantic import SecretStr

from cardsharp.access import Address, Credentials, ha1
from cardsharp.contest.entries import Entrant
from cardsharp.contest.pairing import Team
from cardsharp.contest.records import Records
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.arena.limits import OF_A_TEAM, PER_ADDRESS
from cardsharp.deadmansdraw.arena.players import ADMIN, DUMMY_ID, Player
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.contest.tables import ArenaTables
from cardsharp.deadmansdraw.recorded import told
from cardsharp.deadmansdraw.wire_views import MatchView
from cardsharp.errors import CardsharpError, Malformed, StoreError
from workbench.arena.server import ArenaServer
from workbench.contest.submitting import HomePages
from workbench.contest.tables import LOG, Reporter
from workbench.show.lookup import keep_match, open_log
from workbench.show.options import ArenaPlace
from workbench.stage.opponent import Opponent, OpponentProcess, Order
from workbench.strategy_file import is_own, strategy_named
from workbench.submission import is_awaited, played_as

FRESH = 2.0  # seconds until a new password counts
HERE = "-here"  # ends the user name of who plays for a team here, whose own stays its own
AGAIN = timedelta(seconds=1)  # until a team that fell over plays on

HOUSE = Entrant(DUMMY_ID, "House", secrets.token_hex(16), "captain")
"""Plays whoever begins a match with the dummy player, as every arena has it; it enters nothing."""

_log = logging.getLogger(__name__)


USUAL = ArenaPlace()  # on this machine alone


class KeptTables(ArenaTables):
    """The arena's tables; each match that ends is kept in the contest's log, as `show` wants it."""

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


class EnteredTeams(Mapping[str, Player]):
    """Teams and house as the arena's players, read after `FRESH`; who plays here is `ID-here`."""

    def __init__(
        self, records: Records, words: Mapping[Team, str], seconds: Callable[[], float] = monotonic
    ) -> None:
        self._records, self._words, self._seconds = records, words, seconds
        self._until, self._players = 0.0, dict[str, Player]()

    def __getitem__(self, team: str) -> Player:
        known = self._now()[team.removesuffix(HERE)]
        if not team.endswith(HERE):
            return known
        return known.model_copy(update={"ha1": SecretStr(ha1(team, self._words[known.id]))})

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())

    def renew(self) -> None:
        """Read them again at once."""
        self._until = 0.0

    def _now(self) -> dict[str, Player]:
        if self._seconds() > self._until:
            self._until = self._seconds() + FRESH
            with suppress(StoreError):  # a busy store: it is tried again
                found, names = self._records.teams(), self._records.players()
                known = [replace(team, name=names.get(team.id, team.name)) for team in found]
                self._players = {
                    one.id: Player.model_validate({"_id": one.id, "name": one.name, "ha1": one.ha1})
                    for one in (*known, HOUSE)
                }
        return self._players


@contextmanager
def opened(records: Records, folder: Path, place: ArenaPlace) -> Iterator[tuple[str, ArenaClient]]:
    """The contest's arena with the teams that are played here: its address, and its organiser.

    What the arena keeps lies in `folder`, beside the records. Raises `ConfigError` if it cannot be
    run as it was told.
    """
    teams, organiser = records.teams(), secrets.token_urlsafe(18)
    for strategy in (team.strategy for team in teams):
        if strategy is not None and not is_own(strategy):
            strategy_named(strategy)  # what is wrong with it is said before anything begins
    words = dict[Team, str]()
    entered, tell = EnteredTeams(records, words), Reporter(records)
    config = _config(folder, place, len(teams))
    config = replace(config, teams=lambda: entered, free=words.keys(), admin_password=organiser)
    pages = HomePages(records, folder)
    with ExitStack() as stack:
        arena = stack.enter_context(ArenaServer(config, pages))
        url = arena.url.replace("0.0.0.0", "127.0.0.1")  # noqa: S104
        over = threading.Event()
        stack.callback(over.set)
        certificate = None if place.tls is None else place.tls[0]
        ca = None if certificate is None else str(certificate)

        def enlist() -> None:
            """Play the teams that are to be played here, those that have come since as well."""
            for team in (*records.teams(), HOUSE):
                if team.strategy is not None and team.id not in words:
                    words[team.id] = secrets.token_urlsafe(18)
                    entered.renew()
                    played = played_as(team.strategy, folder, team.id)
                    order = Order(url, f"{team.id}{HERE}", words[team.id], played, team.name, ca)
                    play_on(order, tell, folder, over)

        hear = partial(tell.hear, folder, None)
        enlist()
        stack.callback(hear)
        threading.Thread(target=_look_out, args=(enlist, hear, over), daemon=True).start()
        here = Address(url, certificate)
        client = stack.enter_context(ArenaClient(here, Credentials(ADMIN, organiser)))
        yield arena.url, client


def _look_out(enlist: Callable[[], None], hear: Callable[[], None], over: threading.Event) -> None:
    while not over.wait(FRESH):
        with suppress(StoreError):  # a busy store: it is tried again
            enlist()
            hear()


def _config(folder: Path, place: ArenaPlace, teams: int) -> ArenaConfig:
    """How the arena of a contest of so many teams is run, but for who may enter."""
    return ArenaConfig(
        **place.told,
        data=folder / "arena.db",
        watchdog=timedelta(seconds=1),
        quotas=OF_A_TEAM,
        slow_down=True,
        # The original's 100 would slow teams whose programs answer at once, and cost them turns.
        per_user=PER_ADDRESS,
        # A whole contest may come from one address, and an attack on it, too.
        per_address=PER_ADDRESS * teams,
        crowded=True,
    )


Tell = Callable[[Team, object], None]  # is told of a team's fault


def play_on(order: Order, tell: Tell, folder: Path, over: threading.Event) -> None:
    """Play a team's matches until the contest is over, its own code in a process of its own."""

    def play() -> None:
        own = is_own(order.strategy)
        while not over.is_set():
            try:
                if not own:
                    _play(order)
                elif not is_awaited(order.strategy):
                    _watch(order, folder, over)
            except CardsharpError as error:
                if own or not over.is_set():  # else the arena has closed
                    tell(order.player, error)
            over.wait(AGAIN.total_seconds())

    threading.Thread(target=play, name=f"team {order.user}", daemon=True).start()


def _play(order: Order) -> None:
    credentials = Credentials(order.user, order.password)
    with ArenaClient(order.address, credentials) as client:
        Opponent(client, order).play_on()


def _watch(order: Order, folder: Path, over: threading.Event) -> None:
    with OpponentProcess(order, folder / f"{order.player}.log") as process:
        process.await_ready()
        while not over.wait(AGAIN.total_seconds()):
            process.check()
