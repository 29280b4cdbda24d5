"""The arena as the tables of a contest: its matches as a director and practice know them."""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Protocol

from cardsharp.contest.pairing import Score, Team
from cardsharp.contest.tables import Account, Facts, Tabled, TableOrder
from cardsharp.deadmansdraw.position import PastMove
from cardsharp.deadmansdraw.reading import played, tally
from cardsharp.deadmansdraw.wire import MatchParams, instant
from cardsharp.deadmansdraw.wire_views import MatchCreated, MatchView, PlayerRecord

GONE = 2  # turns in a row that a player may leave to the clock until it counts as gone


class OrganisedArena(Protocol):
    """What an arena does for its organiser; `Office` and `ArenaClient` do it."""

    def matches(self, tags: tuple[str, ...] = ..., ids: tuple[str, ...] = ...) -> list[MatchView]:
        """Matches with any of these tags, or of these ids, without their moves."""

    def view(self, match_id: str, *, debug: bool = False) -> MatchView:
        """A match with all its moves, with `debug` also what each asked for."""

    def create_match(self, params: MatchParams) -> MatchCreated:
        """A new match."""

    def terminate(
        self, match_id: str, winner_id: str | None = None, comment: str | None = None
    ) -> MatchView:
        """The match after it was ended by decision."""

    def players(self) -> list[PlayerRecord]:
        """All players, each with how long ago the arena heard of it."""


class ArenaTables:
    """An arena as `TableHost`."""

    def __init__(self, arena: OrganisedArena) -> None:
        self._arena = arena

    def matches(self, tags: tuple[str, ...] = (), ids: tuple[str, ...] = ()) -> list[Tabled]:
        """Matches with any of these tags, or of these ids."""
        return [_tabled(view) for view in self._arena.matches(tags=tags, ids=ids)]

    def account(self, match: str) -> Account:
        """A match read whole."""
        view = self.view(match)
        moves = [played(move) for move in view.moves if move.sequence_id]  # but the one that opens
        gone = (who for seat, who in enumerate(view.player_ids) if _left(moves, seat) >= GONE)
        at = instant(view.last_move_at)
        return Account(view.player_ids, facts_of(view), at, view.finished, tuple(gone))

    def view(self, match: str) -> MatchView:
        """A match with all its moves, as the arena tells it."""
        return self._arena.view(match, debug=True)

    def begin(self, order: TableOrder) -> str:
        """The id of a new match."""
        first, second = order.teams
        params = MatchParams(
            player_ids=(first, second),
            tags=order.tags,
            random_seed=order.seed,
            timeout=order.timeout,
        )
        return self._arena.create_match(params).id

    def end(self, match: str, winner: Team | None, comment: str) -> None:
        """End a match by decision."""
        self._arena.terminate(match, winner, comment)

    def idle(self) -> Mapping[Team, float | None]:
        """How many seconds ago each player was heard of."""
        return {player.id: player.idle_seconds for player in self._arena.players()}


def _tabled(view: MatchView) -> Tabled:
    return Tabled(
        id=view.id,
        teams=view.player_ids,
        tags=view.creation_params.tags,
        last=view.last_move_at,
        score=Score(_points(view), view.state.winner_idx) if view.finished else None,
        late=view.state.timeout_count,
        foreign=bool(view.created_by_player_id),
    )


def _points(view: MatchView) -> tuple[int, int]:
    first, second = (sum(max(values) for values in bank.values()) for bank in view.state.banks)
    return first, second


def facts_of(view: MatchView) -> Facts:
    """What a match came to, in the order of its seats; `view` has all its moves."""
    counts = tally(view.moves)
    start, end = instant(view.started_at), instant(view.last_move_at)
    return Facts(
        points=_points(view),
        winner=view.state.winner_idx,
        # 0 where the arena's times cannot be read.
        seconds=0.0 if start is None or end is None else (end - start).total_seconds(),
        turns=view.turn_count,
        busts=counts["busts"],
        late=counts["time-outs"],
        banked=counts["banked"],
        moves=counts["moves"],
        autopicks=counts.get("autopicks", ()),
        began=start,
    )


def _left(moves: Sequence[PastMove], player: int) -> int:
    """Turns in a row that a player has left to the clock, up to the last one of its own."""
    own = (move for move in reversed(moves) if move.player == player)
    return sum(1 for _ in takewhile(lambda move: move.timed_out is not None, own))
