"""An arena as its organiser has it in the cloud: in this process, over the arena's own table.

A match has an id that follows from its tags, seed and players, so creating it twice, or by two
directors at once, is one match. It is entered under its first tag before it is created; what was
entered and never created is nowhere else.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from http import HTTPStatus

from cardsharp.cloud.dynamodb_items import key
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.deadmansdraw import wire
from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.deadmansdraw.arena.players import ORGANISER
from cardsharp.deadmansdraw.arena.presence import TablePresence
from cardsharp.deadmansdraw.arena.referee import NOT_YOUR_TURN, Referee
from cardsharp.deadmansdraw.arena.views import Look, list_view
from cardsharp.deadmansdraw.wire import MatchParams
from cardsharp.deadmansdraw.wire_views import EventView, MatchCreated, MatchView, PlayerRecord
from cardsharp.errors import Conflict, NotYourTurn

_LOOK = Look(ORGANISER, events=True)


class Office:
    """An `OrganisedArena` over a referee; who `is_played` by the arena itself is always there."""

    def __init__(
        self,
        referee: Referee,
        table: DynamoTable,
        is_played: Callable[[str], object] = lambda _player: False,
    ) -> None:
        self._referee, self._table, self._is_played = referee, table, is_played
        self._presence = TablePresence(table)

    def players(self) -> list[PlayerRecord]:
        """All players, each with how long ago the arena heard of it."""
        idle = self._presence.idle(self._referee.now())
        known = self._referee.book.players.values()
        return [
            PlayerRecord(
                id=one.id,
                name=one.name,
                idle_seconds=0.0 if self._is_played(one.id) else idle.get(one.id),
            )
            for one in known
        ]

    def matches(self, tags: tuple[str, ...] = (), ids: tuple[str, ...] = ()) -> list[MatchView]:
        """The matches of these ids, or that this office created with any of these first tags."""
        entered = [item["sk"]["S"] for tag in tags for item in self._table.under(_partition(tag))]
        found = map(self._referee.lobby.find, (*ids, *entered))
        return [_view(match) for match in found if match is not None]

    def view(self, match_id: str, *, debug: bool = False) -> MatchView:
        """A match with all its moves, with `debug` also what each asked for."""
        look = replace(_LOOK, debug=debug)
        return wire.parse_view(self._referee.view(self._referee.find(match_id), look))

    def create_match(self, params: MatchParams) -> MatchCreated:
        """The match with these tags, seed and players, new unless it was created before."""
        # Its players as well: a ruling may bring others into a pairing.
        known_by = (*params.tags, params.random_seed or "", *(params.player_ids or ()))
        match_id = sha256("\n".join(known_by).encode()).hexdigest()[:24]
        self._table.put(key(_partition(params.tags[0]), match_id))
        with suppress(Conflict):  # it was created before
            self._referee.create(ORGANISER, wire.params_body(params), None, match_id)
        return MatchCreated(id=match_id)

    def terminate(
        self, match_id: str, winner_id: str | None = None, comment: str | None = None
    ) -> MatchView:
        """The match after it was ended by decision."""
        said = {"winnerId": winner_id, "comment": comment}
        return _view(self._referee.terminate(ORGANISER, match_id, said, None))


class TableSeat:
    """The seat of a player whom the arena itself plays: nobody acts on what has gone on since.

    It sees what the player may see, and no more.
    """

    def __init__(self, referee: Referee, player: str) -> None:
        self._referee, self._user = referee, referee.book.user(player)
        self._seen = 0

    def view(self, match_id: str) -> MatchView:
        """The match as it is now, with all its moves."""
        match = self._referee.visible(self._user, match_id)
        self._seen = match.moves
        return wire.parse_whole_view(self._referee.view(match, Look(self._user, events=True)))

    def act(self, match_id: str, action: Action) -> list[EventView]:
        """What an action caused; raises `NotYourTurn`, also if it was played meanwhile."""
        match = self._referee.find(match_id)
        if match.active_player != self._user.id or match.moves != self._seen:
            raise NotYourTurn(HTTPStatus.CONFLICT, NOT_YOUR_TURN)
        try:
            move = self._referee.carry_out(match, action, None)
        except Conflict:
            raise NotYourTurn(HTTPStatus.CONFLICT, NOT_YOUR_TURN) from None
        self._seen += 1
        return wire.parse_events(move.answer())


def _partition(tag: str) -> str:
    return f"tagged#{tag}"


def _view(match: Match) -> MatchView:
    return wire.parse_view(list_view(match, _LOOK))
