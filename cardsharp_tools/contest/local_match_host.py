"""Match host for games without an arena: it plays each match in a process of its own.

A match is stored before it begins, and its seed determines how it ends. So if the contest is
killed, the next start plays the unfinished matches again, with the same result.
"""

import logging
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Self

from pydantic import Field, TypeAdapter, ValidationError

from cardsharp.contest.formats.pairing import MatchScore, TeamId
from cardsharp.contest.match_host import (
    FullMatchReport,
    MatchRequest,
    MatchResultFacts,
    MatchSummary,
    TeamPresence,
)
from cardsharp.contest.models import TeamEntry
from cardsharp.contest.teams import all_documents
from cardsharp.core.clock import SystemClock
from cardsharp.errors import ConfigError, WriteConflict
from cardsharp.store.documents import Document, Key, Put
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from cardsharp_tools.child_process import ChildProcess
from cardsharp_tools.contest.match_worker import (
    END,
    TASK,
    TURN_MESSAGE,
    MatchTask,
    WorkerMatchResult,
    forfeit_result,
)
from cardsharp_tools.contest.open_contest import OpenContest
from cardsharp_tools.contest.team_failures import TeamFailureReporter
from cardsharp_tools.executors.line_process import require_pipe
from cardsharp_tools.executors.sandbox_supervisor import escape_control_chars
from cardsharp_tools.executors.strategy_reference import StrategyReference

MATCH_START_TIMEOUT_SECONDS = (
    300.0  # seconds until a process's first line; a turn has its own limit
)
STEP_INTERVAL_SECONDS = 0.5  # seconds between two steps of the director, or less if a match ends

_log = logging.getLogger(__name__)


def sleep_between_steps() -> None:
    """Wait for the usual time between two steps of the director."""
    time.sleep(STEP_INTERVAL_SECONDS)


@dataclass(frozen=True, slots=True)
class LocalMatchRecord:
    """Stored match of the local host; `result` is None until it has ended."""

    teams: tuple[TeamId, ...]
    tags: tuple[str, ...]
    seed: int
    started_at: Annotated[datetime, Field(alias="began")]
    ended_at: Annotated[datetime | None, Field(alias="ended")] = None
    result: Annotated[WorkerMatchResult | None, Field(alias="end")] = None
    winner: int | None = None
    absent_teams: tuple[TeamId, ...] = ()
    """Teams that had withdrawn when the match was played, which went on without them."""


_MATCH_RECORD_ADAPTER = TypeAdapter(LocalMatchRecord)


class LocalMatchHost:
    """Match host for local teams, used as a context manager."""

    def __init__(self, contest: OpenContest, clock: Callable[[], datetime]) -> None:
        self._contest, self._records, self._clock = contest, contest.records, clock
        self._settings = contest.settings
        self._partition = f"contest#{self._settings.name}#table"
        self._running_matches: dict[str, Future[WorkerMatchResult]] = {}
        self._absent_teams: dict[str, tuple[TeamId, ...]] = {}  # of the running matches
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1)
        self._stop_event = threading.Event()
        self._worker_processes: set[ChildProcess] = set()

    def __enter__(self) -> Self:
        for team in self._records.teams():
            self._require_strategy(
                team
            )  # checks that there is one; it is imported only in the match's process
        return self

    def __exit__(self, *_: object) -> None:
        self._stop_event.set()
        for child in [*self._worker_processes]:
            child.process.kill()  # otherwise the pool waits until the team has decided
        self._pool.shutdown(cancel_futures=True)

    def matches(self, tags: tuple[str, ...] = (), ids: tuple[str, ...] = ()) -> list[MatchSummary]:
        """Return matches with any of these tags or ids; resume those that were running.

        A match that was played without a team is played again once that team's withdrawal is
        undone.
        """
        for match in [match for match, future in self._running_matches.items() if future.done()]:
            self._store_result(match, self._running_matches.pop(match))
        withdrawn_teams = self._records.withdrawal_reasons_by_team().keys()
        stored = [
            (document, hosted if withdrawn_teams >= {*hosted.absent_teams} else _reopen(hosted))
            for document, hosted in self._load_matches()
            if document.key.sort_key in ids or not set(tags).isdisjoint(hosted.tags)
        ]
        for document, hosted in stored:
            if hosted.ended_at is None and document.key.sort_key not in self._running_matches:
                if document.body != _MATCH_RECORD_ADAPTER.dump_python(hosted, mode="json"):
                    self._write_match(document.key.sort_key, hosted, document.version)
                    self._delete_from_log(document.key.sort_key)
                self._start_match(document.key.sort_key, hosted)
        return [_summarize_match(document.key.sort_key, hosted) for document, hosted in stored]

    def match_report(self, match_id: str) -> FullMatchReport:
        """Return the complete report of a match."""
        hosted = self._load_match(match_id)[1]
        sides = range(len(hosted.teams))
        end = hosted.result or WorkerMatchResult((0.0,) * len(sides), 0)
        duration_seconds = ((hosted.ended_at or self._clock()) - hosted.started_at).total_seconds()
        late = tuple(int(end.failed_side == side) for side in sides)
        busts = (0,) * len(sides)
        facts = MatchResultFacts(
            end.points,
            hosted.winner,
            duration_seconds,
            end.turns,
            busts,
            late,
            began=hosted.started_at,
        )
        return FullMatchReport(hosted.teams, facts, hosted.ended_at, hosted.ended_at is not None)

    def begin_match(self, request: MatchRequest) -> str:
        """Store a new match and return its id.

        The id is a hash of the request. A director that was killed after this call makes the same
        request again, and gets the same match instead of a second one.
        """
        # The teams are part of it, because a ruling may bring other teams into the same pairing.
        identity = (*request.tags, request.seed, *request.teams)
        match = sha256("\n".join(identity).encode()).hexdigest()[:24]
        hosted = LocalMatchRecord(request.teams, request.tags, int(request.seed), self._clock())
        with suppress(WriteConflict):  # the match was stored before
            self._write_match(match, hosted, 0)
        return match

    def end_match(self, match_id: str, winner: TeamId | None, _comment: str) -> None:
        """End a match by decision."""
        document, hosted = self._load_match(match_id)
        winner_side = None if winner is None else hosted.teams.index(winner)
        nothing = WorkerMatchResult((0.0,) * len(hosted.teams), 0)
        finished = replace(hosted, ended_at=self._clock(), result=nothing, winner=winner_side)
        self._write_match(match_id, finished, document.version)

    def presence_by_player(self) -> Mapping[TeamId, TeamPresence]:
        """Return the presence of each team: local teams are never idle."""
        return dict.fromkeys(self._load_teams_by_id(), TeamPresence(0.0))

    def wait_for_match_end(self) -> None:
        """Wait until a match has ended, at most `STEP_INTERVAL_SECONDS`."""
        wait(
            self._running_matches.values(),
            timeout=STEP_INTERVAL_SECONDS,
            return_when=FIRST_COMPLETED,
        )
        if not self._running_matches:
            self._stop_event.wait(STEP_INTERVAL_SECONDS)

    def _start_match(self, match: str, record: LocalMatchRecord) -> None:
        """Start a match; leave out withdrawn teams if two or more teams remain."""
        teams, withdrawn_teams = (
            self._load_teams_by_id(),
            self._records.withdrawal_reasons_by_team(),
        )
        present = [team for team in record.teams if team not in withdrawn_teams]
        if len(present) <= 1:
            present = list(record.teams)
        strategies = (self._require_strategy(teams[team]) for team in present)
        task = MatchTask(
            match=match,
            game=self._settings.game,
            seed=record.seed,
            names=tuple(teams[team].name for team in present),
            strategies=tuple(strategies),
            started_at=record.started_at,
            tag=record.tags[-1],
            log=self._contest.match_log_file,
        )
        self._absent_teams[match] = tuple(team for team in record.teams if team not in present)
        self._running_matches[match] = self._pool.submit(
            lambda: _add_absent_teams(self._play_in_process(task), record.teams, present)
        )

    def _play_in_process(self, task: MatchTask) -> WorkerMatchResult:
        """Play a match in a process of its own; a side that is silent or exits loses."""
        with self._contest.log_file.open("ab") as errors:
            child = ChildProcess(
                "cardsharp_tools.contest.match_worker", TASK.dump_json(task).decode(), errors
            )
        self._worker_processes.add(child)
        turn: int | None = None
        try:
            for line in () if self._stop_event.is_set() else self._read_lines(child):
                message, _, turn_text = line.partition(" ")
                if message != TURN_MESSAGE:
                    return END.validate_json(line)
                turn = int(turn_text)
            # A team's code that ends the process or hangs stops the match for all sides. The last
            # turn message names the side that had to decide, and that side loses.
            fault = "its code ended the process that played the match, or took too long"
        except (ValueError, ValidationError) as error:
            fault = f"its code printed a line that is not the result of a match: {error}"
        finally:
            child.kill()
            self._worker_processes.discard(child)
        if turn is None or self._stop_event.is_set():
            fault = "The match was stopped before the first decision of a team's code."
            return WorkerMatchResult((0.0,) * len(task.names), 0, failure=fault)
        return forfeit_result(task, turn, fault)

    def _read_lines(self, child: ChildProcess) -> Iterator[str]:
        """Yield the lines that a process prints until it ends or is silent for too long."""
        line_queue: queue.Queue[str | None] = queue.Queue()
        if not child.wait_until_ready():
            return

        def read() -> None:
            with suppress(ValueError, OSError):  # the pipe is closed
                for line in require_pipe(child.process.stdout):
                    line_queue.put(line.strip())
            line_queue.put(None)

        threading.Thread(target=read, daemon=True).start()
        limit = MATCH_START_TIMEOUT_SECONDS
        with suppress(queue.Empty):
            while (
                line := line_queue.get(timeout=limit)
            ) is not None and not self._stop_event.is_set():
                yield line
                limit = (
                    self._settings.timeout
                    if line.startswith(TURN_MESSAGE)
                    else MATCH_START_TIMEOUT_SECONDS
                )

    def _store_result(self, match: str, future: "Future[WorkerMatchResult]") -> None:
        """Store the result of a match, unless it was decided in the meantime."""
        document, hosted = self._load_match(match)
        if hosted.ended_at is not None:
            return
        end = future.result()
        tell = TeamFailureReporter(self._contest, self._clock)
        if end.failed_side is not None:
            tell(hosted.teams[end.failed_side], end.failure, f"failed in match {match}")
        elif end.failure:
            _log.warning(
                "Match %s has no result, and no team is to blame: %s",
                match,
                escape_control_chars(end.failure.splitlines()[0]),
            )
        tell.report_sandbox_violations(hosted.teams)
        alone = end.points.count(max(end.points)) == 1
        winner = end.points.index(max(end.points)) if alone else None
        finished = replace(
            hosted,
            ended_at=self._clock(),
            result=end,
            winner=winner,
            absent_teams=self._absent_teams.pop(match),
        )
        self._write_match(match, finished, document.version)

    def _delete_from_log(self, match: str) -> None:
        """Delete a match from the contest's log, because it is played again."""
        with closing(SqliteMatchLog(self._contest.match_log_file, SystemClock())) as log:
            log.delete_match(match)

    def _require_strategy(self, team: TeamEntry) -> StrategyReference:
        strategy = self._contest.strategy_of(team)
        if strategy is None:
            raise ConfigError(
                f"{team.name} has no strategy, and the game has no arena that it could sign in "
                "to. Remove the team and enter it again with --strategy."
            )
        return strategy

    def _load_teams_by_id(self) -> dict[TeamId, TeamEntry]:
        return {team.id: team for team in self._records.teams()}

    def _write_match(self, match: str, record: LocalMatchRecord, version: int) -> None:
        body = _MATCH_RECORD_ADAPTER.dump_python(record, mode="json", by_alias=True)
        self._records.documents.commit(Put(Key(self._partition, match), body, version))

    def _load_matches(self) -> Iterator[tuple[Document, LocalMatchRecord]]:
        for document in all_documents(self._records.documents, self._partition):
            yield document, _MATCH_RECORD_ADAPTER.validate_python(document.body)

    def _load_match(self, match: str) -> tuple[Document, LocalMatchRecord]:
        document = self._records.documents.get(Key(self._partition, match))
        if document is None:
            raise ConfigError(f"The contest has no match {match}. Check the id.")
        return document, _MATCH_RECORD_ADAPTER.validate_python(document.body)


def _reopen(record: LocalMatchRecord) -> LocalMatchRecord:
    """Return the record of a match that has not been played yet."""
    return replace(record, ended_at=None, result=None, winner=None, absent_teams=())


def _add_absent_teams(
    result: WorkerMatchResult, teams: Sequence[TeamId], present: Sequence[TeamId]
) -> WorkerMatchResult:
    """Return the result for all teams; an absent team gets the lowest points."""
    points_by_team = dict(zip(present, result.points, strict=True))
    failed = None if result.failed_side is None else teams.index(present[result.failed_side])
    points = tuple(points_by_team.get(team, min(result.points)) for team in teams)
    return replace(result, points=points, failed_side=failed)


def _summarize_match(match: str, record: LocalMatchRecord) -> MatchSummary:
    last_timestamp = (record.ended_at or record.started_at).isoformat()
    score = None if record.result is None else MatchScore(record.result.points, record.winner)
    return MatchSummary(match, record.teams, record.tags, last_timestamp, score)
