"""A sub-command as the list of commands shows it, before its module is imported."""

from collections.abc import Iterable
from dataclasses import dataclass

import cyclopts


@dataclass(frozen=True, slots=True)
class Command:
    """A sub-command; `summary` is its line in the list, `more` what its own help adds."""

    name: str
    summary: str
    more: str
    examples: tuple[tuple[str, str], ...]
    group: bool = False
    """Whether it has sub-commands of its own; then its module adds the epilogue."""

    room: str = "workbench.cli"
    """The package that has its module."""

    place: int = 0
    """Where it stands in the list."""

    @property
    def target(self) -> str:
        """Where its function is."""
        return f"{self.room}.{self.name}:{self.name}"

    @property
    def help(self) -> str:
        """Summary and explanation."""
        return f"{self.summary}\n\n{self.more}"

    @property
    def epilogue(self) -> str:
        """The examples, one a line, explained."""
        width = max(len(line) for line, _ in self.examples)
        lines = (f"  {line:{width}}  {meaning}" for line, meaning in self.examples)
        return "Examples:\n" + "\n".join(lines)


def mount(app: cyclopts.App, commands: Iterable[Command]) -> None:
    """Add commands to `app`; a command's module is imported when it is called."""
    for one in commands:
        app.command(
            one.target,
            name=one.name,
            help=one.help,
            **({} if one.group else {"help_epilogue": one.epilogue}),
            sort_key=one.place,
        )
