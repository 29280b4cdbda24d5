"""A decision of ours in a terminal: what was weighed, what was chosen, and why."""

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from cardsharp.replay import Step, Thought
from cardsharp.strategy import percent
from workbench.show.output import plain_table


def print_decision(
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
    text = Text.assemble((thought.action, "bold"), "  ", thought.because, style="dim")
    if thought.fault and not brief:
        text.append(f" [{thought.fault}]", style="red")
    return text


def options_table(thought: Thought) -> Table:
    """What was weighed, the best first; the choice is marked."""
    table = plain_table("", "option", "value", "note", right=("value",))
    for option in sorted(thought.options, key=lambda one: -(one.value or 0.0)):
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
