"""`cardsharp stats --html`: charts of many matches, and who deserved to win, as one file."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from pathlib import Path

from jinja2 import FileSystemLoader

from cardsharp.cloud.ports import MatchReader, MatchRecord, MoveRecord
from cardsharp.contest import pages
from cardsharp.contest.charts import Played, charts
from cardsharp.contest.facts import Facts
from cardsharp.errors import StoreError
from cardsharp.judge import Judge
from cardsharp.replay import Outcome, header_of, outcome_of
from cardsharp.viewer.base import Site, alone
from workbench.lab.analysed import AnalysedSide, Estimate, Group, TwoRatings
from workbench.show.decisions import amount
from workbench.show.progress import Bar

_FOLDER = Path(__file__).with_name("page")

LUCKY = 10
"""Matches that the cards decided, as many as are told."""


@dataclass(frozen=True)
class JudgedMatches:
    """Those of the `newest` matches that could be judged, and their sides in groups by player."""

    newest: int
    matches: Sequence[tuple[str, Sequence[AnalysedSide]]]
    groups: Mapping[str, Group]
    judge: Judge
    rated: Mapping[str, TwoRatings]


def page(
    title: str, log: MatchReader, records: Sequence[MatchRecord], judged: JudgedMatches
) -> str:
    """The page of these matches, all of which are counted, and the judgement of some."""
    played, judge = list(_played(log, records, judged.judge)), judged.judge
    moves = sum(sum(facts.moves) for _, facts in played)
    told = sorted(facts.began for _, facts in played if facts.began is not None)
    began = f", {told[0]:%Y-%m-%d %H:%M} to {told[-1]:%Y-%m-%d %H:%M} UTC" if told else ""
    template = pages.environment(FileSystemLoader(_FOLDER)).get_template("stats.jinja")
    return template.render(
        alone=alone((pages.FOLDER / "contest.css").read_text(encoding="utf-8")),
        site=Site("Cardsharp"),
        title=title,
        facts=f"{len(records):,} matches, {moves:,} moves{began}",
        charts=charts(played),
        groups=list(judged.groups.items()),
        lucky=_lucky(judged) if judge.total else (),
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


def _known(moment: datetime) -> datetime | None:
    """The moment, but not one that stands for none."""
    return moment if moment.timestamp() else None


def estimate(found: Estimate | None, form: str) -> str:
    """A mean with the margin of its interval; shares as per cent, without the sign of it."""
    if found is None:
        return "-"
    mean, margin = amount(form, found.mean), found.within.margin
    within = f" ± {amount(form.removeprefix('+'), margin)}" if isfinite(margin) else ""
    return f"{mean}{within}".replace(" %", "")


def _lucky(judged: JudgedMatches) -> list[tuple[str, AnalysedSide]]:
    """The winners' sides that deserved it least, the least first."""
    won = [(match, side) for match, sides in judged.matches for side in sides if side.result == 1]
    won.sort(key=lambda one: one[1].result - one[1].luck)
    return [(match, side) for match, side in won if side.result - side.luck < 1 / 2][:LUCKY]


def _played(log: MatchReader, records: Sequence[MatchRecord], judge: Judge) -> Iterator[Played]:
    """The matches as charts count them; one whose moves cannot be read is left out."""
    with Bar(len(records), "counting") as bar:
        for record in records:
            with suppress(StoreError):
                whole = log.match(record.match_id) or record, log.moves(record.match_id)
                yield _facts(*whole, judge)
            bar.advance()


def _facts(record: MatchRecord, moves: Sequence[MoveRecord], judge: Judge) -> Played:
    header, outcome = header_of(record), outcome_of(record) or Outcome()
    counts = judge.counts(moves)
    return Played(
        outcome.names or tuple(map(header.called, range(len(header.players)))),
        Facts(
            points=outcome.scores or (),
            winner=outcome.winner,
            seconds=0.0,
            turns=outcome.turns,
            busts=counts.get("busts", ()),
            late=counts.get("time-outs", ()),
            banked=counts.get("banked", ()),
            moves=counts.get("moves", ()),
            autopicks=counts.get("autopicks", ()),
            began=_known(record.started),
        ),
    )
