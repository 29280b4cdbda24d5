"""`cardsharp export`: decisions of stored or fresh matches as a data set for learners."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from cardsharp.play.catalog import get_game as game_named
from cardsharp_tools.cli.commands.backtest import MatchSelection, select_matches
from cardsharp_tools.cli.console import print_json_or_lines
from cardsharp_tools.cli.options import Positive
from cardsharp_tools.cli.strategy_option import OptionalStrategy, UserCodeOptions
from cardsharp_tools.lab.plan import DuelPlan
from cardsharp_tools.lab.players import check_players
from cardsharp_tools.match_sources.match_logs import game_of_match
from cardsharp_tools.project_files import missing_extra_error
from cardsharp_tools.terminal.progress import ProgressBar

if TYPE_CHECKING:
    from cardsharp_tools.environments.dataset import DecisionRow


@dataclass(frozen=True, kw_only=True)
class ExportOptions(MatchSelection):
    """Options that select the decisions to export, and their format."""

    game: str | None = None
    """The game. Default: Dead Man's Draw."""
    pairs: Annotated[int, Parameter(alias="-n", validator=Positive)] = 100
    """Number of new deals, each played from every seat."""
    seed: int = 1
    """Random seed: the same seed plays the same matches."""
    include_value: bool = False
    """Add the value of each action according to the game's judge. This is slow."""
    dense: bool = False
    """Write every 0 of observation and mask into JSON Lines. The file is four times as large."""
    user_code: UserCodeOptions = field(default_factory=UserCodeOptions)


def export(
    file: Annotated[Path, Parameter(help="The file to write: FILE.jsonl or FILE.parquet.")],
    first: Annotated[
        OptionalStrategy,
        Parameter(help="The strategy that plays new matches. Default: write stored matches."),
    ] = None,
    second: Annotated[
        OptionalStrategy, Parameter(help="The opponent of FIRST. Default: FIRST itself.")
    ] = None,
    *,
    options: ExportOptions = ExportOptions(),
) -> None:
    """Write a row for each decision: observation, legal actions, action and result."""
    try:
        from cardsharp_tools.environments import dataset  # noqa: PLC0415 - an optional group
    except ImportError as error:
        raise missing_extra_error("export", str(error.name), "env") from None
    of = game_named(options.game)
    if first is None:  # stored ones
        stored = list(select_matches(options, of if options.game else None))
        tellers = (
            (
                dataset.DatasetBuilder(
                    game_of_match(match.record), include_value=options.include_value
                ),
                match,
            )
            for match in stored
        )
        rows: Iterator[DecisionRow] = (
            row
            for builder, match in tellers
            for row in builder.rows_of_match(match.record, match.moves)
        )
        matches = len(stored)
    else:
        second, pairs = second or first, options.pairs
        plan = DuelPlan(game=of.name, first=first, second=second, pairs=pairs, seed=options.seed)
        check_players(plan)
        rows = dataset.DatasetBuilder(of, include_value=options.include_value).rows_of_plan(plan)
        matches = pairs * plan.matches_per_pair
    row_count = dataset.write_rows(_with_progress(rows, matches), file, dense=options.dense)
    line = f"wrote {row_count:,} decisions into {file}"
    print_json_or_lines({"file": str(file), "rows": row_count}, line, as_json=options.as_json)


def _with_progress(rows: Iterator["DecisionRow"], match_count: int) -> Iterator["DecisionRow"]:
    match = None
    with ProgressBar(match_count, "matches") as bar:
        for row in rows:
            if row["match"] != match:
                bar.advance(match is not None)
                match = row["match"]
            yield row
