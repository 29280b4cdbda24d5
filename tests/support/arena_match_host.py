"""Real arena in this process as the match host of a contest; its players act at each look."""

from collections.abc import Iterator
from typing import Any, cast

from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.contest.match_host import MatchSummary, TeamPresence
from cardsharp.contest.results import ContestRecords
from cardsharp.games.deadmansdraw.arena.access.users import PlayerAccount, UserDirectory
from cardsharp.games.deadmansdraw.arena.local_arena import MemoryMatchRepository
from cardsharp.games.deadmansdraw.arena.long_poll import InProcessLongPoll
from cardsharp.games.deadmansdraw.arena.match import ArenaMatch
from cardsharp.games.deadmansdraw.arena.randomness import RandomnessMethod
from cardsharp.games.deadmansdraw.arena.referee import Referee
from cardsharp.games.deadmansdraw.contest.arena_match_host import ArenaMatchHost
from cardsharp.games.deadmansdraw.contest.in_process_arena import InProcessArena
from support.arena_server import ManualClock

_CARDS_OF_TURN = 3  # cards after which a player ends its turn


class MemoryTable:
    """Table in memory, as far as the arena of a director needs one."""

    def __init__(self) -> None:
        self._items: dict[str, dict[str, dict[str, Any]]] = {}

    def put(self, item: dict[str, Any]) -> None:
        """Store an item."""
        self._items.setdefault(item["pk"]["S"], {})[item["sk"]["S"]] = item

    def query_prefix(self, partition: str) -> Iterator[dict[str, Any]]:
        """Yield the items of a partition in the order of their keys."""
        return (item for _, item in sorted(self._items.get(partition, {}).items()))


class RealArenaMatchHost(ArenaMatchHost):
    """Match host over the referee of a real arena, with the players of a contest.

    Each look of a director at running matches comes after `moves_per_look` moves of each. What
    a player does depends only on its match, so a match with the same seed always ends alike.
    """

    def __init__(self, records: ContestRecords, moves_per_look: int) -> None:
        players = {
            team.id: PlayerAccount.model_validate(
                {"_id": team.id, "name": team.name, "ha1": team.ha1}
            )
            for team in records.teams()
        }
        self._repository = MemoryMatchRepository(None, InProcessLongPoll())
        self.referee = Referee(
            self._repository,
            UserDirectory(lambda: players),
            RandomnessMethod.FAIR,
            ManualClock(),
        )
        self._moves_per_look = moves_per_look
        super().__init__(InProcessArena(self.referee, cast("DynamoTable", MemoryTable())))

    def names_by_match(self) -> dict[str, str]:
        """Return the pairing and number of each match by its id."""
        return {match.id: match.params.tags[2] for match in self._repository.all_matches()}

    def matches(self, tags: tuple[str, ...] = (), ids: tuple[str, ...] = ()) -> list[MatchSummary]:
        """Return the matches as they are, and let those with these ids go on afterwards."""
        summaries = super().matches(tags, ids)
        for match_id in ids:
            for _ in range(self._moves_per_look):
                match = self.referee.get_match(match_id)
                if match.is_finished:
                    break
                self._play_move(match)
        return summaries

    def _play_move(self, match: ArenaMatch) -> None:
        """Draw a card, or end the turn when there are some."""
        is_enough = len(match.state.play_area) >= _CARDS_OF_TURN
        action = {"etype": "EndTurn" if is_enough else "Draw", "autopick": True}
        player = self.referee.book.user(str(match.active_player))
        self.referee.act(player, match.id, action, None)

    def presence_by_player(self) -> dict[str, TeamPresence]:
        """Return that every player is there."""
        return dict.fromkeys(self.referee.book.players_by_id, TeamPresence(0.0))
