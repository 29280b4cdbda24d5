"""The arena in one process: all matches in memory, over what survives it."""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from secrets import token_bytes

from pydantic import SecretStr

from cardsharp.cloud.clock import Now
from cardsharp.deadmansdraw.arena.app import Arena
from cardsharp.deadmansdraw.arena.config import ArenaConfig, Place
from cardsharp.deadmansdraw.arena.limits import MemoryCounts
from cardsharp.deadmansdraw.arena.lobby import ANY_MATCH, MATCH, MOVED, NEW_MATCH, TURN, Signal
from cardsharp.deadmansdraw.arena.match import Match, Move
from cardsharp.deadmansdraw.arena.players import Book, PlayersFile
from cardsharp.deadmansdraw.arena.presence import Presence
from cardsharp.deadmansdraw.arena.storage import SqliteStorage
from cardsharp.deadmansdraw.arena.waiting import Signals
from cardsharp.errors import Conflict, StoreError

AUDIENCE = 300  # spectators who wait for a move at a time; further ones are answered at once
STANDSTILL = timedelta(seconds=2)  # since the last look: the whole process stood still
_log = logging.getLogger(__name__)


def awake(clock: Now, resumed: Callable[[datetime], None]) -> Now:
    """A clock that is looked at all the time, and calls `resumed` where it was not.

    A laptop was shut, or a machine stopped and went on: nobody could move meanwhile.
    """
    seen = clock()

    def told() -> datetime:
        nonlocal seen
        now = clock()
        stood_still, seen = now - seen > STANDSTILL, now
        if stood_still:
            _log.warning("The arena stood still; every turn has all its time again")
            resumed(now)
        return now

    return told


class HomeArena(Arena):
    """The arena that a configuration describes; raises `ConfigError` if a file cannot be used."""

    def __init__(self, config: ArenaConfig) -> None:
        password = config.admin_password
        word = None if password is None else SecretStr(password)
        seal = token_bytes(32)
        signals = Signals()
        since = config.clock()  # from when on every turn has all its time
        if config.watchdog is not None:  # without it nobody looks at the clock all the time
            config = replace(config, clock=awake(config.clock, self._resume))
        self._storage = None if config.data is None else SqliteStorage(config.data)
        players = PlayersFile(config.players) if config.teams is None else config.teams
        place = Place(
            lobby=MemoryLobby(self._storage, signals),
            waiting=signals,
            book=Book(players, lambda: word),
            counts=MemoryCounts(config.clock),
            presence=Presence(),
            seal=lambda: seal,
            name="memory" if config.data is None else "sqlite",
            audience=AUDIENCE,
        )
        super().__init__(config, place)
        self._resume(since)

    def _resume(self, at: datetime) -> None:
        self.referee.resume(at)

    def close(self) -> None:
        """End every long poll and let go of the data file."""
        super().close()
        if self._storage is not None:
            self._storage.close()


class MemoryLobby:
    """The matches of one arena, in the server's one thread; without `storage` they end with it."""

    def __init__(self, storage: SqliteStorage | None, signals: Signals) -> None:
        self._storage = storage
        self._signals = signals
        self._matches: dict[str, Match] = {}
        self._running: dict[str, None] = {}
        self._histories: dict[str, list[Move]] = {}
        self._of_player: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._running_of: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._unreadable: set[str] = set()
        for match_id, match in () if storage is None else storage.matches():
            if match is None:
                self._unreadable.add(match_id)
            else:
                self._keep(match)

    def find(self, match_id: str) -> Match | None:
        """The match with this id; raises `StoreError` where it is stored but cannot be read."""
        if match_id in self._unreadable:
            raise StoreError(f"The stored match {match_id} cannot be read.")
        return self._matches.get(match_id)

    def history(self, match_id: str) -> list[Move]:
        """All moves of a match, read back from the storage where it is an old one."""
        if match_id not in self._histories and self._storage is not None:
            self._histories[match_id] = self._storage.history(match_id)
        return self._histories[match_id]

    def all(self) -> Iterable[Match]:
        """Every match."""
        return self._matches.values()

    def running(self) -> Iterable[Match]:
        """Every match that has not ended."""
        return (self._matches[match_id] for match_id in self._running)

    def of_player(self, player_id: str) -> Iterable[Match]:
        """The matches in which a player takes part."""
        return (self._matches[match_id] for match_id in self._of_player.get(player_id, ()))

    def at_turn(self, player_id: str) -> Iterable[Match]:
        """The matches that wait for a player's action."""
        running = (self._matches[match_id] for match_id in self._running_of.get(player_id, ()))
        return (match for match in running if match.active_player == player_id)

    def commit(self, match: Match, move: Move) -> None:
        """Store a match after a move, then show it and wake who waits for it.

        Raises `StoreError` if it could not be stored; nothing has changed. Raises `Conflict` if the
        match has gone on meanwhile, or there is one with a new one's id.
        """
        before = self._matches.get(match.id)
        history = [] if before is None else self.history(match.id)
        if move.sequence != len(history):
            raise Conflict(f"Match {match.id} has gone on meanwhile.")
        if self._storage is not None:
            self._storage.save(match, move)
        history.append(move)
        self._histories[match.id] = history
        self._keep(match)
        self._signals.notify(Signal(MOVED, match.id))
        if before is None or before.active_player != match.active_player:
            self._signals.notify(Signal(MATCH, match.id))
            if match.active_player is not None:
                self._signals.notify(Signal(TURN, match.active_player))
        if before is None:
            self._signals.notify(ANY_MATCH)
            for player in set(match.pairing.players):
                self._signals.notify(Signal(NEW_MATCH, player))

    def _keep(self, match: Match) -> None:
        self._matches[match.id] = match
        players = match.pairing.players
        for player in players:
            self._of_player[player][match.id] = None
        for running in (self._running, *(self._running_of[player] for player in players)):
            if match.finished:
                running.pop(match.id, None)
            else:
                running[match.id] = None
