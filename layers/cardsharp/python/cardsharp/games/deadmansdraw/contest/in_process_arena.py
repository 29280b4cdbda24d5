"""An arena for its organiser in the cloud: in this process, over the arena's own table.

The id of a match follows from its tags, seed and players, so creating it twice, or by two
directors at once, gives one match. It is listed under its first tag before it is created; an
entry whose match was never created appears nowhere else.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256

from cardsharp.aws.dynamodb_attributes import item_key
from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.errors import WriteConflict
from cardsharp.games.deadmansdraw.actions import Action
from cardsharp.games.deadmansdraw.arena.access.presence import DynamoPresence
from cardsharp.games.deadmansdraw.arena.access.users import ADMIN_USER, PlayerAccount
from cardsharp.games.deadmansdraw.arena.match import ArenaMatch
from cardsharp.games.deadmansdraw.arena.referee import Referee
from cardsharp.games.deadmansdraw.arena.views import ViewOptions, iso_milliseconds, list_view
from cardsharp.games.deadmansdraw.arena_bot import wire
from cardsharp.games.deadmansdraw.arena_bot.wire import MatchParams
from cardsharp.games.deadmansdraw.arena_bot.wire_views import (
    EventView,
    MatchCreatedView,
    MatchView,
    PlayerView,
)
from cardsharp.server.service_errors import OutOfTurn

_ADMIN_VIEW_OPTIONS = ViewOptions(ADMIN_USER, show_events=True)


class InProcessArena:
    """An `ArenaAdmin` over a referee; a house player, played by the arena itself, is never idle."""

    def __init__(
        self,
        referee: Referee,
        table: DynamoTable,
        is_house_player: Callable[[str], object] = lambda _player: False,
    ) -> None:
        self._referee, self._table, self._is_house_player = referee, table, is_house_player
        self._presence = DynamoPresence(table)

    def players_with_idle_times(self) -> list[PlayerView]:
        """Return all players, each with the time since its last activity, and its tags."""
        current_time, activities = (
            self._referee.current_time(),
            self._presence.activity_by_player(),
        )

        def build_view(account: PlayerAccount) -> PlayerView:
            activity = activities.get(account.id)
            moved_at = None if activity is None else activity.last_move_at
            if self._is_house_player(account.id):
                return PlayerView(id=account.id, name=account.name, idle_seconds=0.0)
            return PlayerView(
                id=account.id,
                name=account.name,
                idle_seconds=None if activity is None else activity.idle_seconds(current_time),
                awaited_tags=None if activity is None else activity.awaited_tags,
                client=None if activity is None else activity.client,
                last_move_at=None if moved_at is None else iso_milliseconds(moved_at),
            )

        return list(map(build_view, self._referee.book.players_by_id.values()))

    def matches(self, tags: tuple[str, ...] = (), ids: tuple[str, ...] = ()) -> list[MatchView]:
        """Return the matches with these ids and those created here whose first tag is in `tags`."""
        entered = [
            item["sk"]["S"]
            for tag in tags
            for item in self._table.query_prefix(_to_partition_key(tag))
        ]
        candidates = map(self._referee.lobby.get, (*ids, *entered))
        return [_to_match_view(match) for match in candidates if match is not None]

    def get_match(self, match_id: str, *, debug: bool = False) -> MatchView:
        """Return a match with all its moves, with `debug` also the action of each."""
        look = replace(_ADMIN_VIEW_OPTIONS, show_debug=debug)
        return wire.parse_view(self._referee.build_view(self._referee.get_match(match_id), look))

    def create_match(self, params: MatchParams) -> MatchCreatedView:
        """Create the match with these tags, seed and players, or return it if it exists already."""
        # Its players as well: a ruling may bring others into a pairing.
        id_parts = (*params.tags, params.random_seed or "", *(params.player_ids or ()))
        match_id = sha256("\n".join(id_parts).encode()).hexdigest()[:24]
        self._table.put(item_key(_to_partition_key(params.tags[0]), match_id))
        with suppress(WriteConflict):  # it was created before
            self._referee.create_match(ADMIN_USER, wire.match_params_json(params), None, match_id)
        return MatchCreatedView(id=match_id)

    def terminate(
        self, match_id: str, winner_id: str | None = None, comment: str | None = None
    ) -> MatchView:
        """The match after it was ended by decision."""
        fields = {"winnerId": winner_id, "comment": comment}
        return _to_match_view(self._referee.terminate_match(ADMIN_USER, match_id, fields, None))


class InProcessTurnClient:
    """Client by which a house player reads its match and acts, in the arena's own process.

    An action is rejected if the match has moved since it was read. The client sees what its
    player may see, and no more.
    """

    def __init__(self, referee: Referee, player: str) -> None:
        self._referee, self._arena_user = referee, referee.book.user(player)
        self._move_count = 0

    def get_match(self, match_id: str) -> MatchView:
        """The match as it is now, with all its moves."""
        match = self._referee.get_visible_match(self._arena_user, match_id)
        self._move_count = match.moves
        return wire.parse_match_with_events(
            self._referee.build_view(match, ViewOptions(self._arena_user, show_events=True))
        )

    def act(self, match_id: str, action: Action) -> list[EventView]:
        """Apply an action and return its events.

        Raises `OutOfTurn`, also if another request has played the turn meanwhile.
        """
        match = self._referee.get_match(match_id)
        if match.active_player != self._arena_user.id or match.moves != self._move_count:
            raise OutOfTurn
        try:
            move = self._referee.apply_action(match, action, None)
        except WriteConflict:
            raise OutOfTurn from None
        self._move_count += 1
        return wire.parse_events(move.response_events())


def _to_partition_key(tag: str) -> str:
    return f"tagged#{tag}"


def _to_match_view(match: ArenaMatch) -> MatchView:
    return wire.parse_view(list_view(match, _ADMIN_VIEW_OPTIONS))
