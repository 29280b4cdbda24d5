"""`cardsharp arena`: an arena in the foreground, and matches for one that runs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import cyclopts
from cyclopts import Parameter, validators

from cardsharp.games.deadmansdraw.arena.randomness import RandomnessMethod
from cardsharp_tools.cli.options import ArenaServerOptions, CommandOptions, Json, ProxyAddress
from cardsharp_tools.games.deadmansdraw.commands import COMMANDS


def _check_watchdog(_kind: object, late: object) -> None:
    if isinstance(late, float) and late < 0:
        raise ValueError("Must be >= 0, or never.")


@dataclass(frozen=True, kw_only=True)
class ServeOptions(ArenaServerOptions):
    """Options of the arena server."""

    players: Annotated[
        Path | None,
        Parameter(
            show_default=False,
            help='The players: a JSON list of {"_id", "name", "password"}, where _id has 24 digits '
            "of 0-9a-f. Default: the dummy player and two teams.",
        ),
    ] = None
    data: Path | None = None
    """SQLite file for the matches. Default: they are kept in memory until the arena stops."""
    random: RandomnessMethod = RandomnessMethod.FAIR
    """Random numbers of the deals. original repeats the competition server's draws exactly."""
    poll_timeout: Annotated[float, Parameter(validator=validators.Number(gt=0))] = 30.0
    """Maximum duration of a long poll in seconds."""
    rate_limit: bool = False
    """Slow down clients that send too many requests, as the competition's server does: a player
    beyond 100 a minute, and an address beyond 1,000, of which no header tells."""
    watchdog: Annotated[float | Literal["never"], Parameter(validator=_check_watchdog)] = 5.0
    """Seconds after its time limit until the arena ends a turn; or never."""
    emulator: bool = False
    """Store matches in an emulated DynamoDB, as in the cloud."""
    as_json: Json = False


_COMMAND = next(command for command in COMMANDS if command.name == "arena")

arena = cyclopts.App(name="arena", help_epilogue=_COMMAND.epilogue)


@arena.default
def serve(*, options: ServeOptions = ServeOptions()) -> None:
    """Serve the arena until Ctrl-C or SIGTERM."""
    from cardsharp_tools.games.deadmansdraw.arena_runner import serve_arena  # noqa: PLC0415 - slow to import

    serve_arena(options)


@dataclass(frozen=True, kw_only=True)
class MatchOptions(CommandOptions):
    """Options for the matches to create, and the arena."""

    matches: Annotated[int, Parameter(alias="-n", validator=validators.Number(gte=1, lte=1000))] = 1
    """Number of matches."""
    tag: tuple[str, ...] = ()
    """A tag of the matches. Can be repeated."""
    timeout: Annotated[float | None, Parameter(validator=validators.Number(gt=0))] = None
    """Time limit of a turn in seconds."""
    seed: str | None = None
    """Random seed of the matches. Default: a seed for each."""
    from_position: str | None = None
    """Begin in the position of a stored match: MATCH@STEP, or MATCH. FIRST moves there."""
    url: str = "http://127.0.0.1:8080"
    """The arena's address."""
    insecure: bool = False
    """Allow to send the password over plain http. Only do this in a private network."""
    ca_file: Path | None = None
    """File with the certificates of a CA to trust."""
    proxy: ProxyAddress = None
    as_json: Json = False


@arena.command(name="match")
def create_matches(first: str, second: str, /, *, options: MatchOptions = MatchOptions()) -> None:
    """Create matches between two players of a running arena, as its organiser.

    FIRST and SECOND are ids or names of players. They change seats after every
    match. The password comes from ARENA_ADMIN_PASSWORD, or the command asks for it.
    """
    from cardsharp_tools.games.deadmansdraw.arena_runner import create_arena_matches  # noqa: PLC0415 - as above

    create_arena_matches(first, second, options)
