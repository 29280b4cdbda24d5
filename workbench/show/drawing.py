"""A stored match of any game in a terminal: step by step, and our decisions one by one."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Generic, TypeVar

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from cardsharp.cloud.ports import MatchRecord, MoveRecord, Status
from cardsharp.errors import ConfigError
from cardsharp.game import Game
from cardsharp.replay import Header, Outcome, Step, Thought, document, header_of, outcome_of
from cardsharp.strategy import percent, ranked
from workbench.show.output import plain_table, print_json, results


def _print_decision(
    console: Console, title: str, step: Step, seen: RenderableType | None, then: Text
) -> None:
    """One decision: what was seen, the options, the choice, the reason and what came of it."""
    thought = step.ours or Thought()
    console.print()
    console.rule(title, align="left", style="dim")
    if seen is not None:
        console.print(seen)
        console.print()
    if thought.options:
        console.print(options_table(thought))
        console.print()
    chosen = (("chosen  ", "dim"), (thought.action, "bold"), "  ", thought.because)
    console.print(Text.assemble(*chosen))
    if thought.fault:
        console.print(Text.assemble(("fault   ", "dim"), (thought.fault, "red")))
    for name, lines in (("at      ", thought.trace), ("printed ", thought.printed)):
        if lines.strip():
            indented = "\n        ".join(lines.rstrip().splitlines())
            console.print(Text.assemble((name, "dim"), indented))
    console.print(Text.assemble(("then    ", "dim"), then))
    took = "" if thought.decision_ms is None else f"{thought.decision_ms:.1f} ms, "
    by = f"{thought.strategy or 'no strategy'}, {took}move {step.sequence}"
    console.print(Text.assemble(("by      ", "dim"), (by, "dim")))


def decision_text(thought: Thought | None, *, brief: bool = False) -> Text:
    """Our decision and its reason; `brief` leaves a safe action's long fault out."""
    if thought is None:
        return Text()
    if thought.fault and brief:
        failed = ("  a safe action: the strategy failed", "red")
        return Text.assemble((thought.action, "bold"), failed, style="dim")
    text = Text.assemble((thought.action, "bold"), "  ", thought.because, style="dim")
    if thought.fault:
        text.append(f" [{thought.fault}]", style="red")
    return text


def options_table(thought: Thought) -> Table:
    """What was weighed, the best first; the choice is marked."""
    table = plain_table("", "option", "value", "note", right=("value",))
    for option in ranked(thought.options):
        mark, style = (">", "bold") if option.action == thought.action else ("", "")
        cells = (option.action, worth(option.value, option.unit), option.note)
        table.add_row(mark, *cells, style=style)
    return table


def worth(value: float | None, unit: str) -> str:
    """What an option was thought to be worth, a chance as per cent."""
    if value is None:
        return ""
    return percent(value) if unit == "%" else f"{value:.2f}"


def amount(form: str, value: float) -> str:
    """A judge's value, such as `2.4 %`."""
    return format(value, form).replace("%", " %")


def signed_amount(form: str, value: float) -> str:
    """A difference in a judge's value with its sign, such as `-2.4 %`; nothing is `+0.0 %`."""
    text = amount(f"+{form.removeprefix('+')}", value)
    return text if text.strip("+-0. %") else text.replace("-", "+")


def drawing_of(game: Game) -> "StepByStep[Any]":
    """A game's own drawing, or one of its steps; raises `ConfigError` where it keeps no matches."""
    if game.drawing is not None:
        drawing: StepByStep[Any] = game.drawing.load()
        return drawing
    if game.replay is None:
        raise ConfigError(f"Matches of {game.title} are not kept, so there is nothing to show.")
    return StepByStep(game.replay.load())


T = TypeVar("T")
S = TypeVar("S", bound=Step)


@dataclass(frozen=True)
class StepByStep(Generic[S]):
    """Draws the steps of a game's replay, each as a line."""

    replay: Callable[[MatchRecord, Sequence[MoveRecord]], Iterable[S]]

    def show(
        self, record: MatchRecord, moves: Sequence[MoveRecord], turn: int | None = None
    ) -> None:
        """Print who did what and, under our own moves, why."""
        console, header = results(), header_of(record)
        print_title(console, record, self.title(header))
        for step in in_turn(self.replay(record, moves), turn):
            console.print(step_row(step, header))
        print_end(console, record, outcome_of(record), "")

    def told(
        self, record: MatchRecord, moves: Sequence[MoveRecord], turn: int | None = None
    ) -> dict[str, object]:
        """The same for programs."""
        chosen = in_turn(self.replay(record, moves), turn)
        return {"steps": [self.document(one) for one in chosen]}

    def why(
        self, record: MatchRecord, moves: Sequence[MoveRecord], turn: int, *, as_json: bool
    ) -> None:
        """Print what we saw, weighed and chose."""
        steps, header = list(self.replay(record, moves)), header_of(record)
        chosen = in_turn(steps, turn)
        ours = [step for step in chosen if step.ours is not None]
        if not ours:
            who = next(filter(None, (self.name(step, header) for step in chosen)), "somebody else")
            own = dict.fromkeys(str(step.turn) for step in steps if step.ours is not None)
            raise ConfigError(
                f"Turn {turn} was not decided by us but by {who}; our turns: "
                f"{', '.join(own) or 'none'}."
            )
        if as_json:
            print_json(list(map(self.document, ours)))
            return
        console = results()
        print_title(console, record, self.title(header))
        for number, step in enumerate(ours, 1):
            place = f"step {steps.index(step) + 1}"
            title = f"turn {turn}, decision {number} of {len(ours)}, {place}"
            _print_decision(console, title, step, self.seen(step), self.then(step))

    def title(self, header: Header) -> str:
        """Who plays against whom."""
        return " v ".join(header.names) or header.game or ""

    def name(self, step: S, header: Header) -> str:
        """What whoever moved is called; nothing where that is not known."""
        return _name(step, header)

    def document(self, step: S) -> dict[str, object]:
        """A step for programs."""
        return document(step)

    def then(self, step: S) -> Text:
        """What came of a decision."""
        return Text(step.happened)

    def seen(self, step: Step) -> RenderableType | None:
        """The position of a decision, one line a part of it."""
        position = None if step.ours is None else step.ours.position
        if not position:
            return None
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim")
        for name, part in position.items():
            table.add_row(name, part if isinstance(part, str) else json.dumps(part))
        return table


def in_turn(
    parts: Iterable[T], number: int | None, turn_of: Callable[[T], int] = attrgetter("turn")
) -> list[T]:
    """The parts of a match that are of this turn, all for None; or `ConfigError` for no turn."""
    turns = [(turn_of(one), one) for one in parts]
    found = [one for turn, one in turns if number in {None, turn}]
    if number is not None and not found:
        last = turns[-1][0] if turns else 0
        raise ConfigError(f"There is no turn {number}; the log has turns 1 to {last}.")
    return found


def match_document(record: MatchRecord) -> dict[str, object]:
    """A match for programs, without its moves."""
    return {
        "match": record.match_id,
        "status": record.status.value,
        "header": dict(record.header),
        "outcome": None if record.outcome is None else dict(record.outcome),
    }


def print_title(console: Console, record: MatchRecord, players: str) -> None:
    """Which match this is, and what was agreed for it."""
    header = header_of(record)
    console.print(f"match {record.match_id}: {players}", style="bold")
    facts = [f"started {record.started:%Y-%m-%d %H:%M:%S} UTC"]
    if header.tags:
        facts.append(f"tags {' '.join(header.tags)}")
    if header.timeout_seconds is not None:
        facts.append(f"{header.timeout_seconds:g} s a move")
    console.print(", ".join(facts), style="dim")


def print_end(console: Console, record: MatchRecord, outcome: Outcome | None, score: str) -> None:
    """How the match ended, if it has."""
    console.print()
    if outcome is None:
        rest = "" if record.status is Status.FINISHED else ", not finished"
        console.print(f"{record.status.value}{rest}", style="bold")
        return
    won = f", {score}" if score else ""
    console.print(f"{outcome.result}{won}, in {outcome.turns} turns", style="bold")
    if outcome.terminated:
        console.print("ended by decision, not by the last card")
    if outcome.timeouts:
        console.print(f"{outcome.timeouts} turns were ended by force")


def _name(step: Step, header: Header) -> str:
    """What whoever moved is called; of a seat that we took only our own name is known."""
    names = header.names or header.players
    if len(names) == 1:
        return names[0] if step.ours is not None else ""
    known = step.seat is not None and step.seat < len(names)
    return names[step.seat or 0] if known else ""


def step_row(step: Step, header: Header) -> Table:
    """A step in one line and, where it was ours, its reason under it."""
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(justify="right", width=4)
    table.add_column(width=16, no_wrap=True, overflow="ellipsis")
    table.add_column(ratio=1)
    style = "bold" if step.ours else ""
    table.add_row(str(step.turn), Text(_name(step, header), style=style), step.happened)
    if step.ours is not None:
        table.add_row("", "", decision_text(step.ours))
    return table
