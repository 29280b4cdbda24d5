"""Report of the matches that `play` and `practice` played, for people and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from rich.console import Console
from rich.table import Table

from cardsharp.analysis.replay import Outcome, header_of, outcome_of
from cardsharp.errors import StoreError, StrategyError
from cardsharp.games.deadmansdraw.arena_bot.wire_views import MatchView
from cardsharp.games.deadmansdraw.history.log_records import facts_body
from cardsharp.games.deadmansdraw.history.replay import ReplayTurn, group_into_turns
from cardsharp.play.guarded_call import TIMEOUT_MESSAGE, fault_group_key
from cardsharp.store.match_log import MatchReader, MoveRecord
from cardsharp_tools.cli.console import borderless_table, print_error, program_command
from cardsharp_tools.lab.confidence_interval import mean_interval
from cardsharp_tools.terminal.player_labels import PlayerLabels


@dataclass(frozen=True, slots=True)
class LogComparison:
    """Comparison of a log with the arena: number of moves, and the differing sequence numbers."""

    moves: int
    missing_moves: tuple[int, ...]
    different_moves: tuple[int, ...]

    @property
    def is_complete(self) -> bool:
        """True if the log has every move, equal to the arena's, and no other."""
        return not self.missing_moves and not self.different_moves

    def __str__(self) -> str:
        if self.is_complete:
            return f"log complete: {self.moves} moves, equal to the arena's"
        faults = {"without moves": self.missing_moves, "other in moves": self.different_moves}
        parts = (
            f"{kind} {', '.join(map(str, sequences))}"
            for kind, sequences in faults.items()
            if sequences
        )
        return f"log of {self.moves} moves is {' and '.join(parts)}"


def compare_log(view: MatchView, moves: Sequence[MoveRecord]) -> LogComparison:
    """Compare a log's moves with an arena view that has all moves of the match."""
    expected = {move.sequence_id: facts_body(move) for move in view.moves}
    logged = {move.sequence: move.facts for move in moves if move.facts is not None}
    return LogComparison(
        moves=len(expected),
        missing_moves=tuple(sorted(expected.keys() - logged.keys())),
        different_moves=tuple(s for s in sorted(logged) if logged[s] != expected.get(s)),
    )


_MAX_KINDS = 4  # kinds of errors that are reported one by one

_POINTS = {"won": 1.0, "tied": 0.5, "lost": 0.0}


@dataclass(frozen=True, slots=True)
class ReplacedDecision:
    """Decision that a safe action replaced: its match, its turn and the reason."""

    match_id: str
    turn: int
    reason: str
    trace: str


@dataclass(frozen=True, slots=True)
class MatchReport:
    """Report of a finished match: outcome, log comparison, and failed decisions.

    `longest_turn` is the number of the turn with most of our decisions. `forced` is the number of
    our turns that the arena ended because the time was up. `decisions` counts all of ours, with the
    `faults` among them.
    """

    match_id: str
    outcome: Outcome
    log_comparison: LogComparison
    replaced_decisions: tuple[ReplacedDecision, ...]
    player_index: int | None
    longest_turn: int
    forced_turns: int
    decisions: int

    @property
    def scores(self) -> tuple[int, int]:
        """Our score and the opponent's."""
        first_score, second_score = self.outcome.scores or (0, 0)
        return (
            (second_score, first_score) if self.player_index == 1 else (first_score, second_score)
        )

    def document(self) -> dict[str, object]:
        """Return the report as a JSON document."""
        return {
            "match": self.match_id,
            "result": self.outcome.result,
            "scores": list(self.scores),
            "turns": self.outcome.turns,
            "moves": self.outcome.moves,
            "timeouts": self.outcome.timeouts,
            "forcedTurns": self.forced_turns,
            "terminated": self.outcome.terminated,
            "logComplete": self.log_comparison.is_complete,
            "log": str(self.log_comparison),
            "faults": [
                {"turn": fault.turn, "fault": fault.reason, "trace": fault.trace.splitlines()}
                for fault in self.replaced_decisions
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """Report of all matches of a run; `requests` counts our requests to the arena by kind."""

    strategy: str
    opponent: str
    cloud: str
    store: str
    seconds: float
    match_reports: Sequence[MatchReport]
    requests: Mapping[str, int]

    @property
    def are_logs_complete(self) -> bool:
        """True if every log equals the arena's history."""
        return all(match.log_comparison.is_complete for match in self.match_reports)

    @property
    def decision_count(self) -> int:
        """Number of our decisions."""
        return sum(match.decisions for match in self.match_reports)

    @property
    def replaced_decision_count(self) -> int:
        """Number of our decisions that failed and were replaced by safe actions."""
        return sum(len(match.replaced_decisions) for match in self.match_reports)

    def result_count(self, result: str) -> int:
        """Return the number of matches with this result for us."""
        return sum(match.outcome.result == result for match in self.match_reports)

    @property
    def points_percent_with_interval(self) -> tuple[float, float, float]:
        """Share of the points in per cent, and the ends of its 95 % interval."""
        results = [_POINTS.get(match.outcome.result, 0.5) for match in self.match_reports]
        low, high = mean_interval(results).scaled(100)
        return round(100 * fmean(results), 1), round(low, 1), round(high, 1)

    def mean_score(self, side: int) -> float:
        """Return the mean score: ours for side 0, the opponent's for side 1."""
        return sum(match.scores[side] for match in self.match_reports) / len(self.match_reports)

    def document(self) -> dict[str, object]:
        """Return the report as a JSON document."""
        points, low, high = self.points_percent_with_interval
        return {
            "strategy": self.strategy,
            "opponent": self.opponent,
            "cloud": self.cloud,
            "store": self.store,
            "seconds": round(self.seconds, 3),
            "won": self.result_count("won"),
            "lost": self.result_count("lost"),
            "tied": self.result_count("tied"),
            "points": {"percent": points, "low": low, "high": high},
            "meanScore": [self.mean_score(0), self.mean_score(1)],
            "requests": dict(self.requests),
            "logComplete": self.are_logs_complete,
            "matches": [match.document() for match in self.match_reports],
        }


def build_match_report(log: MatchReader, view: MatchView) -> MatchReport:
    """Return the report of a finished match, its log compared with the arena's view.

    Raises `StoreError`.
    """
    record = log.match(view.id)
    outcome = None if record is None else outcome_of(record)
    if record is None or outcome is None:
        raise StoreError(f"The match {view.id} is not finished in the log.")
    moves, header = log.moves(view.id), header_of(record)
    turns = group_into_turns(moves)
    longest = max(turns, key=lambda turn: len(turn.steps_with_own_decision), default=None)
    return MatchReport(
        match_id=view.id,
        outcome=outcome,
        log_comparison=compare_log(view, moves),
        replaced_decisions=tuple(replaced_decisions(view.id, turns)),
        player_index=PlayerLabels.from_header(header).player_index,
        longest_turn=1 if longest is None else longest.number,
        forced_turns=sum(
            step.past_move.timed_out_player in header.seats for turn in turns for step in turn.steps
        ),
        decisions=sum(len(turn.steps_with_own_decision) for turn in turns),
    )


def replaced_decisions(match_id: str, turns: Sequence[ReplayTurn]) -> Iterator[ReplacedDecision]:
    """Return each decision of these turns that was replaced by a safe action."""
    for turn in turns:
        for step in turn.steps_with_own_decision:
            if step.decision is not None and step.decision.fault:
                yield ReplacedDecision(
                    match_id, turn.number, step.decision.fault, step.decision.trace
                )


def raise_on_replaced_decision(log: MatchReader, matches: Sequence[str]) -> None:
    """Raise `StrategyError` for the first replaced decision in these matches."""
    for match_id in matches:
        for fault in replaced_decisions(match_id, group_into_turns(log.moves(match_id))):
            location = f"In turn {fault.turn} of match {match_id}"
            raise StrategyError(f"{location}: {fault.reason}.\n{fault.trace}".rstrip())


def raise_on_late_decisions(log: MatchReader, matches: Sequence[str], max_late: int = 3) -> None:
    """Raise `StrategyError` if a match has many late decisions and may never end."""
    for match_id in matches:
        faults = replaced_decisions(match_id, group_into_turns(log.moves(match_id)))
        late = [fault for fault in faults if fault.reason.startswith(TIMEOUT_MESSAGE)]
        if len(late) >= max_late:
            raise StrategyError(
                f"{late[0].reason}.\n{max_late} decisions were late, so the match was "
                "stopped in turn "
                f"{late[-1].turn}; a decision may take 2 s, and less in a turn with many decisions."
            )


def print_replaced_decisions(reports: Sequence[MatchReport], store: str) -> None:
    """Print each kind of failure, its count, and the command that shows the first.

    `store` is the option that the command needs, if any.
    """
    kinds: dict[tuple[str, str], list[ReplacedDecision]] = {}
    for match in reports:
        for fault in match.replaced_decisions:
            kinds.setdefault(fault_group_key(fault.reason), []).append(fault)
    often = sorted(kinds.values(), key=len, reverse=True)
    for faults in often[:_MAX_KINDS]:
        first_fault, decision_count = faults[0], len(faults)
        many = "a decision" if decision_count == 1 else f"{decision_count} decisions"
        alike = len({fault.reason for fault in faults}) == 1
        summary = (
            f"{many}: {first_fault.reason}"
            if alike
            else f"{many}, the first because {first_fault.reason}"
        )
        print_error(f"A safe action replaced {summary}.\n{first_fault.trace}".rstrip())
        print_error(f"See {program_command()} why {first_fault.match_id} {first_fault.turn}{store}")
    if len(often) > _MAX_KINDS:
        more = sum(map(len, often[_MAX_KINDS:]))
        print_error(f"{more} more were replaced, for {len(often) - _MAX_KINDS} other reasons.")


def print_run_report(console: Console, report: RunReport) -> None:
    """Print the matches of a run, one per line, and the totals."""
    numeric_columns = ("score", "turns", "moves")
    table = borderless_table(
        "match", "result", *numeric_columns, "log", right_aligned=numeric_columns
    )
    for match in report.match_reports:
        outcome, verdict = match.outcome, match.log_comparison
        score = "{} : {}".format(*match.scores)
        log, style = ("complete", "") if verdict.is_complete else (str(verdict), "red")
        cells = (match.match_id, outcome.result, score, str(outcome.turns), str(outcome.moves), log)
        table.add_row(*cells, style=style)
    console.print(table)
    console.print()
    match_count = len(report.match_reports)
    points, low, high = report.points_percent_with_interval
    rows = {
        "won / lost / tied": " / ".join(
            str(report.result_count(r)) for r in ("won", "lost", "tied")
        ),
        "points": f"{points:.1f} % (95 %: {low:.1f} to {high:.1f})",
        "mean score": f"{report.mean_score(0):.1f} : {report.mean_score(1):.1f}",
        "requests a match": requests_text(report.requests, match_count),
        "pace": (
            f"{60 * match_count / report.seconds:.0f} matches a minute ({report.seconds:.1f} s)"
        ),
    }
    summary = Table.grid(padding=(0, 2))
    for name, value in rows.items():
        summary.add_row(name, value)
    console.print(summary)


_REQUESTS = {
    "act": "to act",
    "view_wait": "to wait for our turn",
    "view": "to read the match",
    "list_wait": "to wait for matches",
}


def requests_text(requests: Mapping[str, int], matches: int) -> str:
    """Return the requests per match by kind, e.g. "54.0: 43.0 to act, 9.0 to wait, ..."."""
    total = sum(requests.values()) / matches
    kinds = sorted(requests.items(), key=lambda item: -item[1])
    digits = 0 if matches == 1 else 1
    parts = (f"{n / matches:.{digits}f} {_REQUESTS.get(kind, kind)}" for kind, n in kinds)
    return f"{total:.{digits}f}: {', '.join(parts)}"
