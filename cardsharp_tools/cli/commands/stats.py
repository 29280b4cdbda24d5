"""`cardsharp stats`: how well we decided and how lucky we were, over many matches of a log."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators
from rich.table import Table

from cardsharp.analysis.judge import Judge, load_analysis_functions
from cardsharp.analysis.judged_match import Severity
from cardsharp.analysis.replay import header_of
from cardsharp.errors import ConfigError
from cardsharp.play.catalog import get_game as game_named
from cardsharp.play.game import Game
from cardsharp.store.match_log import MatchReader, MatchRecord, MatchStatus
from cardsharp_tools.cli.console import (
    borderless_table,
    print_json,
    print_json_or_lines,
    result_console,
    write_file,
)
from cardsharp_tools.cli.game_commands import FIRST_GAME, RequiredGame
from cardsharp_tools.cli.options import (
    CommandOptions,
    GameName,
    Json,
    MatchSourceName,
    Store,
    Workers,
)
from cardsharp_tools.lab.match_statistics import (
    GroupBy,
    JudgedMatchSet,
    SideGroup,
    format_estimate,
    side_statistics_by_match,
)
from cardsharp_tools.match_sources.match_logs import readable_matches
from cardsharp_tools.match_sources.sources import find_source
from cardsharp_tools.terminal.progress import track

_MAX_COUNT_COLUMNS = (
    2  # so many of the judge's counts are in the table, less where names need their columns
)
_UNLIMITED_WIDTH = 1_000  # columns in which every table has room
_MAX_SERIAL_MATCHES = 30  # so many matches are judged sooner than another process has started


@dataclass(frozen=True, kw_only=True)
class StatsOptions(CommandOptions):
    """Options that select the matches, and how to group them."""

    by: GroupBy | None = None
    """Group the matches by this. Default: opponent; strategy for a contest or an arena."""
    player: str | None = None
    """Only matches that this strategy played."""
    tag: str | None = None
    """Only matches with this tag."""
    limit: Annotated[int, Parameter(validator=validators.Number(gte=1))] = 100
    """Maximum number of matches to judge, the newest first."""
    html: Path | None = None
    """Write a page into this file: charts of all matches, and who deserved to win."""
    workers: Workers = None
    store: Store = None
    as_json: Json = False


def stats(
    source: MatchSourceName = None,
    /,
    *,
    game: GameName = FIRST_GAME.name,
    options: StatsOptions = StatsOptions(),
) -> None:
    """Print results, accuracy and luck by opponent, by strategy, by day or by tag."""
    with find_source(source or options.store).open_reader() as log:
        _output_statistics(options, game_named(game), log, source)


def print_game_stats(
    source: MatchSourceName = None,
    /,
    *,
    options: StatsOptions = StatsOptions(),
    game: RequiredGame = FIRST_GAME,
) -> None:
    """Show over many matches how well we decided and how lucky we were."""
    with find_source(source or options.store, game).open_reader() as log:
        _output_statistics(options, game, log, source)


def _output_statistics(
    options: StatsOptions, game: Game, log: MatchReader, source: str | None
) -> None:
    readable = readable_matches(log, game, MatchStatus.FINISHED, options.tag)
    every = [record for record in readable if "branch" not in header_of(record).tags]
    records = every[: options.limit]
    judged = _judge_matches(options, game, log, records)
    if options.html is not None:
        # Charts and templates are slow to import, and only the page needs them.
        from cardsharp_tools.cli.statistics_page import stats_page  # noqa: PLC0415

        title = options.tag or (f"Statistics of {source}" if source else "Statistics")
        write_file(options.html, stats_page(title, log, every, judged))
        document = {"matches": len(every), "file": str(options.html)}
        print_json_or_lines(
            document, f"{options.html} opens in any browser", as_json=options.as_json
        )
    elif not judged.side_statistics:
        raise ConfigError(
            f"None of {len(records)} matches can be judged, or none was played by "
            f"{options.player or 'us'}; `cardsharp analyse` says of one why."
        )
    elif options.as_json:
        print_json(_build_document(judged, options.by or judged.default_grouping))
    else:
        _print_statistics(judged, options.by or judged.default_grouping)


def _judge_matches(
    options: StatsOptions, game: Game, log: MatchReader, records: Sequence[MatchRecord]
) -> JudgedMatchSet:
    stored_matches = (
        (log.match(record.match_id) or record, log.moves(record.match_id)) for record in records
    )
    judged = []
    with _open_executor(len(records), options.workers) as pool:
        for record, match_sides in zip(
            track(records), side_statistics_by_match(game.name, stored_matches, pool), strict=True
        ):
            sides = [side for side in match_sides if options.player in {None, side.player}]
            judged += [(record.match_id, sides)] * bool(sides)
    return JudgedMatchSet(load_analysis_functions(game).judge, len(records), judged)


@contextmanager
def _open_executor(match_count: int, workers: int | None) -> Iterator[Executor | None]:
    """Yield the processes that judge so many matches, None for this process alone."""
    if match_count <= _MAX_SERIAL_MATCHES:
        yield None
        return
    # What plays matches in processes is slow to import, and few matches need no process.
    from cardsharp_tools.lab.runner import make_executor  # noqa: PLC0415

    with make_executor(workers) as pool:
        yield pool


def _print_statistics(judged: JudgedMatchSet, by: GroupBy) -> None:
    """Print the groups, the ratings of strategies, the sum over all, and how to read it."""
    judge, console = judged.judge, result_console()
    groups = judged.groups(by)
    counts = list(judged.side_statistics[0].counts)[:_MAX_COUNT_COLUMNS]
    title = "player" if by is GroupBy.STRATEGY and judged.all_matches_have_both_sides else by.value
    table, wide = (
        _build_group_table(groups, judge, title, counts),
        console.options.update_width(_UNLIMITED_WIDTH),
    )
    while counts and console.measure(table, options=wide).maximum > console.width:
        table = _build_group_table(groups, judge, title, counts := counts[:-1])
    console.print(table)
    console.print()
    if by is GroupBy.STRATEGY and judged.ratings:
        both = ("plain", "adjusted")
        table = borderless_table("rating", *both, right_aligned=both, column_gap=1)
        for name, two in judged.ratings.items():
            table.add_row(name, *("-" if rating is None else str(rating) for rating in two))
        console.print(table)
        console.print()
    together = SideGroup(judged.side_statistics, judge.value_sum == 1).luck_result_correlation
    if together is not None:
        console.print(f"correlation of luck and result: {together:.2f}")
    unit = "per cent" if judge.value_sum else judge.unit
    console.print(
        f"{judged.max_matches} matches; results in {unit}, accuracy in per cent, ± as 95 "
        "% intervals; "
        f"judged by {judge.name}",
        style="dim",
        soft_wrap=True,
    )


def _build_group_table(
    groups: Mapping[str, SideGroup], judge: Judge, title: str, counts: Sequence[str]
) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(title, max_width=14, overflow="fold")
    less_luck = ("adjusted",) if any(group.luck_adjusted_mean for group in groups.values()) else ()
    for name in ("matches", "result", *less_luck, "accuracy", "blunders", *counts):
        table.add_column(name, justify="right", no_wrap=True)
    for name, group in groups.items():
        table.add_row(
            name,
            str(len(group.sides)),
            format_estimate(group.mean_result, judge.value_format),
            *(format_estimate(group.luck_adjusted_mean, judge.value_format) for _ in less_luck),
            format_estimate(group.accuracy, ".1f"),
            f"{group.mean_count(Severity.BLUNDER):.1f}",
            *(f"{group.mean_count(count):.1f}" for count in counts),
        )
    return table


def _build_document(judged: JudgedMatchSet, by: GroupBy) -> dict[str, object]:
    groups = [
        {
            "name": name,
            "sides": len(group.sides),
            "result": group.mean_result.document,
            "withoutLuck": group.luck_adjusted_mean and group.luck_adjusted_mean.document,
            "accuracy": group.accuracy and group.accuracy.document,
            "luck": group.mean_luck.document,
            "luckWithResult": group.luck_result_correlation,
            "perMatch": {
                count: group.mean_count(count)
                for count in (*map(str, Severity), *group.sides[0].counts)
            },
        }
        for name, group in judged.groups(by).items()
    ]
    ratings = {
        name: {"plain": asdict(plain.rounded), "lessLuck": less and asdict(less.rounded)}
        for name, (plain, less) in judged.ratings.items()
    }
    summary = {"matches": judged.max_matches, "judge": judged.judge.name, "unit": judged.judge.unit}
    return {**summary, "groups": groups, "ratings": ratings}
