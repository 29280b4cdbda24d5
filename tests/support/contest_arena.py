"""An arena without a network for the directors of contest and practice."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, cast

from world.faults import Errors, FaultPlan, Faulty, Kind

from cardsharp.deadmansdraw.wire import MatchParams, parse_view
from cardsharp.deadmansdraw.wire_views import MatchCreated, MatchView, PlayerRecord
from cardsharp.errors import Unreachable


class FakeArena:
    """Matches that end at the second look.

    The turns of who is `absent` run out, one a look; `idle` are the seconds since players were
    heard of, by default all just now.
    """

    def __init__(self) -> None:
        self.made: list[dict[str, Any]] = []
        self.asked: list[tuple[str, ...]] = []
        self.absent: set[str] = set()
        self.idle: dict[str, float | None] = {}
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def matches(self, tags: tuple[str, ...] = (), ids: tuple[str, ...] = ()) -> list[MatchView]:
        self.asked.append(tags)
        with_id = [one for one in self.made if one["_id"] in ids]
        tagged = [one for one in self.made if set(tags) & set(one["creationParams"]["tags"])]
        found = [parse_view(one) for one in (with_id or tagged)]
        for one in with_id:
            if one["activePlayerIndex"] is None:
                continue
            one["looks"] += 1
            late = self.absent & set(one["playerids"])
            for player in late:
                _run_out(one, player)
            if one["looks"] > 5 or (one["looks"] > 1 and not late):
                self.end(one)
        return found

    def players(self) -> list[PlayerRecord]:
        seated = {player for one in self.made for player in one["playerids"]} | self.idle.keys()
        idle = dict.fromkeys(seated, 0.0) | self.idle
        return [
            PlayerRecord(id=player, name=player, idle_seconds=seconds)
            for player, seconds in idle.items()
        ]

    def view(self, match_id: str) -> MatchView:
        (one,) = (one for one in self.made if one["_id"] == match_id)
        return parse_view(one)

    def create_match(self, params: MatchParams) -> MatchCreated:
        match_id = f"{len(self.made):024x}"
        self.add(match_id, params.player_ids or ("", ""), params.tags, params.random_seed)
        return MatchCreated(id=match_id)

    def terminate(
        self, match_id: str, winner_id: str | None = None, comment: str | None = None
    ) -> MatchView:
        del comment
        (one,) = (one for one in self.made if one["_id"] == match_id)
        self._stop(one)
        players = one["playerids"]
        one["state"]["winnerIdx"] = None if winner_id is None else players.index(winner_id)
        return parse_view(one)

    def add(
        self, match_id: str, players: tuple[str, str], tags: tuple[str, ...], seed: str | None
    ) -> dict[str, Any]:
        state = {"banks": [{}, {}], "playArea": [], "currentPlayerIndex": 0}
        view = {
            "_id": match_id, "playerids": list(players), "createdByPlayerId": None,
            "creationParams": {"tags": list(tags)}, "startedAt": "", "lastMoveAt": "",
            "moveCount": 1, "turnCount": 1, "moveCountInTurn": 1, "state": state,
            "activePlayerIndex": 0, "drawPileSize": 0, "discardPileSize": 0,
            "seed": seed, "looks": 0, "moves": [],
        }  # fmt: skip
        self.made.append(view)
        return view

    def end(self, one: dict[str, Any]) -> None:
        """Points by the seed alone, so that every run has the same; some matches are drawn."""
        digest = sha256(str(one["seed"]).encode()).digest()
        by_player = dict(zip(sorted(one["playerids"]), (digest[0] % 5, digest[1] % 5), strict=True))
        points = [by_player[player] for player in one["playerids"]]
        self._stop(one)
        one["state"]["banks"] = [{"Key": [value]} if value else {} for value in points]
        winner = None if points[0] == points[1] else points.index(max(points))
        one["state"]["winnerIdx"] = winner

    def _stop(self, one: dict[str, Any]) -> None:
        """Every match takes a minute, and ends a second after the last."""
        self.now += timedelta(seconds=1)
        one["startedAt"] = (self.now - timedelta(minutes=1)).isoformat()
        one["lastMoveAt"] = self.now.isoformat()
        one["activePlayerIndex"] = None


def disturbed(arena: FakeArena, plan: FaultPlan) -> FakeArena:
    """The arena to a director whose calls suffer what the plan says."""
    return cast("FakeArena", Faulty(arena, plan, CALLS, LOST))


CALLS = {"matches", "view", "create_match", "terminate"}
LOST: Errors = dict.fromkeys(
    (Kind.REQUEST_LOST, Kind.RESPONSE_LOST), lambda: Unreachable("no answer", doubtful=True)
)


def _run_out(one: dict[str, Any], player: str) -> None:
    """End a turn by force, as the arena's watchdog does."""
    told = f"Forceful turn ending due to player {player} inactivity after 8 seconds."
    seat = one["playerids"].index(player)
    event = {"eventType": "Comment", "playerIndex": seat, "comment": told}
    number = len(one["moves"]) + 1
    one["moves"].append(
        {"sequenceId": number, "sequenceInTurnId": 1, "turnId": 1, "at": "", "events": [event]}
    )
    one["state"]["timeoutCount"] = number
