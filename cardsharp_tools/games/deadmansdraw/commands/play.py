"""`cardsharp play`: matches on this machine from nothing to a finished, checked log."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from cardsharp.games.deadmansdraw.game import GAME
from cardsharp_tools.cli.options import CommandOptions, StoreFile
from cardsharp_tools.cli.strategy_option import StrategyArgument, UserCodeOptions
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.local_play.cloud_backend import CloudBackendKind

DEFAULT_OPPONENT = "example-java"  # the organisers' own client, which a newcomer's bot beats


@dataclass(frozen=True, kw_only=True)
class PlayOptions(CommandOptions):
    """Options of `play`."""

    opponent: StrategyArgument = BuiltIn(DEFAULT_OPPONENT)
    """The opponent: a strategy, FILE.py, FILE.json, or a 'command'."""
    strategy: StrategyArgument = BuiltIn(GAME.default_strategy)
    """Our player: a strategy, FILE.py, FILE.json, or a 'command'."""
    matches: Annotated[int, Parameter(alias="-n", validator=validators.Number(gte=1))] = 1
    """Number of matches."""
    cloud: CloudBackendKind = CloudBackendKind.EMBEDDED
    """embedded: queue in memory, log in SQLite. emulator: SQS and DynamoDB of an emulator."""
    seed: str | None = None
    """Random seed: the same seed deals the same cards. Default: a random deal."""
    timeout: Annotated[int, Parameter(validator=validators.Number(gte=1))] = 10
    """Time limit of a move in seconds."""
    concurrency: Annotated[int, Parameter(validator=validators.Number(gte=1, lte=200))] = 4
    """Maximum number of matches at the same time."""
    store: StoreFile = None
    log_folder: Annotated[Path | None, Parameter(name="--keep", show=False)] = None
    """Folder for matches.db and the program's own log."""
    strict: bool = False
    """Stop with exit code 1 at the first failure of our strategy."""
    user_code: UserCodeOptions = field(default_factory=UserCodeOptions)
    as_json: Annotated[bool, Parameter(name="--json")] = False
    """Print one JSON document."""


def play(*, options: PlayOptions = PlayOptions()) -> int:
    """Play our bot against another strategy at an arena on this machine.

    The matches are shown, their logs are checked, and they are stored. The exit code is 0 if all
    matches are decided and their logs are complete, 4 if safe actions replaced some decisions of
    the strategy, and 1 if they replaced all.
    """
    from cardsharp_tools.games.deadmansdraw.play_runner import run_play  # noqa: PLC0415 - slow to import

    return run_play(options)
