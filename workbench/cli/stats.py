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

from cardsharp.analysis import Mark
from cardsharp.cloud.ports import MatchReader, MatchRecord, Status
from cardsharp.contest import pages
from cardsharp.contest.charts import Played, charts
from cardsharp.contest.tables import Facts
from cardsharp.errors import ConfigError, StoreError
from cardsharp.game import Game
from cardsharp.games import game as game_named
from cardsharp.judge import Judge, judging
from cardsharp.replay import Outcome, header_of, outcome_of
from cardsharp.viewer.base import Site, alone
from workbench.cli.games import FIRST, OneGame
from workbench.lab.analysed import AnalysedSide, Estimate, Group, TwoRatings, analysed, two_ratings
from workbench.lab.options import GameName, Workers
from workbench.lab.plan import DEFAULT_GAME
from workbench.lab.runs import pool_of
from workbench.show.drawing import amount
from workbench.show.lookup import readable
from workbench.show.options import AnySource, CommandOptions, Json, Store
from workbench.show.output import plain_table, print_json, results, tell, write_file
from workbench.show.progress import each
from workbench.watch.sources import source_of

_ROOM = 2  # so many of the judge's counts are in the table, less where names need their columns
_WIDE = 1_000  # columns in which every table has room
_FEW = 8  # so many matches are judged sooner than another process has started


class By(StrEnum):
    """Group the matches by this."""

    OPPONENT = "opponent"
    STRATEGY = "strategy"
    VERSION = "version"
    DAY = "day"
    TAG = "tag"


_KEYS: Mapping[By, Callable[[AnalysedSide], Sequence[str]]] = {
    By.OPPONENT: lambda side: (side.against,),
    By.STRATEGY: lambda side: (side.player,),
    By.VERSION: lambda side: (f"{side.version[:6]} {side.player}".strip(),),
    By.DAY: lambda side: (side.day,),
    By.TAG: lambda side: side.tags or ("no tag",),
}


@dataclass(frozen=True, kw_only=True)
class StatsOptions(CommandOptions):
    """Which matches, and how they are grouped."""

    by: By = By.OPPONENT
    """Group the matches by this."""
    player: str | None = None
    """Only matches that this strategy played."""
    tag: str | None = None
    """Only matches with this tag."""
    limit: Annotated[int, Parameter(validator=validators.Number(gte=1))] = 100
    """Judge the newest so many matches."""
    html: Path | None = None
    """Write one page there instead: charts of all matches, and who deserved to win."""
    workers: Workers = None
    store: Store = None
    as_json: Json = False


def stats(
    source: AnySource = None,
    /,
    *,
    game: GameName = DEFAULT_GAME,
    options: StatsOptions = StatsOptions(),
) -> None:
    """Print results, accuracy and luck by opponent, by strategy, by day or by tag."""
    with source_of(source or options.store).reading() as log:
        _stats(options, game_named(game), log, source)


def of_game(
    source: AnySource = None, /, *, options: StatsOptions = StatsOptions(), game: OneGame = FIRST
) -> None:
    """Measure how well we decided and how lucky we were, in what a game's bot or service keeps."""
    with source_of(source or options.store, game).reading() as log:
        _stats(options, game, log, source)


def _stats(options: StatsOptions, of: Game, log: MatchReader, source: str | None) -> None:
    found = readable(log, of, Status.FINISHED, options.tag)
    every = [one for one in found if "branch" not in header_of(one).tags]
    records = every[: options.limit]
    judged = _judged(options, of, log, records)
    if options.html is not None:
        title = options.tag or (f"Statistics of {source}" if source else "Statistics")
        write_file(options.html, page(title, log, every, judged))
        told = {"matches": len(every), "file": str(options.html)}
        tell(told, f"{options.html} opens in any browser", as_json=options.as_json)
    elif not judged.sides:
        raise ConfigError(
            f"None of {len(records)} matches can be judged, or none was played by "
            f"{options.player or 'us'}; `cardsharp analyse` says of one why."
        )
    elif options.as_json:
        print_json(_document(judged, options.by))
    else:
        _print(judged, options.by)


@dataclass(frozen=True)
class JudgedMatches:
    """Those of the `newest` matches that could be judged, by id, with the sides asked for."""

    judge: Judge
    newest: int
    matches: Sequence[tuple[str, Sequence[AnalysedSide]]]

    @cached_property
    def sides(self) -> list[AnalysedSide]:
        """The sides of all matches."""
        return [side for _, sides in self.matches for side in sides]

    @cached_property
    def rated(self) -> Mapping[str, TwoRatings]:
        """The players' ratings, where results are shares."""
        return two_ratings(sides for _, sides in self.matches) if self.judge.total == 1 else {}

    def groups(self, by: By) -> dict[str, Group]:
        """The groups by name, the biggest first."""
        found: dict[str, list[AnalysedSide]] = defaultdict(list)
        for side in self.sides:
            for name in _KEYS[by](side):
                found[name].append(side)
        biggest = sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))
        return {name: Group(group, self.judge.total == 1) for name, group in biggest}


def _judged(
    options: StatsOptions, of: Game, log: MatchReader, records: Sequence[MatchRecord]
) -> JudgedMatches:
    whole = ((log.match(one.match_id) or one, log.moves(one.match_id)) for one in records)
    judged = []
    with pool_of(1 if len(records) <= _FEW else options.workers) as pool:
        for record, found in zip(each(records), analysed(of.name, whole, pool), strict=True):
            sides = [one for one in found if options.player in {None, one.player}]
            judged += [(record.match_id, sides)] * bool(sides)
    return JudgedMatches(judging(of).judge, len(records), judged)


def _print(judged: JudgedMatches, by: By) -> None:
    """The groups, ratings of strategies, what is said of all at once, and how to read it."""
    judge, console = judged.judge, results()
    groups = judged.groups(by)
    counts = list(judged.sides[0].counts)[:_ROOM]
    table, wide = _table(groups, judge, by, counts), console.options.update_width(_WIDE)
    while counts and console.measure(table, options=wide).maximum > console.width:
        table = _table(groups, judge, by, counts := counts[:-1])
    console.print(table)
    console.print()
    if by is By.STRATEGY and judged.rated:
        both = ("plain", "less luck")
        table = plain_table("rating", *both, right=both, gap=1)
        for name, two in judged.rated.items():
            table.add_row(name, *("-" if one is None else str(one) for one in two))
        console.print(table)
        console.print()
    together = Group(judged.sides, judge.total == 1).luck_with_result
    if together is not None:
        console.print(f"correlation of luck and result: {together:.2f}")
    unit = "per cent" if judge.total else judge.unit
    console.print(
        f"{judged.newest} matches; results in {unit}, accuracy in per cent, ± as 95 % intervals; "
        f"judged by {judge.name}",
        style="dim",
        soft_wrap=True,
    )


def _table(groups: Mapping[str, Group], judge: Judge, by: By, counts: Sequence[str]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(by.value, max_width=14, overflow="fold")
    less_luck = ("less luck",) if any(group.without_luck for group in groups.values()) else ()
    for name in ("matches", "result", *less_luck, "accuracy", "blunders", *counts):
        table.add_column(name, justify="right", no_wrap=True)
    for name, group in groups.items():
        table.add_row(
            name,
            str(len(group.sides)),
            estimate(group.result, judge.form),
            *(estimate(group.without_luck, judge.form) for _ in less_luck),
            estimate(group.accuracy, ".1f"),
            f"{group.counted(Mark.BLUNDER):.1f}",
            *(f"{group.counted(count):.1f}" for count in counts),
        )
    return table


def _document(judged: JudgedMatches, by: By) -> dict[str, object]:
    groups = [
        {
            "name": name,
            "sides": len(group.sides),
            "result": group.result.document,
            "withoutLuck": group.without_luck and group.without_luck.document,
            "accuracy": group.accuracy and group.accuracy.document,
            "luck": group.luck.document,
            "luckWithResult": group.luck_with_result,
            "perMatch": {
                count: group.counted(count) for count in (*map(str, Mark), *group.sides[0].counts)
            },
        }
        for name, group in judged.groups(by).items()
    ]
    ratings = {
        name: {"plain": asdict(plain.rounded), "lessLuck": less and asdict(less.rounded)}
        for name, (plain, less) in judged.rated.items()
    }
    told = {"matches": judged.newest, "judge": judged.judge.name, "unit": judged.judge.unit}
    return {**told, "groups": groups, "ratings": ratings}


_FOLDER = Path(__file__).with_name("page")
LUCKY = 10  # matches that the cards decided, as many as are told


def page(
    title: str, log: MatchReader, records: Sequence[MatchRecord], judged: JudgedMatches
) -> str:
    """The page of these matches, all of which are counted, and the judgement of some."""
    played, judge = list(_played(log, records, judged.judge)), judged.judge
    moves = sum(sum(facts.moves) for _, facts in played)
    told = sorted(facts.began for _, facts in played if facts.began is not None)
    began = f", {told[0]:%Y-%m-%d %H:%M} to {told[-1]:%Y-%m-%d %H:%M} UTC" if told else ""
    won = [(match, side) for match, sides in judged.matches for side in sides if side.result == 1]
    won.sort(key=lambda one: one[1].result - one[1].luck)  # who deserved it least first
    lucky = [one for one in won if one[1].result - one[1].luck < 1 / 2][:LUCKY]
    template = pages.environment(FileSystemLoader(_FOLDER)).get_template("stats.jinja")
    return template.render(
        alone=alone((pages.FOLDER / "contest.css").read_text(encoding="utf-8")),
        site=Site("Cardsharp"),
        title=title,
        facts=f"{len(records):,} matches, {moves:,} moves{began}",
        charts=charts(played),
        groups=list(judged.groups(By.STRATEGY).items()),
        lucky=lucky if judge.total else (),
        judged=len(judged.matches),
        newest=judged.newest,
        judge=judge.name,
        unit=judge.unit,
        percent=bool(judge.total),
        rated=judged.rated,
        estimate=lambda found: estimate(found, judge.form),
        signed=lambda value: amount(f"+{judge.form.lstrip('+')}", value),
        amount=lambda value: amount(judge.form, value),
    )


def estimate(found: Estimate | None, form: str) -> str:
    """A mean with the margin of its interval; shares as per cent, without the sign of it."""
    if found is None:
        return "-"
    mean, margin = amount(form, found.mean), found.within.margin
    within = f" ± {amount(form.removeprefix('+'), margin)}" if isfinite(margin) else ""
    return f"{mean}{within}".replace(" %", "")


def _played(log: MatchReader, records: Sequence[MatchRecord], judge: Judge) -> Iterator[Played]:
    """The matches as charts count them; one whose moves cannot be read is left out."""
    for listed in each(records, "counting"):
        with suppress(StoreError):
            record = log.match(listed.match_id) or listed
            header, outcome = header_of(record), outcome_of(record) or Outcome()
            counts = judge.counts(log.moves(listed.match_id))
            facts = Facts(
                points=outcome.scores or (),
                winner=outcome.winner,
                seconds=0.0,
                turns=outcome.turns,
                busts=counts.get("busts", ()),
                late=counts.get("time-outs", ()),
                banked=counts.get("banked", ()),
                moves=counts.get("moves", ()),
                autopicks=counts.get("autopicks", ()),
                began=record.started if record.started.timestamp() else None,
            )
            names = outcome.names or tuple(map(header.called, range(len(header.players))))
            yield Played(names, facts)
