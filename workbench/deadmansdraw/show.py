"""A match in a terminal, turn by turn, and our decisions with the table that we saw."""

from collections.abc import Sequence
from itertools import chain

from rich.console import Group
from rich.text import Text

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.deadmansdraw.replay import EventStep, Turn, position_of, turns_of
from cardsharp.replay import Header, Step, header_of, outcome_of
from workbench.deadmansdraw.drawing import Labels, happenings, note_row, position_drawn, turn_row
from workbench.deadmansdraw.watching import banks_table, step_document, turn_document
from workbench.show.drawing import StepByStep, decision_text, in_turn, print_end, print_title
from workbench.show.output import results


class TurnByTurn(StepByStep[EventStep]):
    """Draws each turn as a line, our decisions under it, and the banks at the end."""

    def told(
        self, _record: MatchRecord, moves: Sequence[MoveRecord], turn: int | None = None
    ) -> dict[str, object]:
        """The turns for programs."""
        return {"turns": [turn_document(one) for one in _turns(moves, turn)]}

    def show(
        self, record: MatchRecord, moves: Sequence[MoveRecord], turn: int | None = None
    ) -> None:
        """Print who did what, why, and the score after each turn."""
        chosen = _turns(moves, turn)
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

    def title(self, header: Header) -> str:
        """Ours are named first, by their strategies."""
        return Labels.of(header).title()

    def name(self, step: EventStep, header: Header) -> str:
        """What whoever moved is called."""
        return "" if step.seat is None else Labels.of(header).name(step.seat)

    def document(self, step: EventStep) -> dict[str, object]:
        """A step for programs, with its events."""
        return step_document(step)

    def then(self, step: EventStep) -> Text:
        """The events that came of a decision."""
        if not step.events:
            return Text("nothing that the arena has told yet")
        return happenings(step.events) or Text("the turn ended")

    def seen(self, step: Step) -> Group | None:
        """The table as whoever decided saw it, None where that is not kept."""
        position = None if step.ours is None else position_of(step.ours)
        return None if position is None else position_drawn(position)


def _turns(moves: Sequence[MoveRecord], number: int | None) -> list[Turn]:
    return in_turn(turns_of(moves), number, lambda turn: turn.number)


DRAWING = TurnByTurn(lambda _record, moves: chain(*(turn.steps for turn in turns_of(moves))))
