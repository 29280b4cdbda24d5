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
from workbench.operate import deploying
from workbench.operate.letters import Letter, LetterBox, drop, list_letters, replay
from workbench.operate.stack import DEFAULT_NAME, Stack, account_clients, find_stack
from workbench.operate.story import lines_about
from workbench.show.options import CommandOptions, Json
from workbench.show.output import tell


@dataclass(frozen=True, kw_only=True)
class StackOptions(CommandOptions):
    """Which stack, and how its answer is printed; the account is that of the environment."""

    stack: str = DEFAULT_NAME
    """The stack's name."""
    region: str | None = None
    """Its region; else AWS_DEFAULT_REGION."""
    as_json: Json = False

    def find(self) -> Stack:
        """The stack."""
        return find_stack(self.stack, account_clients(self.region))

    def tell(self, document: object, lines: Iterable[object]) -> None:
        """Print the document where JSON is asked for, else the lines."""
        tell(document, *"\n".join(map(str, lines)).split("\n"), as_json=self.as_json)

    def done(self, sentence: str) -> None:
        """Say what was done."""
        self.tell({"stack": self.stack, "done": sentence}, [sentence])


USUAL = StackOptions()  # the stack of the usual name, where the environment says


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
    options: StackOptions = USUAL,
) -> int:
    """Build the stack and deploy it by SAM, which shows what it changes and asks.

    An update keeps every parameter that is not named.
    """
    stack = f"cardsharp-{stage}" if options.stack == DEFAULT_NAME else options.stack
    more = ["--no-confirm-changeset"] if yes else []
    more += ["--region", options.region] if options.region else []
    return deploying.deploy(deploying.project(into), stage, stack, parameters, more)


Switch = Literal["strategy", "tags", "at-once"]


@dataclass(frozen=True, kw_only=True)
class SwitchesWanted(CommandOptions):
    """What is to be set."""

    strategy: str | None = None
    """Who plays our seat at the arena."""
    tag: tuple[str, ...] = ()
    """Tags of the matches to attend."""
    all_tags: bool = False
    """Attend matches of any tag."""
    at_once: Annotated[int | None, Parameter(validator=validators.Number(gte=1))] = None
    """The most matches that run at once."""
    default: tuple[Switch, ...] = ()
    """Go back to what the stack was deployed with."""

    def changes(self) -> dict[str, object]:
        """The new values by the names of `Switches`, None for a default; or `ConfigError`."""
        if self.tag and self.all_tags:
            raise ConfigError("Give --tag or --all-tags.")
        tags = self.tag or (() if self.all_tags else None)
        given = {"strategy": self.strategy, "tags": tags, "at_once": self.at_once}
        changes: dict[str, object] = {n: one for n, one in given.items() if one is not None}
        for switch in self.default:
            if changes.setdefault(switch.replace("-", "_")) is not None:
                raise ConfigError(f"Give a value of {switch}, or --default {switch}.")
        return changes


NOTHING = SwitchesWanted()


Deed = Callable[[Stack, str | None, LetterBox], list[Letter]]

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

    def act(self, deed: Deed, done: str, letter: str | None, *, everything: bool) -> None:
        """Do it with one letter or all of them, and say with how many it was done."""
        if (letter is None) is not everything:
            raise ConfigError("Give a letter's id, or --all.")
        stack, box = self.found()
        found = deed(stack, letter, box)
        number = "1 letter" if len(found) == 1 else f"{len(found)} letters"
        self.options.tell([one.document() for one in found], [f"{done} {number}"])


_ALL = _Letters()
OneLetter = Annotated[str | None, Parameter(help="A letter's id or its beginning.")]
Every = Annotated[bool, Parameter(name="--all", help="All letters.")]


@letters.command(name="list")
def list_(*, which: _Letters = _ALL) -> None:
    """List dead letters, the oldest first."""
    stack, box = which.found()
    found = list_letters(stack, None, box)
    lines = [f"{one.letter_id}  {one.sent_at:%Y-%m-%d %H:%M:%S}  {one}" for one in found]
    which.options.tell([letter.document() for letter in found], lines or ["no dead letters"])


@letters.command
def show(
    letter: Annotated[str, Parameter(help="A letter's id or its beginning.")],
    /,
    *,
    which: _Letters = _ALL,
) -> None:
    """Show a dead letter, and what the functions logged about its match."""
    stack, box = which.found()
    [found] = list_letters(stack, letter, box)
    since = datetime.now(UTC) - timedelta(days=14)
    about = lines_about(stack, found.match_id, since) if found.match_id else []
    told = {**found.document(), "story": [line.document() for line in about]}
    which.options.tell(told, [json.dumps(found.document(), indent=2), *about])


@letters.command(name="replay")
def replay_(
    letter: OneLetter = None, /, *, everything: Every = False, which: _Letters = _ALL
) -> None:
    """Send dead letters to the worker or the director once more, which is safe at any time."""
    which.act(replay, "sent", letter, everything=everything)


@letters.command(name="drop")
def drop_(
    letter: OneLetter = None, /, *, everything: Every = False, which: _Letters = _ALL
) -> None:
    """Delete dead letters whose cause is gone; of --ticks all, unless one is named."""
    every_tick = which.ticks and letter is None
    which.act(drop, "dropped", letter, everything=everything or every_tick)
