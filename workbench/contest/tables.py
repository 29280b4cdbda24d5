"""Tables of a contest's own, for games that no arena hosts: each match in a process of its own.

A match is written down before it begins and its seed decides how it ends, so whatever kills the
contest, the next start plays what had begun, to the same end.
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
from typing import Self

from pydantic import TypeAdapter, ValidationError

from cardsharp.cloud.clock import utc_now
from cardsharp.contest.entries import Entrant
from cardsharp.contest.pairing import Score, Team
from cardsharp.contest.records import Records
from cardsharp.contest.roster import all_under
from cardsharp.contest.tables import Account, Facts, Tabled, TableOrder
from cardsharp.errors import ConfigError, Conflict, StoreError
from cardsharp.keep.port import Document, Key, Put
from workbench.child import Child
from workbench.contest.table import END, TASK, TURN, TableEnd, TableTask, forfeited
from workbench.process import pipe_of
from workbench.submission import played_as, submitted
from workbench.warden import plain

LOG = "matches.db"  # the match log in the contest's folder
STARTING = 300.0  # seconds until a process's first word; a turn has the contest's limit
PAUSE = 0.5  # seconds between two steps of the director, unless a match ends before

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TableKept:
    """A match as it is kept; `end` is None until it has ended, and `winner` a side's number."""

    teams: tuple[Team, ...]
    tags: tuple[str, ...]
    seed: int
    began: datetime
    ended: datetime | None = None
    end: TableEnd | None = None
    winner: int | None = None


_KEPT = TypeAdapter(TableKept)


class Reporter:
    """Tells the organiser of teams' faults, and keeps them."""

    def __init__(self, records: Records, clock: Callable[[], datetime] = utc_now) -> None:
        self._records, self._clock = records, clock

    def __call__(self, team: Team, fault: object, did: str = "fell over") -> None:
        """Tell of a fault of a team, or of something else that it `did`."""
        what = plain(str(fault).splitlines()[0])
        with suppress(StoreError):  # the warning says it in any case
            self._records.note_fault(team, what, self._clock())
        _log.warning("%s %s: %s", self._records.names().get(team, team), did, what)

    def hear(self, folder: Path, teams: Sequence[Team] | None) -> None:
        """Tell what these teams, or all, have tried in their sandboxes."""
        for team in teams or [one.id for one in self._records.teams()]:
            for what in submitted(folder, team, None).noted():
                self(team, what, "is held back")


class HomeTables:
    """Tables as `TableHost`, in a `with`; its teams are all played here."""

    def __init__(self, records: Records, folder: Path, clock: Callable[[], datetime]) -> None:
        self._records, self._clock, self._folder = records, clock, folder
        self._settings = records.settings
        self._partition = f"contest#{self._settings.name}#table"
        self._playing: dict[str, Future[TableEnd]] = {}
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1)
        self._over = threading.Event()
        self._children: set[Child] = set()

    def __enter__(self) -> Self:
        for team in self._records.teams():
            _strategy(team)  # but none is imported in this process
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for child in [*self._children]:
            child.process.kill()  # else a match is waited for as long as its team may think
        self._pool.shutdown(cancel_futures=True)

    def matches(self, tags: tuple[str, ...] = (), ids: tuple[str, ...] = ()) -> list[Tabled]:
        """Matches with any of these tags, or of these ids; those that had begun go on."""
        for match in [match for match, future in self._playing.items() if future.done()]:
            self._take(match, self._playing.pop(match))
        found = [
            (document, kept)
            for document, kept in self._kept()
            if document.key.sort in ids or not set(tags).isdisjoint(kept.tags)
        ]
        for document, kept in found:
            if kept.ended is None and document.key.sort not in self._playing:
                self._start(document.key.sort, kept)
        return [_tabled(document.key.sort, kept) for document, kept in found]

    def account(self, match: str) -> Account:
        """A match read whole."""
        kept = self._one(match)[1]
        sides = range(len(kept.teams))
        end = kept.end or TableEnd((0.0,) * len(sides), 0)
        seconds = ((kept.ended or self._clock()) - kept.began).total_seconds()
        late = tuple(int(end.failed == side) for side in sides)
        busts = (0,) * len(sides)
        facts = Facts(end.points, kept.winner, seconds, end.turns, busts, late, began=kept.began)
        return Account(kept.teams, facts, kept.ended, kept.ended is not None)

    def begin(self, order: TableOrder) -> str:
        """The id of a new match."""
        known_by = (*order.tags, order.seed, *order.teams)  # a ruling may bring other teams
        match = sha256("\n".join(known_by).encode()).hexdigest()[:24]
        kept = TableKept(order.teams, order.tags, int(order.seed), self._clock())
        with suppress(Conflict):  # it had begun before
            self._write(match, kept, 0)
        return match

    def end(self, match: str, winner: Team | None, _comment: str) -> None:
        """End a match by decision."""
        document, kept = self._one(match)
        side = None if winner is None else kept.teams.index(winner)
        nothing = TableEnd((0.0,) * len(kept.teams), 0)
        ended = replace(kept, ended=self._clock(), end=nothing, winner=side)
        self._write(match, ended, document.version)

    def idle(self) -> Mapping[Team, float | None]:
        """Everybody is here."""
        return dict.fromkeys(self._teams(), 0.0)

    def pause(self) -> None:
        """Wait until a match has ended, or for a moment where none is played."""
        wait(self._playing.values(), timeout=PAUSE, return_when=FIRST_COMPLETED)
        if not self._playing:
            self._over.wait(PAUSE)

    def _start(self, match: str, kept: TableKept) -> None:
        """Have a match played, at a table of three or more without those who have withdrawn."""
        teams, gone = self._teams(), self._records.withdrawn()
        there = [team for team in kept.teams if team not in gone]
        if len(there) <= 1:
            there = list(kept.teams)
        own = (played_as(_strategy(teams[team]), self._folder, team) for team in there)
        task = TableTask(
            match=match,
            game=self._settings.game,
            seed=kept.seed,
            names=tuple(teams[team].name for team in there),
            strategies=tuple(own),
            at=kept.began,
            tag=kept.tags[-1],
            log=self._folder.absolute() / LOG,
        )
        self._playing[match] = self._pool.submit(
            lambda: _with_empty(self._play(task), kept.teams, there)
        )

    def _play(self, task: TableTask) -> TableEnd:
        """Have a process play a match; who falls silent, or ends the process, has lost."""
        with (self._folder / "contest.log").open("ab") as errors:
            child = Child("workbench.contest.table", TASK.dump_json(task).decode(), errors)
        self._children.add(child)
        turn: int | None = None
        try:
            for line in () if self._over.is_set() else self._lines(child):
                word, _, number = line.partition(" ")
                if word != TURN:
                    return END.validate_json(line)
                turn = int(number)
            fault = "has ended the process that played it, or took too long"
        except (ValueError, ValidationError) as error:
            fault = f"has printed what is no end of a match: {error}"
        finally:
            child.kill()
            self._children.discard(child)
        if turn is None or self._over.is_set():
            fault = "The match was stopped before anybody decided."
            return TableEnd((0.0,) * len(task.names), 0, fault=fault)
        return forfeited(task, turn, fault)

    def _lines(self, child: Child) -> Iterator[str]:
        """Yield what a process says, until it ends or is silent for too long."""
        said: queue.Queue[str | None] = queue.Queue()
        if not child.gets_ready():
            return

        def read() -> None:
            with suppress(ValueError, OSError):  # the pipe is closed
                for line in pipe_of(child.process.stdout):
                    said.put(line.strip())
            said.put(None)

        threading.Thread(target=read, daemon=True).start()
        limit = STARTING
        with suppress(queue.Empty):
            while (line := said.get(timeout=limit)) is not None and not self._over.is_set():
                yield line
                limit = self._settings.timeout if line.startswith(TURN) else STARTING

    def _take(self, match: str, future: "Future[TableEnd]") -> None:
        """Keep how a match has ended, unless it was ended by decision meanwhile."""
        document, kept = self._one(match)
        if kept.ended is not None:
            return
        end = future.result()
        tell = Reporter(self._records, self._clock)
        if end.failed is not None:
            tell(kept.teams[end.failed], end.fault, f"failed in match {match}")
        elif end.fault:
            _log.warning("Nobody failed in match %s: %s", match, plain(end.fault.splitlines()[0]))
        tell.hear(self._folder, kept.teams)
        alone = end.points.count(max(end.points)) == 1
        winner = end.points.index(max(end.points)) if alone else None
        ended = replace(kept, ended=self._clock(), end=end, winner=winner)
        self._write(match, ended, document.version)

    def _teams(self) -> dict[Team, Entrant]:
        return {team.id: team for team in self._records.teams()}

    def _write(self, match: str, kept: TableKept, version: int) -> None:
        body = _KEPT.dump_python(kept, mode="json")
        self._records.documents.commit(Put(Key(self._partition, match), body, version))

    def _kept(self) -> Iterator[tuple[Document, TableKept]]:
        for one in all_under(self._records.documents, self._partition):
            yield one, _KEPT.validate_python(one.body)

    def _one(self, match: str) -> tuple[Document, TableKept]:
        document = self._records.documents.get(Key(self._partition, match))
        if document is None:
            raise ConfigError(f"The contest has no match {match}.")
        return document, _KEPT.validate_python(document.body)


def _strategy(team: Entrant) -> str:
    if team.strategy is None:
        raise ConfigError(
            f"{team.name} has no strategy, and the game no arena where it could play: remove it, "
            "and enter it again with --strategy."
        )
    return team.strategy


def _with_empty(end: TableEnd, teams: Sequence[Team], there: Sequence[Team]) -> TableEnd:
    """The end for all teams of a table: who was not there has as little as the last."""
    made = dict(zip(there, end.points, strict=True))
    failed = None if end.failed is None else teams.index(there[end.failed])
    points = tuple(made.get(team, min(end.points)) for team in teams)
    return replace(end, points=points, failed=failed)


def _tabled(match: str, kept: TableKept) -> Tabled:
    last = (kept.ended or kept.began).isoformat()
    score = None if kept.end is None else Score(kept.end.points, kept.winner)
    return Tabled(match, kept.teams, kept.tags, last, score)
