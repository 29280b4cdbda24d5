"""What directs an arena in the cloud, as its environment describes it.

| variable            | means                                          |
|---------------------|------------------------------------------------|
| CARDSHARP_STORE     | dynamodb:TABLE, the arena's                    |
| CARDSHARP_QUEUE     | the URL of the SQS queue of its ticks          |
| CARDSHARP_KEEP_DAYS | as the arena has it                            |
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from functools import cache
from random import Random
from time import monotonic
from typing import NamedTuple

from cardsharp.cloud.clock import SystemClock, utc_now
from cardsharp.cloud.messages import MatchMessage, parse_message
from cardsharp.cloud.sqs import SqsQueue
from cardsharp.contest.director import Course
from cardsharp.contest.kept import ContestsKept
from cardsharp.contest.records import Records
from cardsharp.contest.tables import TableHost
from cardsharp.deadmansdraw.arena.assembly import KEEP_DAYS, STORE, life_of, table_of
from cardsharp.deadmansdraw.arena.lobby import nobody_told
from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.deadmansdraw.arena.players import Book
from cardsharp.deadmansdraw.arena.randomness import Randomness
from cardsharp.deadmansdraw.arena.referee import Referee
from cardsharp.deadmansdraw.arena.table import TableLobby
from cardsharp.deadmansdraw.arena.teams import Teams
from cardsharp.deadmansdraw.arena.ticks import Tick, Ticks, tells_of_moves
from cardsharp.deadmansdraw.contest.office import Office, TableSeat
from cardsharp.deadmansdraw.contest.tables import ArenaTables
from cardsharp.deadmansdraw.strategies import Strategy, build
from cardsharp.deadmansdraw.turn import play_turn
from cardsharp.deadmansdraw.wire_views import MatchView
from cardsharp.errors import CardsharpError, Malformed
from cardsharp.keep.dynamodb import DynamoKeep

FORGOTTEN = timedelta(seconds=15)  # the message of a turn may be lost; another does no harm
_log = logging.getLogger(__name__)


class Ticking:
    """The work of the ticks; `under_way` brings the contests that there are to direct.

    From one tick to the next it remembers their courses. Where another process took a tick between
    them it begins anew, as that one may have begun matches. Of a match in which nobody has moved
    for a while it is said again whose turn it is.
    """

    def __init__(
        self,
        ticks: Ticks,
        referee: Referee,
        tables: TableHost,
        under_way: Callable[[], Iterable[Records]],
        remind: Callable[[Match], None] = nobody_told,
    ) -> None:
        self._ticks = ticks
        self._referee = referee
        self._tables = tables
        self._under_way, self._remind = under_way, remind
        self._next = 0
        self._courses: dict[str, Course] = {}

    def tick(self, ticket: int, holder: str) -> bool:
        """Do what is due, if the ticket is the holder's; whether another tick follows."""
        if not self._ticks.take(ticket, holder):
            return False
        if ticket != self._next:
            self._courses.clear()
        self._next = ticket + 1
        goes_on = self._work()
        if goes_on:
            self._ticks.follow(ticket)
        return goes_on

    def look(self, holder: str) -> bool:
        """Begin the chain again if it is broken or there is none; whether another tick follows."""
        ticket = self._ticks.broken()
        return ticket is not None and self.tick(ticket, holder)

    def _work(self) -> bool:
        """Whether a match runs now, or a contest is to begin some."""
        self._referee.end_overdue_turns()
        # All of them, and matches are looked for after that: a contest may have begun one.
        to_begin = [self._direct(records) for records in self._under_way()]
        running = list(self._referee.lobby.running())
        for match in running:
            if self._referee.now() - match.last_move_at > FORGOTTEN:
                self._remind(match)
        return any(to_begin) or bool(running)

    def _direct(self, records: Records) -> bool:
        """Let a contest take a step; whether it may begin matches after it."""
        name = records.settings.name
        if name not in self._courses:
            self._courses[name] = Course(records, self._tables, self._referee.now)
        try:
            goes_on = self._courses[name].step()
        except CardsharpError:
            _log.exception("The contest %s could not take a step", name)
            del self._courses[name]
            return True
        return goes_on and not records.paused


MOST = timedelta(seconds=10)  # that a match's turns are played at a time


def direct(environment: Mapping[str, str], body: str | None, holder: str) -> bool:
    """Do what is due at the tick of a message, or at the schedule's; whether more ticks follow.

    A message may also name a match that waits for a team that the stack plays itself. Raises
    `ConfigError` if the environment names no table, `Malformed` if the message is neither, and
    `StoreError` if the table or the queue failed.
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
        match = self.quiet.lobby.find(match_id)
        team = None if match is None else match.active_player
        return team if self.teams.strategy_of(team) else None


@cache
def directing(store: str, queue: str, keep_days: str) -> Directing:
    """What directs an arena."""
    told = {STORE: store, KEEP_DAYS: keep_days}
    table, life = table_of(told), life_of(told)
    teams = Teams(table, utc_now)
    moved = tells_of_moves(table, teams.strategy_of, wakes=False)
    referee, quiet = (
        Referee(TableLobby(table, life, one), Book(teams), Randomness.FAIR, utc_now)
        for one in (moved, nobody_told)
    )
    contests, messages = ContestsKept(DynamoKeep(table.name, SystemClock())), SqsQueue(queue)
    tables = ArenaTables(Office(referee, table, teams.strategy_of))
    ticks = Ticks(table, messages, queue)
    ticking = Ticking(ticks, referee, tables, contests.under_way, remind=moved)
    return Directing(ticking, quiet, teams, messages)
