"""How far something is that takes its time; gone when it has ended.

Where nobody looks at a terminal it is one line, and only of what takes longer than a moment.
"""

from collections.abc import Iterable, Iterator
from operator import length_hint
from threading import Timer
from typing import Self, TypeVar

from rich import progress

from workbench.show.output import messages

T = TypeVar("T")

PATIENCE = 2.0  # seconds without a word


class Bar:
    """A bar of so many steps, of which some may be done already; a context manager."""

    def __init__(self, steps: int, text: str = "", done: int = 0) -> None:
        console = messages()
        self._progress = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task(text, total=steps, completed=done)
        self.line = Timer(PATIENCE, console.print, (f"{text} {done}/{steps} ...".strip(),))
        self.line.daemon = True

    def describe(self, text: str) -> None:
        """Say what is being done."""
        self._progress.update(self._task, description=text)

    def advance(self, steps: int = 1) -> None:
        """So many steps are done."""
        self._progress.advance(self._task, steps)

    def __enter__(self) -> Self:
        self._progress.start()
        if self._progress.disable:
            self.line.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.line.cancel()
        self._progress.stop()


def each(steps: Iterable[T], text: str = "judging", number: int = 0) -> Iterator[T]:
    """The steps one by one, while a bar shows how many there are; or say the `number` of them."""
    with Bar(number or length_hint(steps), text) as bar:
        for one in steps:
            yield one
            bar.advance()
