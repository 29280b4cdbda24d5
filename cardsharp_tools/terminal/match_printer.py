"""A stored match of any game in a terminal: step by step, and our decisions one by one."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Generic, TypeVar

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from cardsharp.analysis.action_labels import LabelAction, action_labels, label_decision
from cardsharp.analysis.replay import (
    Header,
    Outcome,
    ReplayStep,
    StoredDecision,
    header_of,
    outcome_of,
    step_json,
)
from cardsharp.core.sentences import YOU, capitalise, count_text
from cardsharp.core.time_format import format_start, format_time_limit
from cardsharp.errors import ConfigError
from cardsharp.play.game import Game
from cardsharp.play.strategy import format_percent, ranked
from cardsharp.store.match_log import MatchRecord, MatchStatus, MoveRecord
from cardsharp_tools.cli.console import borderless_table, print_json, result_console


def _print_decision(  # noqa: PLR0913, PLR0917 - the parts of a decision
    console: Console,
    title: str,
    sequence: int,
    thought: StoredDecision,
    position_view: RenderableType | None,
    then: Text,
) -> None:
    """Print a decision: the position, the options, the choice, the reason and the outcome."""
    console.print()
    console.rule(title, align="left", style="dim")
    if position_view is not None:
        console.print(position_view)
        console.print()
    if thought.options:
        console.print(options_table(thought))
        console.print()
    chosen = (("chosen  ", "dim"), (thought.action, "bold"), "  ", thought.reason)
    console.print(Text.assemble(*chosen))
    if thought.fault:
        console.print(Text.assemble(("fault   ", "dim"), (thought.fault, "red")))
    for name, lines in (("at      ", thought.trace), ("printed ", thought.printed)):
        if lines.strip():
            indented = "\n        ".join(lines.rstrip().splitlines())
            console.print(Text.assemble((name, "dim"), indented))
    console.print(Text.assemble(("then    ", "dim"), then))
    took = "" if thought.decision_ms is None else f"{thought.decision_ms:.1f} ms, "
    by = f"{thought.strategy or 'no strategy'}, {took}move {sequence}"
    console.print(Text.assemble(("by      ", "dim"), (by, "dim")))


def decision_text(decision: StoredDecision | None, *, hide_failure: bool = False) -> Text:
    """Return our decision and its reason as text.

    With `hide_failure`, a fallback action's long error is left out.
    """
    if decision is None:
        return Text()
    if decision.fault and hide_failure:
        failed = ("  a safe action: the strategy failed", "red")
        return Text.assemble((decision.action, "bold"), failed, style="dim")
    text = Text.assemble((decision.action, "bold"), "  ", reason_with_values(decision), style="dim")
    if decision.fault:
        text.append(f" [{decision.fault}]", style="red")
    return text


def reason_with_values(decision: StoredDecision) -> str:
    """Return the reason of a decision, with the values of the best options behind it."""
    values = [
        f"{option.action} {option_value_text(option.value, option.unit)}"
        for option in ranked(decision.options)[:_MAX_VALUES]
        if option.value is not None
    ]
    return f"{decision.reason} ({', '.join(values)})" if len(values) > 1 else decision.reason


def _step_reason_text(decision: StoredDecision) -> Text:
    """Return the reason of a decision whose action stands in the line above."""
    if decision.fault:
        return decision_text(decision)
    return Text(reason_with_values(decision), style="dim")


def options_table(decision: StoredDecision) -> Table:
    """Return a table of the weighed options, the best first, with the choice marked."""
    table = borderless_table("", "option", "value", "note", right_aligned=("value",))
    for option in ranked(decision.options):
        mark, style = (">", "bold") if option.action == decision.action else ("", "")
        cells = (option.action, option_value_text(option.value, option.unit), option.note)
        table.add_row(mark, *cells, style=style)
    return table


def option_value_text(value: float | None, unit: str) -> str:
    """Return the value of an option as text, a probability in per cent."""
    if value is None:
        return ""
    return format_percent(value) if unit == "%" else f"{value:.2f}"


def judge_value_text(number_format: str, value: float) -> str:
    """Return a judge's value as text, such as `2.4 %`."""
    return format(value, number_format).replace("%", " %")


def signed_value_text(number_format: str, value: float) -> str:
    """Return a difference of judge's values with its sign, such as `-2.4 %`; zero is `+0.0 %`."""
    text = judge_value_text(f"+{number_format.removeprefix('+')}", value)
    return text if text.strip("+-0. %") else text.replace("-", "+")


def printer_for(game: Game) -> "StepPrinter[Any]":
    """Return a game's printer of matches; raise `ConfigError` if it stores no matches."""
    if game.text_renderer is not None:
        drawing: StepPrinter[Any] = game.text_renderer.load()
        return drawing
    if game.replay is None:
        raise ConfigError(f"Matches of {game.title} are not stored, so there is nothing to show.")
    return StepPrinter(game.replay.load(), action_labels(game))


_MAX_VALUES = 3  # options whose values stand behind a reason

T = TypeVar("T")
S = TypeVar("S", bound=ReplayStep)


@dataclass(frozen=True)
class StepPrinter(Generic[S]):
    """Printer of a game's replay, one line per step.

    `label_action` names the actions of the log as the table does.
    """

    replay: Callable[[MatchRecord, Sequence[MoveRecord]], Iterable[S]]
    label_action: LabelAction = str

    def show(
        self, record: MatchRecord, moves: Sequence[MoveRecord], turn: int | None = None
    ) -> None:
        """Print each move with its player and, for our own moves, the reason."""
        console, header = result_console(), header_of(record)
        print_title(console, record, self.title(header))
        for step in select_turn_parts(self.replay(record, moves), turn):
            console.print(self.step_row(step, header))
        print_end(console, record, outcome_of(record), "")

    def turn_documents(
        self, record: MatchRecord, moves: Sequence[MoveRecord], turn: int | None = None
    ) -> dict[str, object]:
        """Return the turns as JSON documents."""
        chosen = select_turn_parts(self.replay(record, moves), turn)
        return {"steps": [self.document(step) for step in chosen]}

    def explain_turn(
        self, record: MatchRecord, moves: Sequence[MoveRecord], turn: int, *, as_json: bool
    ) -> None:
        """Print the position, the weighed options and the choice of each decision."""
        steps, header = list(self.replay(record, moves)), header_of(record)
        chosen = select_turn_parts(steps, turn)
        our_steps = [step for step in chosen if step.decision is not None]
        if not our_steps:
            player_name = next(
                filter(None, (self.player_name(step, header) for step in chosen)), "somebody else"
            )
            our_turns = dict.fromkeys(str(step.turn) for step in steps if step.decision is not None)
            raise ConfigError(
                f"We made no decision in turn {turn}, which {player_name} played. Our turns: "
                f"{', '.join(our_turns) or 'none'}."
            )
        if as_json:
            print_json(list(map(self.document, our_steps)))
            return
        console = result_console()
        print_title(console, record, self.title(header))
        for decision_number, step in enumerate(our_steps, 1):
            step_text = f"step {steps.index(step) + 1}"
            title = f"turn {turn}, decision {decision_number} of {len(our_steps)}, {step_text}"
            _print_decision(
                console,
                title,
                step.sequence,
                self.labelled_decision(step) or StoredDecision(),
                self.position_text(step, header),
                self.resulting_events_text(step),
            )

    def labelled_decision(self, step: ReplayStep) -> StoredDecision | None:
        """Return our decision in a step, with the names that its actions have at the table."""
        if step.decision is None:
            return None
        return label_decision(step.decision, self.label_action)

    def step_row(self, step: S, header: Header) -> Table:
        """Return a step as a table row and, if it was ours, its reason below."""
        name = self.player_name(step, header)
        table = Table.grid(padding=(0, 1), expand=True)
        table.add_column(justify="right", width=4)
        table.add_column(width=16, no_wrap=True, overflow="ellipsis")
        table.add_column(ratio=1)
        decision = self.labelled_decision(step)
        style = "" if decision is None else "bold"
        table.add_row(str(step.turn), Text(name, style=style), step.description_without(name))
        if decision is not None:
            table.add_row("", "", _step_reason_text(decision))
        return table

    def title(self, header: Header) -> str:
        """Return the names of the players, joined by " v ", or else the name of the game."""
        return " v ".join(header.names) or header.game or ""

    def player_name(self, step: S, header: Header) -> str:
        """Return the name of the player who moved, or an empty string if it is unknown."""
        return _find_player_name(step, header)

    def document(self, step: S) -> dict[str, object]:
        """Return a step as a JSON document."""
        return step_json(step)

    def resulting_events_text(self, step: S) -> Text:
        """Return what came of a decision, as text."""
        return Text(step.description)

    def position_text(self, step: ReplayStep, _header: Header) -> RenderableType | None:
        """Return the position of a decision, one line for each part."""
        position = None if step.decision is None else step.decision.position
        if not position:
            return None
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim")
        for name, value in position.items():
            table.add_row(name, value if isinstance(value, str) else json.dumps(value))
        return table


def select_turn_parts(
    parts: Iterable[T], turn_number: int | None, turn_of: Callable[[T], int] = attrgetter("turn")
) -> list[T]:
    """Return the parts of a match in this turn, or all; raise `ConfigError` for no such turn."""
    turns = [(turn_of(part), part) for part in parts]
    selected = [part for turn, part in turns if turn_number in {None, turn}]
    if turn_number is not None and not selected:
        last_turn = turns[-1][0] if turns else 0
        raise ConfigError(f"There is no turn {turn_number}. The log has turns 1 to {last_turn}.")
    return selected


def match_document(record: MatchRecord) -> dict[str, object]:
    """Return a match as a JSON document, without its moves."""
    return {
        "match": record.match_id,
        "status": record.status.value,
        "header": dict(record.header),
        "outcome": None if record.outcome is None else dict(record.outcome),
    }


def print_title(console: Console, record: MatchRecord, players: str) -> None:
    """Print the match and its settings."""
    header = header_of(record)
    console.print(f"match {record.match_id}: {players}", style="bold")
    facts = [f"started {format_start(record.started_at, with_seconds=True)}"]
    if header.tags:
        facts.append(f"tags {' '.join(header.tags)}")
    if header.timeout_seconds is not None:
        facts.append(f"{format_time_limit(header.timeout_seconds)} a move")
    console.print(", ".join(facts), style="dim")


def print_end(console: Console, record: MatchRecord, outcome: Outcome | None, score: str) -> None:
    """Print how the match ended, or its status if there is no outcome."""
    console.print()
    if outcome is None:
        rest = "" if record.status is MatchStatus.FINISHED else ", not finished"
        console.print(f"{record.status.value}{rest}", style="bold")
        return
    won = f", {score}" if score else ""
    turns = count_text(outcome.turns, "turn")
    console.print(f"{outcome.result}{won}, in {turns}", style="bold")
    if outcome.terminated:
        console.print("ended by a decision, before the last card")
    if outcome.timeouts:
        late = count_text(outcome.timeouts, "turn")
        console.print(f"{late} ended because no move came in time")


def _find_player_name(step: ReplayStep, header: Header) -> str:
    """Return the name of the player who moved, or "" if it is not available.

    A header with a single name has the name of the log owner's seat: then only the owner's
    moves have a name.
    """
    player_names = header.names or header.players
    if len(player_names) == 1:
        return player_names[0] if step.decision is not None else ""
    is_named = step.seat is not None and step.seat < len(player_names)
    name = player_names[step.seat or 0] if is_named else ""
    return capitalise(name) if name == YOU else name
