"""`cardsharp bot`: attend a real arena from a laptop, with the handlers of the cloud."""

from dataclasses import dataclass, field
from typing import Annotated

from cyclopts import Parameter, validators

from cardsharp_tools.cli.options import CommandOptions, StoreFile
from cardsharp_tools.cli.strategy_option import OptionalStrategy
from cardsharp_tools.games.deadmansdraw.arena_options import ArenaOptions


@dataclass(frozen=True, kw_only=True)
class BotOptions(CommandOptions):
    """Options for the arena to play at, and how to play."""

    arena: ArenaOptions = field(default_factory=ArenaOptions)
    tag: tuple[str, ...] = ()
    """Play only matches with this tag. Can be repeated."""
    strategy: OptionalStrategy = None
    """The strategy: its name, a file, or a 'command'. Default: CARDSHARP_STRATEGY."""
    store: StoreFile = None
    once: bool = False
    """Stop after the first match."""
    concurrency: Annotated[int, Parameter(validator=validators.Number(gte=1, lte=1000))] = 100
    """Maximum number of matches at the same time."""
    standby: bool = False
    """Wait while another bot with this match log plays, and take over if it stops."""
    as_json: Annotated[bool, Parameter(name="--json")] = False
    """Print one JSON document per line."""


def bot(*, options: BotOptions = BotOptions()) -> None:
    """Play every match that waits for us until Ctrl-C, then finish the running ones."""
    from cardsharp_tools.games.deadmansdraw.bot_startup import start_bot  # noqa: PLC0415 - slow to import

    start_bot(options)
