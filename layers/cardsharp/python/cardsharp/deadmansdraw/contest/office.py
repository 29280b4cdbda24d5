"""An arena as its organiser has it in the cloud: in this process, over the arena's own table.

A match has an id that follows from its tags and seed, so creating it twice, or by two directors at
once, is one match. It is entered under its first tag before it is created; what was
entered and never created is nowhere else.
"""

from contextlib import suppress
from dataclasses import replace
from hashlib import sha256

from cardsharp.cloud.dynamodb_items import key
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.deadmansdraw import wire
from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.deadmansdraw.arena.players import ADMIN, User
from cardsharp.deadmansdraw.arena.referee import Referee
from cardsharp.deadmansdraw.arena.views import Look, full_view, list_view
from cardsharp.deadmansdraw.wire import MatchParams
from cardsharp.deadmansdraw.wire_views import MatchCreated, MatchView
from cardsharp.errors import Conflict

_ORGANISER = User(ADMIN, None, ADMIN)
_LOOK = Look(_ORGANISER, events=True)


class Office:
    """An `OrganisedArena` over a referee."""

    def __init__(self, referee: Referee, table: DynamoTable) -> None:
        self._referee = referee
        self._table = table

    def matches(self, tags: tuple[str, ...] = (), ids: tuple[str, ...] = ()) -> list[MatchView]:
        """The matches of these ids, or that this office created with any of these first tags."""
        entered = [item["sk"]["S"] for tag in tags for item in self._table.under(_partition(tag))]
        found = map(self._referee.lobby.find, (*ids, *entered))
        return [_view(match) for match in found if match is not None]

    def view(self, match_id: str, *, debug: bool = False) -> MatchView:
        """A match with all its moves, with `debug` also what each asked for."""
        look = replace(_LOOK, debug=debug)
        referee = self._referee
        match = referee.find(match_id)
        history = referee.lobby.history(match_id)
        return wire.parse_view(full_view(match, look, history, referee.book))

    def create_match(self, params: MatchParams) -> MatchCreated:
        """The match with these tags and seed, which is new unless it was created before."""
        known_by = "\n".join((*params.tags, params.random_seed or ""))
        match_id = sha256(known_by.encode()).hexdigest()[:24]
        self._table.put(key(_partition(params.tags[0]), match_id))
        with suppress(Conflict):  # it was created before
            self._referee.create(_ORGANISER, wire.params_body(params), None, match_id)
        return MatchCreated(id=match_id)

    def terminate(
        self, match_id: str, winner_id: str | None = None, comment: str | None = None
    ) -> MatchView:
        """The match after it was ended by decision."""
        said = {"winnerId": winner_id, "comment": comment}
        return _view(self._referee.terminate(_ORGANISER, match_id, said, None))


def _partition(tag: str) -> str:
    return f"tagged#{tag}"


def _view(match: Match) -> MatchView:
    return wire.parse_view(list_view(match, _LOOK))
