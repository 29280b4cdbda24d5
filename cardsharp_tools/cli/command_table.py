"""A sub-command as the list of commands shows it, before its module is imported."""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cyclopts


@dataclass(frozen=True, slots=True)
class Command:
    """A sub-command; `summary` is its line in the list, `more` what its own help adds."""

    name: str
    summary: str
    description: str
    examples: Sequence[tuple[str, str]]
    is_group: bool = (
        False  # whether it has sub-commands of its own; then its module adds the epilogue
    )
    package: str = "cardsharp_tools.cli.commands"  # the package that has its module
    function: str = ""
    """Its module and function as `module:name` where Python reserves the command's own name."""

    @property
    def epilogue(self) -> str:
        """The examples, one a line, explained; on two where one takes more than `_WIDTH`."""
        width = max((len(line) for line, _ in self.examples), default=0)
        lines = [f"  {line:{width}}  {meaning}" for line, meaning in self.examples]
        if max(map(len, lines), default=0) > _WIDTH:
            lines = [f"  {line}\n      {meaning}" for line, meaning in self.examples]
        return "\n".join(["Examples:", *lines] if lines else [])


_WIDTH = 80  # columns that a line of help may take, so that no terminal breaks it


def load_command_table(table: Path) -> tuple[Command, ...]:
    """Return the commands in a TOML table, whose rows have the fields of `Command`."""
    return tuple(Command(**row) for row in tomllib.loads(table.read_text("utf-8"))["command"])


def register_commands(app: cyclopts.App, commands: Iterable[Command]) -> None:
    """Add commands to `app` in order; a command's module is imported when it is called."""
    for sort_key, command in enumerate(commands):
        app.command(
            f"{command.package}.{command.function or f'{command.name}:{command.name}'}",
            name=command.name,
            help=f"{command.summary}\n\n{command.description}",
            **({} if command.is_group else {"help_epilogue": command.epilogue}),
            sort_key=sort_key,
        )
