"""References to strategies: how a user, a file or another process names one, as a value.

`parse_strategy` is the only place that reads such a text. The command line calls it, and so does
whoever reads a stored name. Everything else is handed the value, also in another process.
`str` returns the text of a reference, and `parse_strategy` returns the reference of that text.
"""

import os
import shlex
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from cardsharp_tools.executors.command_text import split_command
from cardsharp_tools.executors.path_quoting import quote_path, unquote_path

SUFFIX = ".py"  # suffix of a strategy file
WEIGHTS_SUFFIX = ".json"  # suffix of a file that training wrote

SANDBOXED, WEAKLY_SANDBOXED, TRUSTED = "submission", "weakly-sandboxed", "trusted-submission"
"""Strategies of teams: in a sandbox, in one that may lack the kernel's limits, and in none."""


class StrategyReference(ABC):
    """Reference to a strategy; its text is the one that the user gave."""

    __slots__ = ()

    is_user_code = True
    """True if a user wrote the strategy, so that it may fail or hang."""

    @abstractmethod
    def __str__(self) -> str:
        """Return the text that `parse_strategy` reads as this reference."""

    @property
    def record_text(self) -> str:
        """Text for a file of records, in which bytes of a path that no text has are escaped."""
        return str(self).encode("utf-8", "backslashreplace").decode()

    @property
    def display_name(self) -> str:
        """Name for people: a file without its folders."""
        return str(self)

    def with_absolute_paths(self) -> "StrategyReference":
        """Return a reference that is valid in any working folder."""
        return self


@dataclass(frozen=True, slots=True)
class BuiltIn(StrategyReference):
    """Strategy of the game's package, or of the lab, by its name."""

    name: str

    is_user_code = False

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class RemotePlayer(StrategyReference):
    """Player of an HTTP service, by the address of the service."""

    url: str

    is_user_code = False

    def __str__(self) -> str:
        return self.url


@dataclass(frozen=True, slots=True)
class FileReference(StrategyReference):
    """Strategy in a file; `name` is the path as the user gave it."""

    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def path(self) -> Path:
        """Path of the file."""
        return Path(self.name)

    @property
    def display_name(self) -> str:
        """Name of the file without its folders."""
        return self.path.name

    def with_absolute_paths(self) -> Self:
        """Return the reference with the absolute path of the file."""
        return replace(self, name=str(self.path.absolute()))


@dataclass(frozen=True, slots=True)
class StrategyFile(FileReference):
    """Strategy of a user in a Python file."""


@dataclass(frozen=True, slots=True)
class Weights(FileReference):
    """Strategy of a game with the weights that training wrote into a JSON file."""


@dataclass(frozen=True, slots=True)
class Program(StrategyReference):
    """Strategy that a program decides, by the command that starts it."""

    command: str

    def __str__(self) -> str:
        return self.command

    @property
    def files(self) -> tuple[Path, ...]:
        """Files that the command names, such as `bot.js`."""
        return tuple(
            Path(argument) for argument in split_command(self.command) if Path(argument).is_file()
        )

    def with_absolute_paths(self) -> "Program":
        """Return the command with absolute paths of its files."""
        return Program(
            shlex.join(
                str(Path(argument).absolute()) if Path(argument).is_file() else argument
                for argument in split_command(self.command)
            )
        )


@dataclass(frozen=True, slots=True)
class Submission(StrategyReference):
    """Newest version of what a team has submitted, in a sandbox unless it is trusted.

    The stored entry of a team has no `folder`: it depends on the team and the contest's folder.
    """

    is_sandboxed: bool = True
    folder: Path | None = None
    needs_kernel_limits: bool = True

    def __str__(self) -> str:
        sandboxed = SANDBOXED if self.needs_kernel_limits else WEAKLY_SANDBOXED
        kind = sandboxed if self.is_sandboxed else TRUSTED
        return kind if self.folder is None else f"{kind}:{quote_path(self.folder)}"

    @property
    def display_name(self) -> str:
        """Name for people, which does not show where the versions are stored."""
        return "its submission"


def parse_strategy(text: str) -> StrategyReference:
    """Return the reference that a text means. Every text means one.

    Whether a single word is a program depends on the file of that name: it must be executable.
    So this is called once, where the text comes from.
    """
    kind, _, folder = text.partition(":")
    if kind in {SANDBOXED, WEAKLY_SANDBOXED, TRUSTED}:
        path = unquote_path(folder) if folder else None
        return Submission(kind != TRUSTED, path, kind != WEAKLY_SANDBOXED)
    if _is_program_command(text):
        return Program(text)
    if text.endswith(SUFFIX):
        return StrategyFile(text)
    if text.endswith(WEIGHTS_SUFFIX):
        return Weights(text)
    return RemotePlayer(text) if "://" in text else BuiltIn(text)


def _is_program_command(text: str) -> bool:
    """Return True if a text is a command: `node bot.js`, or an executable `./bot`."""
    words = split_command(text)
    if Path(text).is_file():
        return len(words) == 1 and "/" in text and os.access(text, os.X_OK)
    return len(words) > 1 and "(" not in words[0]  # as in threshold(0.2, 0.5), a strategy
