"""The arena as the tables of a contest: its matches as a director and practice know them."""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Protocol

from cardsharp.contest.formats.pairing import MatchScore, TeamId
from cardsharp.contest.match_host import (
    FullMatchReport,
    MatchRequest,
    MatchResultFacts,
    MatchSummary,
    TeamPresence,
)
from cardsharp.games.deadmansdraw.arena_bot.position_from_view import (
    count_turn_results_and_moves,
    past_move_from_view,
)
from cardsharp.games.deadmansdraw.arena_bot.wire import MatchParams
from cardsharp.games.deadmansdraw.arena_bot.wire_views import (
    MatchCreatedView,
    MatchView,
    PlayerView,
    parse_timestamp,
)
from cardsharp.games.deadmansdraw.position import PastMove

MAX_MISSED_TURNS = 2  # turns in a row that a player may leave to the clock until it counts as gone


class ArenaAdmin(Protocol):
    """Organiser's operations on an arena, as `InProcessArena` and `ArenaClient` offer them."""

    def matches(self, tags: tuple[str, ...] = ..., ids: tuple[str, ...] = ...) -> list[MatchView]:
        """Matches with any of these tags, or of these ids, without their moves."""

    def get_match(self, match_id: str, *, debug: bool = False) -> MatchView:
        """Return a match with all its moves, with `debug` also the action of each."""

    def create_match(self, params: MatchParams) -> MatchCreatedView:
        """Create a match and return the response of the arena."""

    def terminate(
        self, match_id: str, winner_id: str | None = None, comment: str | None = None
    ) -> MatchView:
        """End a match by decision and return it as it is then."""

    def players_with_idle_times(self) -> list[PlayerView]:
        """All players, each with how long ago the arena heard of it."""


class ArenaMatchHost:
    """An arena as `MatchHost`."""

    def __init__(self, arena: ArenaAdmin) -> None:
        self._arena = arena

    def matches(self, tags: tuple[str, ...] = (), ids: tuple[str, ...] = ()) -> list[MatchSummary]:
        """Matches with any of these tags, or of these ids."""
        return [_to_match_summary(view) for view in self._arena.matches(tags=tags, ids=ids)]

    def match_report(self, match_id: str) -> FullMatchReport:
        """Return the report of a match with all its moves."""
        return report_from_view(self.get_match_view(match_id))

    def get_match_view(self, match_id: str) -> MatchView:
        """A match with all its moves, as the arena tells it."""
        return self._arena.get_match(match_id, debug=True)

    def begin_match(self, request: MatchRequest) -> str:
        """Begin a match at the arena and return its id."""
        first, second = request.teams
        params = MatchParams(
            player_ids=(first, second),
            tags=request.tags,
            random_seed=request.seed,
            timeout=request.turn_timeout,
        )
        return self._arena.create_match(params).id

    def end_match(self, match_id: str, winner: TeamId | None, comment: str) -> None:
        """End a match by decision."""
        self._arena.terminate(match_id, winner, comment)

    def presence_by_player(self) -> Mapping[TeamId, TeamPresence]:
        """Return the presence of each player, as the arena last heard of it."""
        return {
            player.id: TeamPresence(
                player.idle_seconds,
                player.awaited_tags,
                player.client or "",
                parse_timestamp(player.last_move_at or ""),
            )
            for player in self._arena.players_with_idle_times()
        }


def report_from_view(view: MatchView) -> FullMatchReport:
    """Return the report of a match; `view` must have all its moves."""
    moves = [
        past_move_from_view(move) for move in view.moves if move.sequence_id
    ]  # but the one that opens
    absent_player_ids = (
        player_id
        for seat, player_id in enumerate(view.player_ids)
        if _count_missed_turns(moves, seat) >= MAX_MISSED_TURNS
    )
    at = parse_timestamp(view.last_move_at)
    return FullMatchReport(
        view.player_ids, match_facts_from_view(view), at, view.finished, tuple(absent_player_ids)
    )


def _to_match_summary(view: MatchView) -> MatchSummary:
    return MatchSummary(
        id=view.id,
        teams=view.player_ids,
        tags=view.creation_params.tags,
        last_move_at=view.last_move_at,
        score=MatchScore(_sum_points(view), view.state.winner_idx) if view.finished else None,
        consecutive_timeouts=view.state.timeout_count,
        is_foreign=bool(view.created_by_player_id),
    )


def _sum_points(view: MatchView) -> tuple[int, int]:
    first, second = (sum(max(values) for values in bank.values()) for bank in view.state.banks)
    return first, second


def match_facts_from_view(view: MatchView) -> MatchResultFacts:
    """Return the detailed result of a match by seat; `view` must have all its moves."""
    counts = count_turn_results_and_moves(view.moves)
    start, end = parse_timestamp(view.started_at), parse_timestamp(view.last_move_at)
    return MatchResultFacts(
        points=_sum_points(view),
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


def _count_missed_turns(moves: Sequence[PastMove], player: int) -> int:
    """Return the number of the player's last turns in a row that timed out."""
    player_moves = (move for move in reversed(moves) if move.player == player)
    return sum(1 for _ in takewhile(lambda move: move.timed_out_player is not None, player_moves))
