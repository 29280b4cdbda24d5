"""How far a run is, shown while somebody looks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from workbench.cli.output import messages
from workbench.lab.runs import Numbered, Plan


@contextmanager
def followed(plan: Plan, done: int) -> Iterator[Callable[[list[Numbered]], None]]:
    """A function that is told of pairs as they end; shows a bar where stderr is a terminal."""
    with _bar(f"{plan.first} v {plan.second}", plan.pairs, done) as advance:
        yield lambda played: advance(len(played))


@contextmanager
def counted(what: str, total: int) -> Iterator[Callable[[], None]]:
    """A function that is called once for each of `total` things."""
    with _bar(what, total, 0) as advance:
        yield lambda: advance(1)


@contextmanager
def _bar(what: str, total: int, done: int) -> Iterator[Callable[[int], None]]:
    console = messages()
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(
        *columns,
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task(what, total=total, completed=done)
        yield lambda number: bar.advance(task, number)
