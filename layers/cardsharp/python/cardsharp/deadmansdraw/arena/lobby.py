"""All matches of the arena: kept, found, and those who wait notified when one changes."""

from collections import defaultdict
from collections.abc import Iterable

from cardsharp.deadmansdraw.arena.match import Match, Move
from cardsharp.deadmansdraw.arena.storage import Storage
from cardsharp.deadmansdraw.arena.waiting import Signals

ANY_MATCH = "any match"
"""Notified of every new match and every change of turn."""


def player_signal(player_id: str) -> tuple[str, str]:
    """Notified when a match of this player begins, ends or changes turn."""
    return "player", player_id


def match_signal(match_id: str) -> tuple[str, str]:
    """Notified when a match ends or changes turn."""
    return "match", match_id


class Lobby:
    """The matches of one arena; everything happens in the server's one thread."""

    def __init__(self, storage: Storage, signals: Signals) -> None:
        self._storage = storage
        self._signals = signals
        self._matches: dict[str, Match] = {}
        self._running: dict[str, None] = {}
        self._histories: dict[str, list[Move]] = {}
        self._of_player: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._running_of: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for match in storage.matches():
            self._keep(match)

    def find(self, match_id: str) -> Match | None:
        """The match with this id."""
        return self._matches.get(match_id)

    def history(self, match_id: str) -> list[Move]:
        """All moves of a match, read back from the storage where it is an old one."""
        if match_id not in self._histories:
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

    def running_of(self, player_id: str) -> Iterable[Match]:
        """The matches in which a player takes part and that have not ended."""
        return (self._matches[match_id] for match_id in self._running_of.get(player_id, ()))

    def commit(self, match: Match, move: Move) -> None:
        """Store a match after a move, then show it and wake who waits for it.

        Raises:
            StoreError: it could not be stored; nothing has changed.
        """
        before = self._matches.get(match.id)
        history = [] if before is None else self.history(match.id)
        self._storage.save(match, move)
        history.append(move)
        self._histories[match.id] = history
        self._keep(match)
        if before is None or before.active_player != match.active_player:
            self._notify(match)

    def _keep(self, match: Match) -> None:
        self._matches[match.id] = match
        if match.finished:
            self._running.pop(match.id, None)
        else:
            self._running[match.id] = None
        for player in match.pairing.players:
            self._of_player[player][match.id] = None
            if match.finished:
                self._running_of[player].pop(match.id, None)
            else:
                self._running_of[player][match.id] = None

    def _notify(self, match: Match) -> None:
        self._signals.notify(match_signal(match.id))
        self._signals.notify(ANY_MATCH)
        for player in set(match.pairing.players):
            self._signals.notify(player_signal(player))
