"""`cardsharp cloud dlq`: look at dead letters, send them once more, or drop them."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Annotated

import cyclopts
from cyclopts import Parameter

from cardsharp.errors import ConfigError
from workbench.cli.cloud_where import StackOptions
from workbench.operate.letters import Letter, LetterBox, drop, find_letter, list_letters, replay
from workbench.operate.stack import Stack
from workbench.operate.story import lines_about
from workbench.show.options import CommandOptions

letters = cyclopts.App(name="dlq", help="List, resend or drop dead letters.")


@dataclass(frozen=True, kw_only=True)
class _Letters(CommandOptions):
    ticks: bool = False
    """Failed ticks of the poller instead."""
    director: bool = False
    """Failed ticks of an arena's director instead."""
    options: StackOptions = field(default_factory=StackOptions)

    def found(self) -> tuple[Stack, LetterBox]:
        """The stack and the box; an arena alone has the director's only."""
        if self.ticks and self.director:
            raise ConfigError("Give --ticks for the poller's or --director for the director's.")
        stack = self.options.find()
        if self.director or not stack.has_bot:
            return stack, LetterBox.DIRECTOR
        return stack, LetterBox.POLLER if self.ticks else LetterBox.WORKER


_ALL = _Letters()
OneLetter = Annotated[str | None, Parameter(help="A letter's id or its beginning.")]
Every = Annotated[bool, Parameter(name="--all", help="All letters.")]


@letters.command(name="list")
def list_(*, which: _Letters = _ALL) -> None:
    """List dead letters, the oldest first."""
    found = list_letters(*which.found())
    lines = [f"{one.letter_id}  {one.sent_at:%Y-%m-%d %H:%M:%S}  {one}" for one in found]
    told = [letter.document() for letter in found]
    which.options.tell(told, lines or ["no dead letters"])


@letters.command
def show(
    letter: Annotated[str, Parameter(help="A letter's id or its beginning.")],
    /,
    *,
    which: _Letters = _ALL,
) -> None:
    """Show a dead letter, and what the functions logged about its match."""
    stack, box = which.found()
    found = find_letter(stack, letter, box)
    since = datetime.now(UTC) - timedelta(days=14)
    about = lines_about(stack, found.match_id, since) if found.match_id else []
    told = {**found.document(), "story": [line.document() for line in about]}
    which.options.tell(told, [json.dumps(found.document(), indent=2), *about])


@letters.command(name="replay")
def replay_(
    letter: OneLetter = None, /, *, everything: Every = False, which: _Letters = _ALL
) -> None:
    """Send dead letters to the worker or the director once more, which is safe at any time."""
    _check_choice(letter, everything=everything)
    stack, box = which.found()
    _counted("sent", replay(stack, letter, box), which.options)


@letters.command(name="drop")
def drop_(
    letter: OneLetter = None, /, *, everything: Every = False, which: _Letters = _ALL
) -> None:
    """Delete dead letters whose cause is gone; of --ticks all, unless one is named."""
    if not which.ticks:
        _check_choice(letter, everything=everything)
    stack, box = which.found()
    _counted("dropped", drop(stack, letter, box), which.options)


def _check_choice(letter: str | None, *, everything: bool) -> None:
    if (letter is None) is not everything:
        raise ConfigError("Give a letter's id, or --all.")


def _counted(done: str, found: list[Letter], options: StackOptions) -> None:
    letters_told = "1 letter" if len(found) == 1 else f"{len(found)} letters"
    options.tell([one.document() for one in found], [f"{done} {letters_told}"])
