"""`cardsharp bot`: attend a real arena from a laptop, with the handlers of the cloud."""

import time
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from cardsharp.cloud.clock import utc_now
from cardsharp.time_zones import to_local
from workbench.deadmansdraw.connection import ArenaOptions, await_arena, client_for, variables_for
from workbench.show.lookup import data_folder
from workbench.show.options import CommandOptions, StoreFile
from workbench.show.output import print_aside
from workbench.stage.side import assembled
from workbench.stage.surroundings import Say, telemetry_in, warnings_to

REPEAT = 30.0  # seconds for which a warning is not said again


@dataclass(frozen=True, kw_only=True)
class BotOptions(CommandOptions):
    """Which arena to attend, and how."""

    arena: ArenaOptions = field(default_factory=ArenaOptions)
    tag: tuple[str, ...] = ()
    """Only matches with this tag; can be repeated."""
    strategy: str | None = None
    """A strategy, a file or a 'command'; else CARDSHARP_STRATEGY."""
    store: StoreFile = None
    once: bool = False
    """Leave when the first match has ended."""
    at_once: Annotated[int, Parameter(validator=validators.Number(gte=1, lte=1000))] = 100
    """Matches played in parallel."""
    standby: bool = False
    """Stand by while another bot with this match log attends."""
    as_json: Annotated[bool, Parameter(name="--json")] = False
    """Print one JSON document a line."""


def bot(*, options: BotOptions = BotOptions()) -> None:
    """Attend every match until Ctrl-C; running matches are played to their end."""
    variables = variables_for(
        options.arena,
        options.strategy,
        tags=",".join(options.tag) or None,
        store=None if options.store is None else f"sqlite:{options.store}",
    )
    say = _speaker()
    with (
        telemetry_in(log_file()),
        warnings_to(say),
        assembled(variables) as assembly,
    ):
        with client_for(assembly.settings) as client:
            who = await_arena(client, assembly.clock, say)
        # What plays and shows takes as long to import as all before, and none of it asks this.
        from workbench.deadmansdraw.attendance import attend  # noqa: PLC0415

        attend(assembly, who.name or who.username, options, say)


def log_file() -> Path:
    """Where the bot's own log is written."""
    return data_folder() / "bot.log"


def _speaker() -> Say:
    """What says a sentence on stderr with the time of day, unless it was said a moment ago."""
    said = dict[str, float]()

    def say(sentence: str) -> None:
        now = time.monotonic()
        if now - said.get(sentence, -inf) >= REPEAT:
            said[sentence] = now
            print_aside(f"{to_local(utc_now()):%H:%M:%S} {sentence}")

    return say
