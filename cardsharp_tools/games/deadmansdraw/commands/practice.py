"""`cardsharp practice`: matches against ourselves or the dummy player, at any arena."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from cyclopts import Parameter, validators

from cardsharp.core.limits import MAX_PRACTICE_MATCHES
from cardsharp_tools.cli.options import CommandOptions, Json
from cardsharp_tools.cli.strategy_option import OptionalStrategy, StrategyArgument
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.games.deadmansdraw.arena_options import ArenaOptions


@dataclass(frozen=True, kw_only=True)
class StartPositionOptions(CommandOptions):
    """Options for the start position; by default the arena deals it."""

    from_position: str | None = None
    """Begin in the position of a stored match: MATCH@STEP, or MATCH. We move there."""
    draw_pile: str | None = None
    """Cards of the draw pile, the next card first: Key3,Map5,..."""
    discard_pile: str | None = None
    """Cards of the discard pile."""
    play_area: str | None = None
    """Cards in the play area."""
    banks: str | None = None
    """The banks: our cards, a slash, the opponent's cards."""


@dataclass(frozen=True, kw_only=True)
class PracticeOptions(CommandOptions):
    """Options for the matches to create, and their players."""

    arena: ArenaOptions = field(default_factory=ArenaOptions)
    matches: Annotated[
        int, Parameter(alias="-n", validator=validators.Number(gte=1, lte=MAX_PRACTICE_MATCHES))
    ] = 1
    """Number of matches."""
    opponent: Literal["self", "dummy"] = "self"
    """self: we play both seats. dummy: we play the dummy player's seat, too."""
    strategy: OptionalStrategy = None
    """The strategy: its name, a file, or a 'command'. Default: CARDSHARP_STRATEGY."""
    dummy_strategy: StrategyArgument = BuiltIn("champion")
    """The strategy for the dummy's seat: its name, FILE.py, FILE.json, or a 'command'."""
    tag: tuple[str, ...] = ()
    """A tag of the matches. Can be repeated. Default: a new tag."""
    seed: str | None = None
    """Random seed of the matches."""
    timeout: Annotated[int | None, Parameter(validator=validators.Number(gte=1))] = None
    """Time limit of a move in seconds."""
    start_position: StartPositionOptions = field(default_factory=StartPositionOptions)
    concurrency: Annotated[int, Parameter(validator=validators.Number(gte=1, lte=50))] = 4
    """Maximum number of matches at the same time."""
    create_only: bool = False
    """Only create the matches, for a bot that runs elsewhere."""
    strict: bool = False
    """Stop with exit code 1 at the first failure of our strategy."""
    as_json: Json = False


def practice(*, options: PracticeOptions = PracticeOptions()) -> int:
    """Create practice matches at an arena, and play them."""
    from cardsharp_tools.games.deadmansdraw.practice_runner import run_practice  # noqa: PLC0415 - slow to import

    return run_practice(options)
