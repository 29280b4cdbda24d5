"""Composition of the director of a cloud arena from its environment.

| variable            | means                                          |
|---------------------|------------------------------------------------|
| CARDSHARP_STORE     | dynamodb:TABLE, the arena's                    |
| CARDSHARP_QUEUE     | the URL of the SQS queue of its ticks          |
| CARDSHARP_KEEP_DAYS | as the arena has it                            |
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import cache
from random import Random
from time import monotonic
from typing import NamedTuple

from cardsharp.aws.sqs_queue import SqsQueue
from cardsharp.bot.queueing.messages import MatchMessage, parse_match_message
from cardsharp.contest.director import ContestRunner
from cardsharp.contest.match_host import MatchHost
from cardsharp.contest.repository import ContestRepository
from cardsharp.contest.results import ContestRecords
from cardsharp.core.clock import SystemClock, utc_now
from cardsharp.errors import CardsharpError, InvalidInput
from cardsharp.games.deadmansdraw.arena.access.dynamo_players import DynamoPlayers
from cardsharp.games.deadmansdraw.arena.access.users import UserDirectory
from cardsharp.games.deadmansdraw.arena.bootstrap import (
    DEFAULT_RETENTION_DAYS,
    STORE_SETTING,
    arena_table,
)
from cardsharp.games.deadmansdraw.arena.director_ticks import (
    TickChain,
    TickMessage,
    build_move_notifier,
)
from cardsharp.games.deadmansdraw.arena.match import ArenaMatch
from cardsharp.games.deadmansdraw.arena.randomness import RandomnessMethod
from cardsharp.games.deadmansdraw.arena.referee import Referee
from cardsharp.games.deadmansdraw.arena.storage.dynamo_repository import (
    DynamoMatchRepository,
)
from cardsharp.games.deadmansdraw.arena.storage.match_repository import ignore_move
from cardsharp.games.deadmansdraw.arena_bot.turn_runner import play_turn
from cardsharp.games.deadmansdraw.arena_bot.wire_views import MatchView
from cardsharp.games.deadmansdraw.contest.arena_match_host import ArenaMatchHost
from cardsharp.games.deadmansdraw.contest.in_process_arena import (
    InProcessArena,
    InProcessTurnClient,
)
from cardsharp.games.deadmansdraw.strategies import Strategy, build
from cardsharp.server.retention import RETENTION_SETTING, read_retention
from cardsharp.store.dynamodb_documents import DynamoDocumentStore

# The message of a turn may be lost with a killed director. Then the next tick sends another, soon
# enough for turns of 7 s. A second message for a turn does no harm.
REMINDER_DELAY = timedelta(seconds=1)
_log = logging.getLogger(__name__)


class TickHandler:
    """Handler of the ticks of a director; `active_contests` returns the contests to direct.

    It keeps the runners of the contests from one tick to the next. If another process took a
    tick in between, it starts with new ones, as that process may have begun matches. For a
    match without a move for some time it notifies the player to move again.
    """

    def __init__(
        self,
        ticks: TickChain,
        referee: Referee,
        match_host: MatchHost,
        active_contests: Callable[[], Iterable[ContestRecords]],
        notify_turn: Callable[[ArenaMatch], None] = ignore_move,
    ) -> None:
        self._tick_chain = ticks
        self._referee = referee
        self._match_host = match_host
        self._active_contests, self._notify_turn = active_contests, notify_turn
        self._next_ticket = 0
        self._contest_runners: dict[str, ContestRunner] = {}

    def run_tick_if_claimed(self, ticket: int, message_id: str) -> bool:
        """Run the tick if the message holds its ticket; return True if another tick follows."""
        if not self._tick_chain.claim(ticket, message_id):
            return False
        if ticket != self._next_ticket:
            self._contest_runners.clear()
        self._next_ticket = ticket + 1
        goes_on = self._run_tick()
        if goes_on:
            self._tick_chain.schedule_next(ticket)
        return goes_on

    def run_tick_if_stalled(self, message_id: str) -> bool:
        """Restart the chain if it is broken or missing; return True if another tick follows."""
        ticket = self._tick_chain.stalled_ticket()
        return ticket is not None and self.run_tick_if_claimed(ticket, message_id)

    def _run_tick(self) -> bool:
        """Run one tick; return True if a match runs or a contest may begin matches."""
        self._referee.end_overdue_turns()
        # All of them, and matches are looked for after that: a contest may have begun one.
        to_begin = [self._step_contest(records) for records in self._active_contests()]
        running = list(self._referee.lobby.running_matches())
        for match in running:
            if self._referee.current_time() - match.last_move_at > REMINDER_DELAY:
                self._notify_turn(match)
        return any(to_begin) or bool(running)

    def _step_contest(self, records: ContestRecords) -> bool:
        """Let a contest take a step; return True if it may begin matches in later steps."""
        name = records.settings.name
        if name not in self._contest_runners:
            self._contest_runners[name] = ContestRunner(
                records, self._match_host, self._referee.current_time
            )
        try:
            goes_on = self._contest_runners[name].step()
        except CardsharpError:
            _log.exception("A step of the contest %s failed", name)
            del self._contest_runners[name]
            return True
        return goes_on and not records.is_paused


MAX_PLAY_DURATION = timedelta(seconds=10)  # that a match's turns are played at a time


def run_director(environment: Mapping[str, str], body: str | None, message_id: str) -> bool:
    """Handle a tick message, or the schedule's call; return True if more ticks follow.

    A message may also name a match that waits for a team that the stack plays itself. Raises
    `ConfigError` if the environment names no table, `InvalidInput` if the message is neither,
    and `StoreError` if the table or the queue failed.
    """
    names = ("CARDSHARP_STORE", "CARDSHARP_QUEUE", RETENTION_SETTING)
    work = build_director_dependencies(*(environment.get(name, "") for name in names))
    if body is None:
        return work.tick_handler.run_tick_if_stalled(message_id)
    try:
        tick = TickMessage.parse(body)
    except InvalidInput:
        work.play_house_turns(parse_match_message(body).match_id)
        return False
    return work.tick_handler.run_tick_if_claimed(tick.ticket, message_id)


class DirectorDependencies(NamedTuple):
    """Dependencies of a director; they may cache what cannot change.

    `silent_referee` sends no notifications of moves.
    """

    tick_handler: TickHandler
    silent_referee: Referee
    players: DynamoPlayers
    queue: SqsQueue

    def play_house_turns(self, match_id: str) -> None:
        """Play the turns of teams that the stack plays itself, while a match waits for one.

        If the time is up, another message for the match is queued.
        """
        end = monotonic() + MAX_PLAY_DURATION.total_seconds()
        while (team := self._find_house_team_to_move(match_id)) is not None:
            if monotonic() > end:
                self.queue.send(MatchMessage(match_id=match_id).to_json)
                return
            play_turn(
                InProcessTurnClient(self.silent_referee, team),
                team,
                match_id,
                self._build_house_strategy,
            )

    def _build_house_strategy(self, view: MatchView) -> Strategy:
        team = view.player_ids[view.active_player_index or 0]
        return build(self.players.house_strategy(team) or "", Random())

    def _find_house_team_to_move(self, match_id: str) -> str | None:
        match = self.silent_referee.lobby.get(match_id)
        team = None if match is None else match.active_player
        return team if self.players.house_strategy(team) else None


@cache  # an entry for each store of this process
def build_director_dependencies(store: str, queue: str, keep_days: str) -> DirectorDependencies:
    """Build the dependencies of an arena's director."""
    environment = {STORE_SETTING: store, RETENTION_SETTING: keep_days}
    table, life = arena_table(environment), read_retention(environment, DEFAULT_RETENTION_DAYS)
    teams = DynamoPlayers(table, utc_now)
    moved = build_move_notifier(table, teams.house_strategy, wake_director=False)
    referee, quiet = (
        Referee(
            DynamoMatchRepository(table, life, on_move),
            UserDirectory(teams),
            RandomnessMethod.FAIR,
            utc_now,
        )
        for on_move in (moved, ignore_move)
    )
    contests, messages = (
        ContestRepository(DynamoDocumentStore(table.name, SystemClock())),
        SqsQueue(queue),
    )
    tables = ArenaMatchHost(InProcessArena(referee, table, teams.house_strategy))
    ticks = TickChain(table, messages, queue)
    ticking = TickHandler(ticks, referee, tables, contests.active_contests, notify_turn=moved)
    return DirectorDependencies(ticking, quiet, teams, messages)
