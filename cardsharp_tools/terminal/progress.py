"""Progress of a task that takes its time; the bar disappears when the task ends.

Without a terminal it is one line, and only for a task that takes longer than a moment.
"""

from collections.abc import Iterable, Iterator
from operator import length_hint
from threading import Timer
from typing import Self, TypeVar

from cardsharp_tools.cli.console import message_console

T = TypeVar("T")

FIRST_MESSAGE_SECONDS = 2.0  # seconds without a word


class ProgressBar:
    """Progress bar of `steps` steps; a context manager."""

    def __init__(self, step_count: int, text: str = "", completed_steps: int = 0) -> None:
        from rich import progress  # noqa: PLC0415 - slow to import, and few commands take long

        console = message_console()
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
        self._task = self._progress.add_task(text, total=step_count, completed=completed_steps)
        self.line = Timer(
            FIRST_MESSAGE_SECONDS,
            console.print,
            (f"{text} {completed_steps}/{step_count} ...".strip(),),
        )
        self.line.daemon = True

    def describe(self, text: str) -> None:
        """Set the text beside the bar."""
        self._progress.update(self._task, description=text)

    def advance(self, steps: int = 1) -> None:
        """Advance the bar by `steps`."""
        self._progress.advance(self._task, steps)

    def __enter__(self) -> Self:
        self._progress.start()
        if self._progress.disable:
            self.line.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.line.cancel()
        self._progress.stop()


def track(steps: Iterable[T], text: str = "judging", total: int = 0) -> Iterator[T]:
    """Yield the steps while a progress bar counts them.

    `total` is their number, if `steps` has no length.
    """
    with ProgressBar(total or length_hint(steps), text) as bar:
        for step in steps:
            yield step
            bar.advance()
