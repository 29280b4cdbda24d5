"""An arena in one process: all matches in memory, with an optional file that survives it."""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from secrets import token_bytes

from pydantic import SecretStr

from cardsharp.core.clock import TimeSource
from cardsharp.errors import StoreError, WriteConflict
from cardsharp.games.deadmansdraw.arena.access.presence import Presence
from cardsharp.games.deadmansdraw.arena.access.throttling import MemoryWindowCounter
from cardsharp.games.deadmansdraw.arena.access.users import PlayersFile, UserDirectory
from cardsharp.games.deadmansdraw.arena.app import Arena
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig, ArenaDependencies
from cardsharp.games.deadmansdraw.arena.long_poll import InProcessLongPoll
from cardsharp.games.deadmansdraw.arena.match import ArenaMatch, ArenaMove
from cardsharp.games.deadmansdraw.arena.storage.match_repository import (
    ANY_MATCH_CREATED,
    MATCH_CREATED,
    MOVE_PLAYED,
    TURN_OVER,
    TURN_STARTED,
    WaitTopic,
)
from cardsharp.games.deadmansdraw.arena.storage.sqlite_storage import SqliteStorage

MAX_WAITING_SPECTATORS = 300  # long polls of spectators; further ones get a response at once
SUSPEND_THRESHOLD = timedelta(seconds=2)  # a longer gap between two reads means a suspension
_log = logging.getLogger(__name__)


def suspend_detecting_clock(clock: TimeSource, on_resume: Callable[[datetime], None]) -> TimeSource:
    """Return a clock that calls `on_resume` if it was not read for a long time.

    The machine was suspended then, e.g. a closed laptop, and nobody could move meanwhile. The
    clock must be read all the time.
    """
    last_reading = clock()

    def checked_clock() -> datetime:
        nonlocal last_reading
        current_time = clock()
        stood_still, last_reading = current_time - last_reading > SUSPEND_THRESHOLD, current_time
        if stood_still:
            _log.warning("The arena was suspended, so the time limit of every turn starts again")
            on_resume(current_time)
        return current_time

    return checked_clock


class LocalArena(Arena):
    """Arena in this process, built from its settings; raises `ConfigError` for a bad file."""

    def __init__(self, config: ArenaConfig) -> None:
        password = config.admin_password
        admin_secret = None if password is None else SecretStr(password)
        seal = token_bytes(32)
        signals = InProcessLongPoll()
        since = config.clock()  # from this time on every turn has its full time
        if config.watchdog_grace is not None:  # only the watchdog reads the clock all the time
            config = replace(
                config, clock=suspend_detecting_clock(config.clock, self._restart_turn_clocks)
            )
        self._storage = None if config.data_file is None else SqliteStorage(config.data_file)
        players = (
            PlayersFile(config.players_file) if config.load_players is None else config.load_players
        )
        backend = ArenaDependencies(
            matches=MemoryMatchRepository(self._storage, signals),
            long_poll=signals,
            users=UserDirectory(players, lambda: admin_secret),
            window_counter=MemoryWindowCounter(config.clock),
            presence=Presence(),
            nonce_key=lambda: seal,
            name="memory" if config.data_file is None else "sqlite",
            max_waiting_spectators=MAX_WAITING_SPECTATORS,
        )
        super().__init__(config, backend)
        self._restart_turn_clocks(since)

    def _restart_turn_clocks(self, at: datetime) -> None:
        self.referee.restart_turn_clocks(at)

    def close(self) -> None:
        """End every long poll and close the data file."""
        super().close()
        if self._storage is not None:
            self._storage.close()


class MemoryMatchRepository:
    """The matches of one arena, in the server's one thread; without `storage` they end with it."""

    def __init__(self, storage: SqliteStorage | None, long_poll: InProcessLongPoll) -> None:
        self._storage = storage
        self._long_poll = long_poll
        self._matches: dict[str, ArenaMatch] = {}
        self._running_ids: dict[str, None] = {}
        self._histories: dict[str, list[ArenaMove]] = {}
        self._ids_by_player: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._running_ids_by_player: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._unreadable_ids: set[str] = set()
        for match_id, match in () if storage is None else storage.iterate_stored_matches():
            if match is None:
                self._unreadable_ids.add(match_id)
            else:
                self._index_match(match)

    def get(self, match_id: str) -> ArenaMatch | None:
        """Return the match with this id; raise `StoreError` if it is stored but unreadable."""
        if match_id in self._unreadable_ids:
            raise StoreError(f"The stored match {match_id} cannot be read.")
        return self._matches.get(match_id)

    def move_history(self, match_id: str) -> list[ArenaMove]:
        """Return all moves of a match, read from the storage if it is an old match."""
        if match_id not in self._histories and self._storage is not None:
            self._histories[match_id] = self._storage.move_history(match_id)
        return self._histories[match_id]

    def all_matches(self) -> Iterable[ArenaMatch]:
        """Return every match."""
        return self._matches.values()

    def running_matches(self) -> Iterable[ArenaMatch]:
        """Return every match that has not ended."""
        return (self._matches[match_id] for match_id in self._running_ids)

    def matches_of(self, player_id: str) -> Iterable[ArenaMatch]:
        """Return the matches in which a player takes part."""
        return (self._matches[match_id] for match_id in self._ids_by_player.get(player_id, ()))

    def matches_waiting_for(self, player_id: str) -> Iterable[ArenaMatch]:
        """Return the matches that wait for a player's action."""
        running = (
            self._matches[match_id] for match_id in self._running_ids_by_player.get(player_id, ())
        )
        return (match for match in running if match.active_player == player_id)

    def save_move(self, match: ArenaMatch, move: ArenaMove) -> None:
        """Store a match after a move, then publish it and wake the requests that wait for it.

        Raises `StoreError` if it could not be stored; nothing has changed. Raises
        `WriteConflict` if the match has another move meanwhile, or if the id of a new match is
        taken.
        """
        previous = self._matches.get(match.id)
        history = [] if previous is None else self.move_history(match.id)
        if move.sequence != len(history):
            raise WriteConflict(f"Another request has changed match {match.id}.")
        if self._storage is not None:
            self._storage.save_move(match, move)
        history.append(move)
        self._histories[match.id] = history
        self._index_match(match)
        self._long_poll.notify(WaitTopic(MOVE_PLAYED, match.id))
        if previous is None or previous.active_player != match.active_player:
            self._long_poll.notify(WaitTopic(TURN_OVER, match.id))
            if match.active_player is not None:
                self._long_poll.notify(WaitTopic(TURN_STARTED, match.active_player))
        if previous is None:
            self._long_poll.notify(ANY_MATCH_CREATED)
            for player in set(match.pairing.players):
                self._long_poll.notify(WaitTopic(MATCH_CREATED, player))

    def _index_match(self, match: ArenaMatch) -> None:
        self._matches[match.id] = match
        players = match.pairing.players
        for player in players:
            self._ids_by_player[player][match.id] = None
        for running in (
            self._running_ids,
            *(self._running_ids_by_player[player] for player in players),
        ):
            if match.is_finished:
                running.pop(match.id, None)
            else:
                running[match.id] = None
