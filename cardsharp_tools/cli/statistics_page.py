"""Page of statistics, which `cardsharp stats --html` writes."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from jinja2 import FileSystemLoader

from cardsharp.analysis.judge import Judge
from cardsharp.analysis.replay import Outcome, header_of, outcome_of
from cardsharp.contest.match_host import MatchResultFacts
from cardsharp.contest.view import pages
from cardsharp.contest.view.match_charts import FinishedMatch, build_match_charts
from cardsharp.errors import StoreError
from cardsharp.pages.templates import SiteInfo, standalone_page
from cardsharp.store.match_log import MatchReader, MatchRecord
from cardsharp_tools.lab.match_statistics import GroupBy, JudgedMatchSet, format_estimate
from cardsharp_tools.terminal.match_printer import judge_value_text
from cardsharp_tools.terminal.progress import track

_TEMPLATE_FOLDER = Path(__file__).with_name("templates")
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
