"""Match host for games without an arena: it plays each match in a process of its own.

A match is stored before it begins, and its seed determines how it ends. So if the contest is
killed, the next start plays the unfinished matches again, with the same result.
"""

import logging
import os
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, TypeAdapter, ValidationError

from cardsharp.contest.formats.pairing import MatchScore, TeamId
from cardsharp.contest.match_host import (
    FullMatchReport,
    MatchRequest,
    MatchResultFacts,
    MatchSummary,
)
from cardsharp.contest.models import TeamEntry
from cardsharp.contest.results import ContestRecords
from cardsharp.contest.teams import all_documents
from cardsharp.core.clock import utc_now
from cardsharp.errors import ConfigError, StoreError, WriteConflict
from cardsharp.store.documents import Document, Key, Put
from cardsharp_tools.child_process import ChildProcess
from cardsharp_tools.contest.match_worker import (
    END,
    TASK,
    TURN_MESSAGE,
    MatchTask,
    WorkerMatchResult,
    forfeit_result,
)
from cardsharp_tools.executors.line_process import require_pipe
from cardsharp_tools.executors.sandbox_supervisor import escape_control_chars
from cardsharp_tools.executors.submission import submission_strategy_name, team_submissions

MATCH_LOG_FILE = "matches.db"  # the match log in the contest's folder
MATCH_START_TIMEOUT_SECONDS = (
    300.0  # seconds until a process's first line; a turn has its own limit
)
STEP_INTERVAL_SECONDS = 0.5  # seconds between two steps of the director, or less if a match ends

_log = logging.getLogger(__name__)


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


_HOSTED_MATCH = TypeAdapter(LocalMatchRecord)


class FailureReporter:
    """Reporter of teams' failures to the organiser, which also stores them."""

    def __init__(self, records: ContestRecords, clock: Callable[[], datetime] = utc_now) -> None:
        self._records, self._clock = records, clock

    def __call__(self, team: TeamId, fault: object, did: str = "failed") -> None:
        """Report a failure of a team's code, or something else that it `did`."""
        message = escape_control_chars(str(fault).splitlines()[0])
        with suppress(StoreError):  # the warning below reports it in any case
            self._records.add_team_fault(team, message, self._clock())
        _log.warning(
            "%s %s: %s", self._records.team_names_with_removed().get(team, team), did, message
        )

    def report_sandbox_violations(self, folder: Path, teams: Sequence[TeamId] | None) -> None:
        """Report the sandbox violations of these teams, or of all teams."""
        for team in teams or [entry.id for entry in self._records.teams()]:
            for violation in team_submissions(folder, team, None).take_violations():
                self(team, violation, "broke a rule of the sandbox")


class LocalMatchHost:
    """Match host for local teams, used as a context manager."""

    def __init__(
        self, records: ContestRecords, folder: Path, clock: Callable[[], datetime]
    ) -> None:
        self._records, self._clock, self._folder = records, clock, folder
        self._settings = records.settings
        self._partition = f"contest#{self._settings.name}#table"
        self._playing: dict[str, Future[WorkerMatchResult]] = {}
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1)
        self._over = threading.Event()
        self._children: set[ChildProcess] = set()

    def __enter__(self) -> Self:
        for team in self._records.teams():
            _strategy(team)  # checks that there is one; it is imported only in the match's process
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for child in [*self._children]:
            child.process.kill()  # otherwise the pool waits until the team has decided
        self._pool.shutdown(cancel_futures=True)

    def matches(self, tags: tuple[str, ...] = (), ids: tuple[str, ...] = ()) -> list[MatchSummary]:
        """Return matches with any of these tags or ids; resume those that were running."""
        for match in [match for match, future in self._playing.items() if future.done()]:
            self._take(match, self._playing.pop(match))
        stored = [
            (document, hosted)
            for document, hosted in self._stored_matches()
            if document.key.sort_key in ids or not set(tags).isdisjoint(hosted.tags)
        ]
        for document, hosted in stored:
            if hosted.ended_at is None and document.key.sort_key not in self._playing:
                self._start(document.key.sort_key, hosted)
        return [_tabled(document.key.sort_key, hosted) for document, hosted in stored]

    def match_report(self, match_id: str) -> FullMatchReport:
        """Return the complete report of a match."""
        hosted = self._stored_match(match_id)[1]
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
            self._write(match, hosted, 0)
        return match

    def end_match(self, match_id: str, winner: TeamId | None, _comment: str) -> None:
        """End a match by decision."""
        document, hosted = self._stored_match(match_id)
        winner_side = None if winner is None else hosted.teams.index(winner)
        nothing = WorkerMatchResult((0.0,) * len(hosted.teams), 0)
        finished = replace(hosted, ended_at=self._clock(), result=nothing, winner=winner_side)
        self._write(match_id, finished, document.version)

    def idle_seconds_by_player(self) -> Mapping[TeamId, float | None]:
        """Return 0 for each team, because local teams are never idle."""
        return dict.fromkeys(self._teams(), 0.0)

    def wait_for_match_end(self) -> None:
        """Wait until a match has ended, at most `STEP_INTERVAL_SECONDS`."""
        wait(self._playing.values(), timeout=STEP_INTERVAL_SECONDS, return_when=FIRST_COMPLETED)
        if not self._playing:
            self._over.wait(STEP_INTERVAL_SECONDS)

    def _start(self, match: str, hosted: LocalMatchRecord) -> None:
        """Start a match; withdrawn teams are left out if it is for three or more."""
        teams, withdrawn_teams = self._teams(), self._records.withdrawn_teams()
        present = [team for team in hosted.teams if team not in withdrawn_teams]
        if len(present) <= 1:
            present = list(hosted.teams)
        strategy_names = (
            submission_strategy_name(_strategy(teams[team]), self._folder, team) for team in present
        )
        task = MatchTask(
            match=match,
            game=self._settings.game,
            seed=hosted.seed,
            names=tuple(teams[team].name for team in present),
            strategies=tuple(strategy_names),
            started_at=hosted.started_at,
            tag=hosted.tags[-1],
            log=self._folder.absolute() / MATCH_LOG_FILE,
        )
        self._playing[match] = self._pool.submit(
            lambda: _with_empty(self._play(task), hosted.teams, present)
        )

    def _play(self, task: MatchTask) -> WorkerMatchResult:
        """Play a match in a process; a side that is silent or exits loses."""
        with (self._folder / "contest.log").open("ab") as errors:
            child = ChildProcess(
                "cardsharp_tools.contest.match_worker", TASK.dump_json(task).decode(), errors
            )
        self._children.add(child)
        turn: int | None = None
        try:
            for line in () if self._over.is_set() else self._lines(child):
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
            self._children.discard(child)
        if turn is None or self._over.is_set():
            fault = "The match was stopped before the first decision of a team's code."
            return WorkerMatchResult((0.0,) * len(task.names), 0, failure=fault)
        return forfeit_result(task, turn, fault)

    def _lines(self, child: ChildProcess) -> Iterator[str]:
        """Yield the lines that a process prints, until it ends or is silent for too long."""
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
            while (line := line_queue.get(timeout=limit)) is not None and not self._over.is_set():
                yield line
                limit = (
                    self._settings.timeout
                    if line.startswith(TURN_MESSAGE)
                    else MATCH_START_TIMEOUT_SECONDS
                )

    def _take(self, match: str, future: "Future[WorkerMatchResult]") -> None:
        """Store the result of a match, unless it was decided in the meantime."""
        document, hosted = self._stored_match(match)
        if hosted.ended_at is not None:
            return
        end = future.result()
        tell = FailureReporter(self._records, self._clock)
        if end.failed_side is not None:
            tell(hosted.teams[end.failed_side], end.failure, f"failed in match {match}")
        elif end.failure:
            _log.warning(
                "Match %s has no result, and no team is to blame: %s",
                match,
                escape_control_chars(end.failure.splitlines()[0]),
            )
        tell.report_sandbox_violations(self._folder, hosted.teams)
        alone = end.points.count(max(end.points)) == 1
        winner = end.points.index(max(end.points)) if alone else None
        finished = replace(hosted, ended_at=self._clock(), result=end, winner=winner)
        self._write(match, finished, document.version)

    def _teams(self) -> dict[TeamId, TeamEntry]:
        return {team.id: team for team in self._records.teams()}

    def _write(self, match: str, hosted: LocalMatchRecord, version: int) -> None:
        body = _HOSTED_MATCH.dump_python(hosted, mode="json", by_alias=True)
        self._records.documents.commit(Put(Key(self._partition, match), body, version))

    def _stored_matches(self) -> Iterator[tuple[Document, LocalMatchRecord]]:
        for document in all_documents(self._records.documents, self._partition):
            yield document, _HOSTED_MATCH.validate_python(document.body)

    def _stored_match(self, match: str) -> tuple[Document, LocalMatchRecord]:
        document = self._records.documents.get(Key(self._partition, match))
        if document is None:
            raise ConfigError(f"The contest has no match {match}. Check the id.")
        return document, _HOSTED_MATCH.validate_python(document.body)


def _strategy(team: TeamEntry) -> str:
    if team.strategy is None:
        raise ConfigError(
            f"{team.name} has no strategy, and the game has no arena that it could sign in to. "
            "Remove the team and enter it again with --strategy."
        )
    return team.strategy


def _with_empty(
    end: WorkerMatchResult, teams: Sequence[TeamId], present: Sequence[TeamId]
) -> WorkerMatchResult:
    """Return the result for all teams; an absent team gets the points of the last."""
    points_by_team = dict(zip(present, end.points, strict=True))
    failed = None if end.failed_side is None else teams.index(present[end.failed_side])
    points = tuple(points_by_team.get(team, min(end.points)) for team in teams)
    return replace(end, points=points, failed_side=failed)


def _tabled(match: str, hosted: LocalMatchRecord) -> MatchSummary:
    last_timestamp = (hosted.ended_at or hosted.started_at).isoformat()
    score = None if hosted.result is None else MatchScore(hosted.result.points, hosted.winner)
    return MatchSummary(match, hosted.teams, hosted.tags, last_timestamp, score)
