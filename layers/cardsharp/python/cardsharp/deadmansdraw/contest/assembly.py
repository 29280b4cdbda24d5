"""What directs an arena in the cloud, as its environment describes it.

| variable            | means                                          |
|---------------------|------------------------------------------------|
| CARDSHARP_STORE     | dynamodb:TABLE, the arena's                    |
| CARDSHARP_QUEUE     | the URL of the SQS queue of its ticks          |
| CARDSHARP_KEEP_DAYS | as the arena has it                            |
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from functools import cache
from random import Random
from time import monotonic
from typing import NamedTuple

from cardsharp.cloud.clock import SystemClock, utc_now
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.messages import MatchMessage, parse_message
from cardsharp.cloud.sqs import SqsQueue
from cardsharp.contest.kept import ContestsKept
from cardsharp.deadmansdraw.arena.assembly import KEEP_DAYS, STORE, referee_of
from cardsharp.deadmansdraw.arena.lobby import nobody_told
from cardsharp.deadmansdraw.arena.referee import Referee
from cardsharp.deadmansdraw.arena.teams import Teams
from cardsharp.deadmansdraw.arena.ticks import Tick, Ticks, tells_of_moves
from cardsharp.deadmansdraw.contest.office import Office, TableSeat
from cardsharp.deadmansdraw.contest.tables import ArenaTables
from cardsharp.deadmansdraw.contest.ticking import Ticking
from cardsharp.deadmansdraw.strategies import Strategy, build
from cardsharp.deadmansdraw.turn import play_turn
from cardsharp.deadmansdraw.wire_views import MatchView
from cardsharp.errors import Malformed
from cardsharp.keep.dynamodb import DynamoKeep

MOST = timedelta(seconds=10)
"""For how long turns of a match are played at a time: of two of our teams it may be all of it."""


def direct(environment: Mapping[str, str], body: str | None, holder: str) -> bool:
    """Do what is due at the tick of a message, or at the schedule's; whether more ticks follow.

    A message may also name a match that waits for a team that the stack plays itself.

    Raises:
        ConfigError: the environment names no table.
        Malformed: the message is neither.
        StoreError: the table or the queue failed.
    """
    names = ("CARDSHARP_STORE", "CARDSHARP_QUEUE", KEEP_DAYS)
    work = directing(*(environment.get(name, "") for name in names))
    if body is None:
        return work.ticking.look(holder)
    with suppress(Malformed):
        return work.ticking.tick(Tick.parse(body).ticket, holder)
    work.play(parse_message(body).match_id)
    return False


class Directing(NamedTuple):
    """The parts of a director, which may remember what cannot change; `quiet` tells of no move."""

    ticking: Ticking
    quiet: Referee
    teams: Teams
    queue: SqsQueue

    def play(self, match_id: str) -> None:
        """Play a match while it waits for teams of the stack; what is left is another message's."""
        end = monotonic() + MOST.total_seconds()
        while (team := self._waited_for(match_id)) is not None:
            if monotonic() > end:
                self.queue.send(MatchMessage(match_id=match_id).body)
                return
            play_turn(TableSeat(self.quiet, team), team, match_id, self._strategy)

    def _strategy(self, view: MatchView) -> Strategy:
        team = view.player_ids[view.active_player_index or 0]
        return build(self.teams.strategy_of(team) or "", Random())

    def _waited_for(self, match_id: str) -> str | None:
        """The team of the stack whose turn it is."""
        match = self.quiet.lobby.find(match_id)
        team = None if match is None else match.active_player
        return team if self.teams.strategy_of(team) else None


@cache
def directing(store: str, queue: str, keep_days: str) -> Directing:
    """What directs an arena."""
    told = {STORE: store, KEEP_DAYS: keep_days}
    table = DynamoTable(store.partition(":")[2])
    teams = Teams(table, utc_now)
    moved = tells_of_moves(table, teams.strategy_of, wakes=False)
    referee, quiet = (referee_of(told, teams, one) for one in (moved, nobody_told))
    contests, messages = ContestsKept(DynamoKeep(table.name, SystemClock())), SqsQueue(queue)
    tables = ArenaTables(Office(referee, table, teams.strategy_of))
    ticks = Ticks(table, messages, queue)
    ticking = Ticking(ticks, referee, tables, contests.under_way, remind=moved)
    return Directing(ticking, quiet, teams, messages)
