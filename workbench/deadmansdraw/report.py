"""What came of the matches that `play` and `practice` played, for people and for programs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from rich.console import Console
from rich.table import Table

from cardsharp.cloud.ports import MatchReader, MoveRecord
from cardsharp.deadmansdraw.logbook import facts_body
from cardsharp.deadmansdraw.replay import Turn, turns_of
from cardsharp.deadmansdraw.wire_views import MatchView
from cardsharp.errors import StoreError, StrategyFault
from cardsharp.replay import Outcome, header_of, outcome_of
from cardsharp.trying import LATE, fault_kind
from workbench.deadmansdraw.drawing import Labels
from workbench.lab.interval import interval
from workbench.show.output import plain_table, print_error, program


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many moves the arena knows, and the sequences of those that our log tells otherwise."""

    moves: int
    missing: tuple[int, ...]
    different: tuple[int, ...]

    @property
    def complete(self) -> bool:
        """Whether the log has every move, equal to the arena's, and no other."""
        return not self.missing and not self.different

    def __str__(self) -> str:
        if self.complete:
            return f"log complete: {self.moves} moves, equal to the arena's"
        faults = {"without moves": self.missing, "other in moves": self.different}
        told = (f"{kind} {', '.join(map(str, one))}" for kind, one in faults.items() if one)
        return f"log of {self.moves} moves is {' and '.join(told)}"


def compare(view: MatchView, moves: Sequence[MoveRecord]) -> Verdict:
    """The verdict on a log's moves, by a view with all of the match's moves."""
    told = {move.sequence_id: facts_body(move) for move in view.moves}
    logged = {move.sequence: move.facts for move in moves if move.facts is not None}
    return Verdict(
        moves=len(told),
        missing=tuple(sorted(told.keys() - logged.keys())),
        different=tuple(s for s in sorted(logged) if logged[s] != told.get(s)),
    )


_MAX_KINDS = 4  # so many kinds of faults are told one by one

_POINTS = {"won": 1.0, "tied": 0.5, "lost": 0.0}


@dataclass(frozen=True, slots=True)
class SafeFault:
    """Why a safe action replaced a decision, and in which turn of which match."""

    match_id: str
    turn: int
    text: str
    trace: str


@dataclass(frozen=True, slots=True)
class MatchReport:
    """One finished match: its end, what the arena says of our log, and decisions gone wrong.

    `longest_turn` is the number of the turn in which we decided most, and `forced` how many turns
    of ours the arena ended for want of time. `decisions` are all of ours, the `faults` among them.
    """

    match_id: str
    outcome: Outcome
    verdict: Verdict
    faults: tuple[SafeFault, ...]
    us: int | None
    longest_turn: int
    forced: int
    decisions: int

    @property
    def scores(self) -> tuple[int, int]:
        """Our score and theirs."""
        first, second = self.outcome.scores or (0, 0)
        return (second, first) if self.us == 1 else (first, second)

    def document(self) -> dict[str, object]:
        """The match for programs."""
        return {
            "match": self.match_id,
            "result": self.outcome.result,
            "scores": list(self.scores),
            "turns": self.outcome.turns,
            "moves": self.outcome.moves,
            "timeouts": self.outcome.timeouts,
            "forcedTurns": self.forced,
            "terminated": self.outcome.terminated,
            "logComplete": self.verdict.complete,
            "log": str(self.verdict),
            "faults": [
                {"turn": fault.turn, "fault": fault.text, "trace": fault.trace.splitlines()}
                for fault in self.faults
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """All matches of one run; `requests` are those of our side, by kind."""

    strategy: str
    opponent: str
    cloud: str
    store: str
    seconds: float
    played: Sequence[MatchReport]
    requests: Mapping[str, int]

    @property
    def complete(self) -> bool:
        """Whether every log equals the arena's history."""
        return all(match.verdict.complete for match in self.played)

    @property
    def decisions(self) -> int:
        """How many decisions were ours."""
        return sum(match.decisions for match in self.played)

    @property
    def replaced(self) -> int:
        """How many of these failed, so that safe actions were played."""
        return sum(len(match.faults) for match in self.played)

    def count(self, result: str) -> int:
        """How many matches ended so for us."""
        return sum(match.outcome.result == result for match in self.played)

    @property
    def points(self) -> tuple[float, float, float]:
        """Share of the points in per cent, and the ends of its 95 % interval."""
        results = [_POINTS.get(match.outcome.result, 0.5) for match in self.played]
        low, high = interval(results).scaled(100)
        return round(100 * fmean(results), 1), round(low, 1), round(high, 1)

    def mean_score(self, side: int) -> float:
        """The average score, ours for 0 and theirs for 1."""
        return sum(match.scores[side] for match in self.played) / len(self.played)

    def document(self) -> dict[str, object]:
        """The run for programs."""
        points, low, high = self.points
        return {
            "strategy": self.strategy,
            "opponent": self.opponent,
            "cloud": self.cloud,
            "store": self.store,
            "seconds": round(self.seconds, 3),
            "won": self.count("won"),
            "lost": self.count("lost"),
            "tied": self.count("tied"),
            "points": {"percent": points, "low": low, "high": high},
            "meanScore": [self.mean_score(0), self.mean_score(1)],
            "requests": dict(self.requests),
            "logComplete": self.complete,
            "matches": [match.document() for match in self.played],
        }


def played_of(log: MatchReader, view: MatchView) -> MatchReport:
    """What became of a finished match in its log, checked with the arena's; or a `StoreError`."""
    record = log.match(view.id)
    outcome = None if record is None else outcome_of(record)
    if record is None or outcome is None:
        raise StoreError(f"The match {view.id} is not finished in the log.")
    moves, header = log.moves(view.id), header_of(record)
    turns = turns_of(moves)
    longest = max(turns, key=lambda turn: len(turn.decisions), default=None)
    return MatchReport(
        match_id=view.id,
        outcome=outcome,
        verdict=compare(view, moves),
        faults=tuple(faults_of(view.id, turns)),
        us=Labels.of(header).us,
        longest_turn=1 if longest is None else longest.number,
        forced=sum(step.move.timed_out in header.seats for turn in turns for step in turn.steps),
        decisions=sum(len(turn.decisions) for turn in turns),
    )


def faults_of(match_id: str, turns: Sequence[Turn]) -> Iterator[SafeFault]:
    """Every decision of those turns that a safe action replaced."""
    for turn in turns:
        for step in turn.decisions:
            if step.ours is not None and step.ours.fault:
                yield SafeFault(match_id, turn.number, step.ours.fault, step.ours.trace)


def stop_at_fault(log: MatchReader, matches: Sequence[str]) -> None:
    """Raise `StrategyFault` with the first decision in one of these that was replaced."""
    for match_id in matches:
        for fault in faults_of(match_id, turns_of(log.moves(match_id))):
            where = f"In turn {fault.turn} of match {match_id}"
            raise StrategyFault(f"{where}: {fault.text}.\n{fault.trace}".rstrip())


def stop_where_late(log: MatchReader, matches: Sequence[str], most: int = 3) -> None:
    """Raise `StrategyFault` where so many decisions in one of these were late: it may never end."""
    for match_id in matches:
        faults = faults_of(match_id, turns_of(log.moves(match_id)))
        late = [fault for fault in faults if fault.text.startswith(LATE)]
        if len(late) >= most:
            raise StrategyFault(
                f"{late[0].text}.\n{most} decisions were late, so the match was stopped in turn "
                f"{late[-1].turn}; a decision has 2 s, and less where a turn has many."
            )


def print_faults(played: Sequence[MatchReport], store: str) -> None:
    """Each kind of fault, how often it came, and how to open the first, with `store` if need be."""
    kinds: dict[tuple[str, str], list[SafeFault]] = {}
    for match in played:
        for fault in match.faults:
            kinds.setdefault(fault_kind(fault.text), []).append(fault)
    often = sorted(kinds.values(), key=len, reverse=True)
    for faults in often[:_MAX_KINDS]:
        first, number = faults[0], len(faults)
        many = "a decision" if number == 1 else f"{number} decisions"
        alike = len({fault.text for fault in faults}) == 1
        told = f"{many}: {first.text}" if alike else f"{many}, the first because {first.text}"
        print_error(f"A safe action replaced {told}.\n{first.trace}".rstrip())
        print_error(f"See {program()} why {first.match_id} {first.turn}{store}")
    if len(often) > _MAX_KINDS:
        more = sum(map(len, often[_MAX_KINDS:]))
        print_error(f"{more} more were replaced, for {len(often) - _MAX_KINDS} other reasons.")


def print_table(console: Console, report: RunReport) -> None:
    """The matches of a run, one in a line, and what they come to."""
    figures = ("score", "turns", "moves")
    table = plain_table("match", "result", *figures, "log", right=figures)
    for match in report.played:
        outcome, verdict = match.outcome, match.verdict
        score = "{} : {}".format(*match.scores)
        log, style = ("complete", "") if verdict.complete else (str(verdict), "red")
        cells = (match.match_id, outcome.result, score, str(outcome.turns), str(outcome.moves), log)
        table.add_row(*cells, style=style)
    console.print(table)
    console.print()
    number = len(report.played)
    points, low, high = report.points
    rows = {
        "won / lost / tied": " / ".join(str(report.count(r)) for r in ("won", "lost", "tied")),
        "points": f"{points:.1f} % (95 %: {low:.1f} to {high:.1f})",
        "mean score": f"{report.mean_score(0):.1f} : {report.mean_score(1):.1f}",
        "requests a match": requests_text(report.requests, number),
        "pace": f"{60 * number / report.seconds:.0f} matches a minute ({report.seconds:.1f} s)",
    }
    summary = Table.grid(padding=(0, 2))
    for name, value in rows.items():
        summary.add_row(name, value)
    console.print(summary)


_REQUESTS = {
    "act": "to act",
    "view_wait": "to wait for our turn",
    "view": "to look at the match",
    "list_wait": "to listen for matches",
}


def requests_text(requests: Mapping[str, int], matches: int) -> str:
    """Requests a match by kind, e.g. "54.0: 43.0 to act, 9.0 to wait for our turn, ..."."""
    total = sum(requests.values()) / matches
    kinds = sorted(requests.items(), key=lambda item: -item[1])
    digits = 0 if matches == 1 else 1
    parts = (f"{n / matches:.{digits}f} {_REQUESTS.get(kind, kind)}" for kind, n in kinds)
    return f"{total:.{digits}f}: {', '.join(parts)}"
