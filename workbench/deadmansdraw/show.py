"""A match in a terminal, turn by turn, and our decisions with the table that we saw."""

from collections.abc import Sequence

from rich.console import Group
from rich.text import Text

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.deadmansdraw.replay import (
    EventStep,
    Turn,
    position_of,
    turns_of,
)
from cardsharp.errors import ConfigError
from cardsharp.replay import Step, header_of, outcome_of
from workbench.deadmansdraw.documents import step_document, turn_document
from workbench.deadmansdraw.drawing import (
    Labels,
    happenings,
    note_row,
    position_drawn,
    turn_row,
)
from workbench.deadmansdraw.watching import banks_table
from workbench.show.decisions import decision_text, print_decision
from workbench.show.drawing import match_document, no_turn, not_ours, print_end, print_title
from workbench.show.output import print_json, results


def show(
    record: MatchRecord, moves: Sequence[MoveRecord], turn: int | None, *, as_json: bool
) -> None:
    """Print who did what, why, and the score after each turn."""
    turns = turns_of(moves)
    chosen = turns if turn is None else [_pick(turns, turn)]
    if as_json:
        print_json({**match_document(record), "turns": [turn_document(one) for one in chosen]})
        return
    console, labels = results(), Labels.of(header_of(record))
    print_title(console, record, labels.title())
    for one in chosen:
        console.print(turn_row(one, labels))
        for step in one.decisions:
            console.print(note_row(decision_text(step.ours), labels))
    if chosen:
        console.print()
        console.print(banks_table(chosen[-1], labels))
    outcome = outcome_of(record)
    scores = None if outcome is None else outcome.scores
    print_end(console, record, outcome, "" if scores is None else labels.score(scores))


def why(record: MatchRecord, moves: Sequence[MoveRecord], turn: int, *, as_json: bool) -> None:
    """Print what we saw, weighed and chose at each decision of a turn."""
    turns, labels = turns_of(moves), Labels.of(header_of(record))
    chosen = _pick(turns, turn)
    if not chosen.decisions:
        ours = [one.number for one in turns if one.decisions]
        raise ConfigError(not_ours(turn, labels.name(chosen.player), ours))
    if as_json:
        print_json([step_document(step) for step in chosen.decisions])
        return
    console, count = results(), len(chosen.decisions)
    print_title(console, record, labels.title())
    for number, step in enumerate(chosen.decisions, 1):
        title = f"turn {turn}, decision {number} of {count}"
        print_decision(console, title, step, seen(step), _then(step))


def _pick(turns: Sequence[Turn], number: int) -> Turn:
    """The turn of this number; raises `ConfigError` where there is none."""
    for turn in turns:
        if turn.number == number:
            return turn
    raise no_turn(number, turns[-1].number if turns else 0)


def seen(step: Step) -> Group | None:
    """The table as whoever decided saw it, None where that is not kept."""
    position = None if step.ours is None else position_of(step.ours)
    return None if position is None else position_drawn(position)


def _then(step: EventStep) -> Text:
    """What came of a decision."""
    if not step.events:
        return Text("nothing that the arena has told yet")
    return happenings(step.events) or Text("the turn ended")
