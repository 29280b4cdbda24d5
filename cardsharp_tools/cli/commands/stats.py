"""`cardsharp stats`: how well we decided and how lucky we were, over many matches of a log."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators
from jinja2 import FileSystemLoader
from rich.table import Table

from cardsharp.analysis.judge import Judge, load_analysis_functions
from cardsharp.analysis.judged_match import SIDE_COUNT, Severity
from cardsharp.analysis.replay import Outcome, header_of, outcome_of
from cardsharp.contest.match_host import MatchResultFacts
from cardsharp.contest.view import pages
from cardsharp.contest.view.match_charts import FinishedMatch, build_match_charts
from cardsharp.errors import ConfigError, StoreError
from cardsharp.pages.templates import SiteInfo, standalone_page
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
from cardsharp_tools.cli.options import CommandOptions, Json, MatchSourceName, Store
from cardsharp_tools.lab.match_statistics import (
    Estimate,
    PlainAndAdjustedRating,
    SideGroup,
    SideStatistics,
    ratings_by_player,
    side_statistics_by_match,
)
from cardsharp_tools.lab.options import GameName, Workers
from cardsharp_tools.lab.plan import DEFAULT_GAME
from cardsharp_tools.lab.runner import make_executor
from cardsharp_tools.match_sources.match_logs import readable_matches
from cardsharp_tools.match_sources.sources import find_source
from cardsharp_tools.terminal.match_printer import judge_value_text
from cardsharp_tools.terminal.progress import track

_MAX_COUNT_COLUMNS = (
    2  # so many of the judge's counts are in the table, less where names need their columns
)
_UNLIMITED_WIDTH = 1_000  # columns in which every table has room
_MAX_SERIAL_MATCHES = 30  # so many matches are judged sooner than another process has started


class GroupBy(StrEnum):
    """Property by which matches are grouped."""

    OPPONENT = "opponent"
    STRATEGY = "strategy"
    VERSION = "version"
    DAY = "day"
    TAG = "tag"


_GROUP_NAMES: Mapping[GroupBy, Callable[[SideStatistics], Sequence[str]]] = {
    GroupBy.OPPONENT: lambda side: (side.opponent,),
    GroupBy.STRATEGY: lambda side: (side.player,),
    GroupBy.VERSION: lambda side: (f"{side.version[:6]} {side.player}".strip(),),
    GroupBy.DAY: lambda side: (side.day,),
    GroupBy.TAG: lambda side: side.tags or ("no tag",),
}


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
    game: GameName = DEFAULT_GAME,
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


@dataclass(frozen=True)
class JudgedMatchSet:
    """The newest matches that could be judged, by id, with their selected sides."""

    judge: Judge
    max_matches: int
    matches: Sequence[tuple[str, Sequence[SideStatistics]]]

    @cached_property
    def side_statistics(self) -> list[SideStatistics]:
        """Statistics of the sides of all matches, in one list."""
        return [side for _, sides in self.matches for side in sides]

    @cached_property
    def ratings(self) -> Mapping[str, PlainAndAdjustedRating]:
        """Ratings of the players, if results are shares."""
        return (
            ratings_by_player(sides for _, sides in self.matches)
            if self.judge.value_sum == 1
            else {}
        )

    @cached_property
    def all_matches_have_both_sides(self) -> bool:
        """True if every match has both sides, as in a contest, and not only our own."""
        return all(
            len(sides) == SIDE_COUNT and sides[0].player != sides[0].opponent
            for _, sides in self.matches
        )

    @property
    def default_grouping(self) -> GroupBy:
        """Grouping by opponent if only our side is counted, else by strategy."""
        return GroupBy.STRATEGY if self.all_matches_have_both_sides else GroupBy.OPPONENT

    def groups(self, by: GroupBy) -> dict[str, SideGroup]:
        """Return the groups of sides by name, the largest first."""
        sides_by_name: dict[str, list[SideStatistics]] = defaultdict(list)
        for side in self.side_statistics:
            for name in _GROUP_NAMES[by](side):
                sides_by_name[name].append(side)
        groups = {
            name: SideGroup(sides, self.judge.value_sum == 1)
            for name, sides in sides_by_name.items()
        }

        def order(name: str) -> tuple[float, int, str]:
            group = groups[name]
            merit = group.mean_result.mean if by is GroupBy.STRATEGY else 0.0
            return -merit, -len(group.sides), name

        return {name: groups[name] for name in sorted(groups, key=order)}


def _judge_matches(
    options: StatsOptions, game: Game, log: MatchReader, records: Sequence[MatchRecord]
) -> JudgedMatchSet:
    stored_matches = (
        (log.match(record.match_id) or record, log.moves(record.match_id)) for record in records
    )
    judged = []
    with make_executor(1 if len(records) <= _MAX_SERIAL_MATCHES else options.workers) as pool:
        for record, match_sides in zip(
            track(records), side_statistics_by_match(game.name, stored_matches, pool), strict=True
        ):
            sides = [side for side in match_sides if options.player in {None, side.player}]
            judged += [(record.match_id, sides)] * bool(sides)
    return JudgedMatchSet(load_analysis_functions(game).judge, len(records), judged)


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


_TEMPLATE_FOLDER = Path(__file__).parents[1] / "templates"
LUCKIEST_MATCH_COUNT = 10  # matches that the cards decided, as many as are told


def stats_page(
    title: str, log: MatchReader, records: Sequence[MatchRecord], judged: JudgedMatchSet
) -> str:
    """Return an HTML page of statistics: all matches are counted, the judged ones analysed."""
    played, judge = list(_iter_finished_matches(log, records, judged.judge)), judged.judge
    moves = sum(sum(facts.moves) for _, facts in played)
    start_times = sorted(facts.began for _, facts in played if facts.began is not None)
    began = (
        f", {start_times[0]:%Y-%m-%d %H:%M} to {start_times[-1]:%Y-%m-%d %H:%M} UTC"
        if start_times
        else ""
    )
    won = [(match, side) for match, sides in judged.matches for side in sides if side.result == 1]
    won.sort(key=lambda win: win[1].result - win[1].luck)  # who deserved it least first
    lucky = [win for win in won if win[1].result - win[1].luck < 1 / 2][:LUCKIEST_MATCH_COUNT]
    template = pages.contest_template_environment(FileSystemLoader(_TEMPLATE_FOLDER)).get_template(
        "stats.jinja"
    )
    return template.render(
        alone=standalone_page(pages.read_contest_style()),
        site=SiteInfo("Cardsharp"),
        title=title,
        facts=f"{len(records):,} matches, {moves:,} moves{began}",
        charts=build_match_charts(played),
        groups=list(judged.groups(GroupBy.STRATEGY).items()),
        lucky=lucky if judge.value_sum else (),
        judged=len(judged.matches),
        newest=judged.max_matches,
        judge=judge.name,
        unit=judge.unit,
        percent=bool(judge.value_sum),
        rated=judged.ratings,
        estimate=lambda estimate: format_estimate(estimate, judge.value_format),
        signed=lambda value: judge_value_text(f"+{judge.value_format.lstrip('+')}", value),
        amount=lambda value: judge_value_text(judge.value_format, value),
    )


def format_estimate(estimate: Estimate | None, number_format: str) -> str:
    """Return a mean with its margin as text; shares in per cent, the margin without a sign."""
    if estimate is None:
        return "-"
    mean, margin = judge_value_text(number_format, estimate.mean), estimate.interval.margin
    within = (
        f" ± {judge_value_text(number_format.removeprefix('+'), margin)}"
        if isfinite(margin)
        else ""
    )
    return f"{mean}{within}".replace(" %", "")


def _iter_finished_matches(
    log: MatchReader, records: Sequence[MatchRecord], judge: Judge
) -> Iterator[FinishedMatch]:
    """Yield the matches as charts count them; skip matches whose moves cannot be read."""
    for listed in track(records, "counting"):
        with suppress(StoreError):
            record = log.match(listed.match_id) or listed
            header, outcome = header_of(record), outcome_of(record) or Outcome()
            counts = judge.event_counts_by_side(log.moves(listed.match_id))
            facts = MatchResultFacts(
                points=outcome.scores or (),
                winner=outcome.winner,
                seconds=0.0,
                turns=outcome.turns,
                busts=counts.get("busts", ()),
                late=counts.get("time-outs", ()),
                banked=counts.get("banked", ()),
                moves=counts.get("moves", ()),
                autopicks=counts.get("autopicks", ()),
                began=record.started_at if record.started_at.timestamp() else None,
            )
            player_names = outcome.names or tuple(
                map(header.strategy_or_player_name, range(len(header.players)))
            )
            yield FinishedMatch(player_names, facts)
