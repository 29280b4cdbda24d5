"""`cardsharp show`: a whole match, turn by turn."""

from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

from cardsharp.cloud.ports import MatchRecord
from cardsharp.errors import ConfigError
from workbench.cli.documents import turn_document
from workbench.cli.drawing import Labels, decision_text, note_row, turn_row
from workbench.cli.lookup import LAST, find_match, open_to_read
from workbench.cli.options import Json, Match, Store
from workbench.cli.output import print_json, results
from workbench.cli.records import Header, header_of, outcome_of
from workbench.cli.turns import Turn, turns_of
from workbench.cli.watching import banks_table

TurnNumber = Annotated[int | None, Parameter(help="Only this turn, counted from 1.")]


def show(
    match: Match = LAST,
    /,
    *,
    turn: TurnNumber = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Print a match from its log: who did what, why, and the score after each turn."""
    with open_to_read(store) as log:
        record = find_match(log, match)
        turns = turns_of(log.moves(record.match_id))
    chosen = turns if turn is None else [pick_turn(turns, turn)]
    if as_json:
        print_json(_document(record, chosen))
        return
    console, labels = results(), Labels.of(header_of(record))
    print_title(console, record, labels)
    for one in chosen:
        console.print(turn_row(one, labels))
        for step in one.decisions:
            console.print(note_row(decision_text(step), labels))
    if chosen:
        console.print()
        console.print(banks_table(chosen[-1], labels))
    _print_end(console, record, labels)


def pick_turn(turns: Sequence[Turn], number: int) -> Turn:
    """The turn of this number; raises `ConfigError` where there is none."""
    for turn in turns:
        if turn.number == number:
            return turn
    last = turns[-1].number if turns else 0
    raise ConfigError(f"There is no turn {number}; the log has turns 1 to {last}.")


def print_title(console: Console, record: MatchRecord, labels: Labels) -> None:
    """Which match this is, and what was agreed for it."""
    header = header_of(record)
    console.print(f"match {record.match_id}: {labels.title()}", style="bold")
    console.print(", ".join(_facts(record, header)), style="dim")


def _facts(record: MatchRecord, header: Header) -> list[str]:
    facts = [f"started {record.started:%Y-%m-%d %H:%M:%S} UTC"]
    if header.tags:
        facts.append(f"tags {' '.join(header.tags)}")
    if header.timeout_seconds is not None:
        facts.append(f"{header.timeout_seconds:g} s a move")
    return facts


def _print_end(console: Console, record: MatchRecord, labels: Labels) -> None:
    outcome = outcome_of(record)
    console.print()
    if outcome is None:
        console.print(f"{record.status.value}, not finished", style="bold")
        return
    score = "" if outcome.scores is None else f", {labels.score(outcome.scores)}"
    console.print(f"{outcome.result}{score}, in {outcome.turns} turns", style="bold")
    if outcome.terminated:
        console.print("ended by decision, not by the last card")
    if outcome.timeouts:
        console.print(f"{outcome.timeouts} turns were ended by force")


def _document(record: MatchRecord, turns: Sequence[Turn]) -> dict[str, object]:
    return {
        "match": record.match_id,
        "status": record.status.value,
        "header": dict(record.header),
        "outcome": None if record.outcome is None else dict(record.outcome),
        "turns": [turn_document(turn) for turn in turns],
    }
