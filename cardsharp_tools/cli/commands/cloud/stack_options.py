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
from cardsharp_tools.cli.console import print_json_or_lines
from cardsharp_tools.cli.options import CommandOptions, Json
from cardsharp_tools.operations import sam_project
from cardsharp_tools.operations.dead_letters import (
    DeadLetter,
    DeadLetterQueueKind,
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
    """The stack's region. Default: AWS_DEFAULT_REGION."""
    as_json: Json = False

    def find_stack(self) -> Stack:
        """Return the stack that the options name."""
        return find_stack(self.stack, account_clients(self.region))

    def print_json_or_lines(self, document: object, lines: Iterable[object]) -> None:
        """Print the document with --json, else the lines."""
        print_json_or_lines(document, *"\n".join(map(str, lines)).split("\n"), as_json=self.as_json)

    def print_done_message(self, sentence: str) -> None:
        """Print a sentence that confirms what was done."""
        self.print_json_or_lines({"stack": self.stack, "done": sentence}, [sentence])


DEFAULT_STACK_OPTIONS = StackOptions()  # the stack of the usual name, where the environment says


def deploy(
    parameters: Annotated[
        tuple[str, ...],
        Parameter(
            help="Parameters of the template, such as ArenaUrl=https://arena.example MatchLimit=4."
        ),
    ] = (),
    /,
    *,
    stage: Annotated[
        Literal["dev", "prod", "arena", "game", "pages"],
        Parameter(
            help="dev: a bot to try things with. prod: a protected bot. arena: only an arena. "
            "game: the service of a game (Game=blef). pages: the match log of a bot."
        ),
    ] = "dev",
    yes: Annotated[
        bool, Parameter(negative=(), help="Deploy without asking for confirmation.")
    ] = False,
    into: Annotated[
        Path | None,
        Parameter(
            help="The folder to unpack the project into, if this is not a clone. Default: "
            "cardsharp-stack."
        ),
    ] = None,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> int:
    """Build the stack and deploy it with SAM, which shows the changes and asks."""
    stack = f"cardsharp-{stage}" if options.stack == DEFAULT_NAME else options.stack
    more = ["--no-confirm-changeset"] if yes else []
    more += ["--region", options.region] if options.region else []
    return sam_project.deploy(
        sam_project.prepare_project_folder(into), stage, stack, parameters, more
    )


SettingName = Literal["strategy", "tags", "concurrency"]
_STORED_NAMES = {"concurrency": "at_once"}  # where a setting is stored under another name


@dataclass(frozen=True, kw_only=True)
class SettingChanges(CommandOptions):
    """New settings of a deployed stack."""

    strategy: str | None = None
    """The strategy that plays for us."""
    tag: tuple[str, ...] = ()
    """Play only matches with this tag. Can be repeated."""
    all_tags: bool = False
    """Play matches with any tag, or none."""
    concurrency: Annotated[int | None, Parameter(validator=validators.Number(gte=1))] = None
    """Maximum number of matches that run at the same time."""
    default: tuple[SettingName, ...] = ()
    """Reset this setting to the value of the deployment. Can be repeated."""

    def changes(self) -> dict[str, object]:
        """Return the new values by setting, None for a return to the default.

        Raises `ConfigError` for options that exclude each other.
        """
        if self.tag and self.all_tags:
            raise ConfigError("Give either --tag or --all-tags.")
        tags = self.tag or (() if self.all_tags else None)
        new_values = {"strategy": self.strategy, "tags": tags, "at_once": self.concurrency}
        changes: dict[str, object] = {
            n: value for n, value in new_values.items() if value is not None
        }
        for switch in self.default:
            if changes.setdefault(_STORED_NAMES.get(switch, switch)) is not None:
                raise ConfigError(f"Give either a value for {switch} or --default {switch}.")
        return changes


NO_CHANGES = SettingChanges()


DeadLetterAction = Callable[[Stack, str | None, DeadLetterQueueKind], list[DeadLetter]]

dead_letter_app = cyclopts.App(
    name="dlq",
    help="List, show, redrive or drop dead letters: messages that failed five "
    "times.\n\n"
    "Example: cardsharp cloud dlq list",
    help_format="plaintext",
)


@dataclass(frozen=True, kw_only=True)
class _DeadLetterOptions(CommandOptions):
    poller: bool = False
    """Take the failed ticks of the poller instead."""
    director: bool = False
    """Take the failed ticks of an arena's director instead."""
    options: StackOptions = field(default_factory=StackOptions)

    def stack_and_queue(self) -> tuple[Stack, DeadLetterQueueKind]:
        """Return the stack and its dead-letter queue; an arena alone has only the director's."""
        if self.poller and self.director:
            raise ConfigError("Give either --poller or --director.")
        stack = self.options.find_stack()
        if self.director or not stack.has_bot:
            return stack, DeadLetterQueueKind.DIRECTOR
        return stack, DeadLetterQueueKind.POLLER if self.poller else DeadLetterQueueKind.WORKER

    def apply_and_print_count(
        self, action: DeadLetterAction, done: str, letter: str | None, *, everything: bool
    ) -> None:
        """Apply an action to one dead letter or to all, and print how many there were."""
        if (letter is None) is not everything:
            raise ConfigError("Give either the id of a message or --all.")
        stack, box = self.stack_and_queue()
        dead_letters = action(stack, letter, box)
        count_text = "1 message" if len(dead_letters) == 1 else f"{len(dead_letters)} messages"
        self.options.print_json_or_lines(
            [dead_letter.document() for dead_letter in dead_letters], [f"{done} {count_text}"]
        )


_DEFAULT_OPTIONS = _DeadLetterOptions()
MessageId = Annotated[str | None, Parameter(help="The id of a message, or its beginning.")]
AllMessages = Annotated[bool, Parameter(name="--all", help="Take all messages.")]


@dead_letter_app.command(name="list")
def print_dead_letters(*, selection: _DeadLetterOptions = _DEFAULT_OPTIONS) -> None:
    """List the dead letters, the oldest first.

    Example: cardsharp cloud dlq list --poller
    """
    stack, box = selection.stack_and_queue()
    dead_letters = list_dead_letters(stack, None, box)
    lines = [
        f"{letter.letter_id}  {letter.sent_at:%Y-%m-%d %H:%M:%S}  {letter}"
        for letter in dead_letters
    ]
    selection.options.print_json_or_lines(
        [letter.document() for letter in dead_letters], lines or ["There are no dead letters."]
    )


@dead_letter_app.command
def show(
    message: Annotated[str, Parameter(help="The id of a message, or its beginning.")],
    /,
    *,
    selection: _DeadLetterOptions = _DEFAULT_OPTIONS,
) -> None:
    """Show a dead letter, and what the functions logged about its match.

    Example: cardsharp cloud dlq show 3f2a
    """
    stack, box = selection.stack_and_queue()
    [dead_letter] = list_dead_letters(stack, message, box)
    since = datetime.now(UTC) - timedelta(days=14)
    about = log_lines(stack, dead_letter.match_id, since) if dead_letter.match_id else []
    document = {**dead_letter.document(), "story": [line.document() for line in about]}
    selection.options.print_json_or_lines(
        document, [json.dumps(dead_letter.document(), indent=2), *about]
    )


@dead_letter_app.command(name="redrive")
def redrive_(
    message: MessageId = None,
    /,
    *,
    all_messages: AllMessages = False,
    selection: _DeadLetterOptions = _DEFAULT_OPTIONS,
) -> None:
    """Send dead letters to the worker or the director again. This is safe at any time.

    Use it when the cause of the failure is gone.

    Example: cardsharp cloud dlq redrive --all
    """
    selection.apply_and_print_count(redrive, "sent", message, everything=all_messages)


@dead_letter_app.command(name="drop")
def delete_dead_letters(
    message: MessageId = None,
    /,
    *,
    all_messages: AllMessages = False,
    selection: _DeadLetterOptions = _DEFAULT_OPTIONS,
) -> None:
    """Delete dead letters. With --poller it deletes all, unless you name one.

    Use it when the cause is gone and nothing is left to do.

    Example: cardsharp cloud dlq drop --poller
    """
    every_tick = selection.poller and message is None
    selection.apply_and_print_count(drop, "dropped", message, everything=all_messages or every_tick)
