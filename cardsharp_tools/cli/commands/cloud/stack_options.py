"""`cardsharp cloud`: which stack, `deploy`, what `set` takes, `dlq` of dead letters."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Literal

import cyclopts
from cyclopts import Parameter, validators

from cardsharp.errors import ConfigError
from cardsharp_tools.cli.console import print_result
from cardsharp_tools.cli.options import CommandOptions, Json
from cardsharp_tools.operations import sam_project
from cardsharp_tools.operations.dead_letters import (
    DeadLetter,
    DeadLetterQueue,
    drop,
    list_dead_letters,
    redrive,
)
from cardsharp_tools.operations.function_logs import log_lines
from cardsharp_tools.operations.stack import DEFAULT_NAME, Stack, account_clients, find_stack


@dataclass(frozen=True, kw_only=True)
class StackOptions(CommandOptions):
    """Options for the stack and the output format; the environment sets the AWS account."""

    stack: str = DEFAULT_NAME
    """The stack's name."""
    region: str | None = None
    """Its region; else AWS_DEFAULT_REGION."""
    as_json: Json = False

    def find(self) -> Stack:
        """The stack."""
        return find_stack(self.stack, account_clients(self.region))

    def print_result(self, document: object, lines: Iterable[object]) -> None:
        """Print the document where JSON is asked for, else the lines."""
        print_result(document, *"\n".join(map(str, lines)).split("\n"), as_json=self.as_json)

    def print_done(self, sentence: str) -> None:
        """Say what was done."""
        self.print_result({"stack": self.stack, "done": sentence}, [sentence])


DEFAULT_STACK_OPTIONS = StackOptions()  # the stack of the usual name, where the environment says


def deploy(
    parameters: Annotated[
        tuple[str, ...],
        Parameter(
            help="Parameters of the template, as ArenaUrl=https://arena.example MatchLimit=4."
        ),
    ] = (),
    /,
    *,
    stage: Annotated[
        Literal["dev", "prod", "arena"],
        Parameter(help="The bot to try, the bot to keep, or an arena alone."),
    ] = "dev",
    yes: Annotated[bool, Parameter(negative=(), help="Do not ask before the change.")] = False,
    into: Annotated[
        Path | None,
        Parameter(help="Where the project is unpacked if this is no clone; else cardsharp-stack."),
    ] = None,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> int:
    """Build the stack and deploy it by SAM, which shows what it changes and asks.

    An update keeps every parameter that is not named.
    """
    stack = f"cardsharp-{stage}" if options.stack == DEFAULT_NAME else options.stack
    more = ["--no-confirm-changeset"] if yes else []
    more += ["--region", options.region] if options.region else []
    return sam_project.deploy(sam_project.project_folder(into), stage, stack, parameters, more)


SettingName = Literal["strategy", "tags", "at-once"]


@dataclass(frozen=True, kw_only=True)
class SettingChanges(CommandOptions):
    """New settings of a deployed stack."""

    strategy: str | None = None
    """The strategy that plays our seat at the arena."""
    tag: tuple[str, ...] = ()
    """Tags of the matches to attend."""
    all_tags: bool = False
    """Attend matches of any tag."""
    concurrency: Annotated[
        int | None, Parameter(name="--at-once", validator=validators.Number(gte=1))
    ] = None
    """The most matches that run at once."""
    default: tuple[SettingName, ...] = ()
    """Go back to what the stack was deployed with."""

    def changes(self) -> dict[str, object]:
        """Return the new values by setting, None for a return to the default.

        Raises `ConfigError` for options that exclude each other.
        """
        if self.tag and self.all_tags:
            raise ConfigError("Give --tag or --all-tags.")
        tags = self.tag or (() if self.all_tags else None)
        new_values = {"strategy": self.strategy, "tags": tags, "at_once": self.concurrency}
        changes: dict[str, object] = {
            n: value for n, value in new_values.items() if value is not None
        }
        for switch in self.default:
            if changes.setdefault(switch.replace("-", "_")) is not None:
                raise ConfigError(f"Give a value of {switch}, or --default {switch}.")
        return changes


NO_CHANGES = SettingChanges()


DeadLetterAction = Callable[[Stack, str | None, DeadLetterQueue], list[DeadLetter]]

dead_letter_app = cyclopts.App(name="dlq", help="List, resend or drop dead letters.")


@dataclass(frozen=True, kw_only=True)
class _Letters(CommandOptions):
    ticks: bool = False
    """Failed ticks of the poller instead."""
    director: bool = False
    """Failed ticks of an arena's director instead."""
    options: StackOptions = field(default_factory=StackOptions)

    def target(self) -> tuple[Stack, DeadLetterQueue]:
        """The stack and the box; an arena alone has the director's only."""
        if self.ticks and self.director:
            raise ConfigError("Give --ticks for the poller's or --director for the director's.")
        stack = self.options.find()
        if self.director or not stack.has_bot:
            return stack, DeadLetterQueue.DIRECTOR
        return stack, DeadLetterQueue.POLLER if self.ticks else DeadLetterQueue.WORKER

    def act(
        self, deed: DeadLetterAction, done: str, letter: str | None, *, everything: bool
    ) -> None:
        """Do it with one letter or all of them, and say with how many it was done."""
        if (letter is None) is not everything:
            raise ConfigError("Give a letter's id, or --all.")
        stack, box = self.target()
        dead_letters = deed(stack, letter, box)
        number = "1 letter" if len(dead_letters) == 1 else f"{len(dead_letters)} letters"
        self.options.print_result(
            [dead_letter.document() for dead_letter in dead_letters], [f"{done} {number}"]
        )


_ALL = _Letters()
LetterId = Annotated[str | None, Parameter(help="A letter's id or its beginning.")]
AllLetters = Annotated[bool, Parameter(name="--all", help="All letters.")]


@dead_letter_app.command(name="list")
def list_(*, selection: _Letters = _ALL) -> None:
    """List dead letters, the oldest first."""
    stack, box = selection.target()
    dead_letters = list_dead_letters(stack, None, box)
    lines = [
        f"{letter.letter_id}  {letter.sent_at:%Y-%m-%d %H:%M:%S}  {letter}"
        for letter in dead_letters
    ]
    selection.options.print_result(
        [letter.document() for letter in dead_letters], lines or ["no dead letters"]
    )


@dead_letter_app.command
def show(
    letter: Annotated[str, Parameter(help="A letter's id or its beginning.")],
    /,
    *,
    selection: _Letters = _ALL,
) -> None:
    """Show a dead letter, and what the functions logged about its match."""
    stack, box = selection.target()
    [dead_letter] = list_dead_letters(stack, letter, box)
    since = datetime.now(UTC) - timedelta(days=14)
    about = log_lines(stack, dead_letter.match_id, since) if dead_letter.match_id else []
    document = {**dead_letter.document(), "story": [line.document() for line in about]}
    selection.options.print_result(document, [json.dumps(dead_letter.document(), indent=2), *about])


@dead_letter_app.command(name="replay")
def replay_(
    letter: LetterId = None, /, *, all_letters: AllLetters = False, selection: _Letters = _ALL
) -> None:
    """Send dead letters to the worker or the director once more, which is safe at any time."""
    selection.act(redrive, "sent", letter, everything=all_letters)


@dead_letter_app.command(name="drop")
def drop_(
    letter: LetterId = None, /, *, all_letters: AllLetters = False, selection: _Letters = _ALL
) -> None:
    """Delete dead letters whose cause is gone; of --ticks all, unless one is named."""
    every_tick = selection.ticks and letter is None
    selection.act(drop, "dropped", letter, everything=all_letters or every_tick)
