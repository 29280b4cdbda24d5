"""The pages as text: a list of matches, a match, and a match as one file that needs no server."""

import base64
import gzip
import json
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import cache
from itertools import groupby
from typing import NamedTuple

from markupsafe import Markup

from cardsharp.cloud.ports import Status
from cardsharp.game import Game
from cardsharp.replay import Thought, Weighed
from cardsharp.strategy import percent, ranked
from cardsharp.viewer.assets import asset, whole_script
from cardsharp.viewer.base import Site, alone, templates
from cardsharp.viewer.board import NOTHING
from cardsharp.viewer.explained import Explained
from cardsharp.viewer.shown import DrawnBranch, DrawnMatch, Frame, every

_MOST = 8  # options of a decision that are shown, and the one that was chosen: Blef weighs up to 88


class Column(NamedTuple):
    """A column of a list: `num` has figures, `spare` is left out where the screen is narrow."""

    name: str
    kind: str = ""


class Row(NamedTuple):
    """A match in a list: where it leads, and a cell for each column; Markup is taken as HTML."""

    link: str
    live: bool
    players: str
    cells: tuple[str, ...]


def list_page(
    site: Site,
    columns: Sequence[Column],
    rows: Iterable[Row],
    filters: Markup = NOTHING,
    older: str = "",
) -> str:
    """A list of matches, the newest first; `older` leads to those that did not fit."""
    told = {"columns": columns, "rows": list(rows), "filters": filters, "older": older}
    return _page("list.html", **told, site=site, alone=None)


def filters_part(day: date | None, status: Status | None) -> Markup:
    """By what the matches of a list are chosen."""
    return _made("filters.html", day=day, status=status, states=[*Status])


def message_page(site: Site, message: str) -> str:
    """A page that says why there is nothing else."""
    return _page("message.html", message=message, site=site, alone=None)


def door_page(site: Site, path: str, why: str = "") -> str:
    """A page that asks for the password, which is sent to `path`, and says why it is asked for."""
    return _page("door.html", site=site, path=path, why=why, alone=None)


class PlayOn(NamedTuple):
    """What a form needs by which a match is gone on with: its secret, and against whom."""

    token: str
    players: Callable[[Game], Sequence[str]]


def match_page(  # noqa: PLR0913 - the page, and what may be done on it
    site: Site,
    match: DrawnMatch,
    number: int | None = None,
    analysis: Explained | None = None,
    seat: Markup = NOTHING,
    *,
    branches: Sequence[DrawnBranch] = (),
    play_on: PlayOn | None = None,
) -> str:
    """The page of a match at the step of that number, which counts from 1; else at the last one.

    Without script the analysis is there only where it is given. `seat` has the choices of whoever
    plays it on the page. It lists `branches`, and how more are begun.
    """
    told = {**_context(site, match, number, analysis), "seat": seat}
    return _page("match.html", **told, branches=branches, play_on=play_on)


def steps_document(match: DrawnMatch, start: int = 0) -> dict[str, object]:
    """The steps from one on, as the page's script reads them; the first has the whole table."""
    frames: list[dict[str, object]] = [
        {
            "turn": frame.step.turn,
            "seat": frame.step.seat,
            "who": frame.who,
            "happened": frame.happened,
            "ours": frame.step.ours is not None,
            "parts": {**frame.parts, "thought": _thought(frame)},
            "at": at,
        }
        for frame, at in zip(match.frames[start:], match.times[start:], strict=True)
    ]
    if frames and start:
        frames[0]["parts"] = {**match.table(start), "thought": _thought(match.frames[start])}
    return {
        "from": start,
        "total": len(match.frames),
        "over": match.over,
        "steps": frames,
        "facts": _facts(match),
    }


def analysis_document(match: DrawnMatch, analysis: Explained | None) -> dict[str, object]:
    """The analysis of a match, as the page's script reads it; empty where there is none."""
    if analysis is None:
        return {}
    told = _analysis_parts(match, analysis, len(match.frames), "#")
    return {
        "curve": told["curve"],
        "summary": told["summary"],
        "worths": analysis.worths,
        "judged": {number: _judged(match, analysis, number) for number in analysis.decisions},
    }


def match_file(
    match: DrawnMatch, analysis: Explained | None = None, branches: Sequence[DrawnBranch] = ()
) -> str:
    """A match's page as one file that loads nothing; of branches the steps from their beginning."""
    document = {
        **steps_document(match),
        "analysis": analysis_document(match, analysis),
        "branches": {
            one.match.record.match_id: {
                **steps_document(one.match, one.branch.step - 1),
                "of": one.branch.of,
            }
            for one in every(branches)
        },
    }
    data = gzip.compress(json.dumps(document, separators=(",", ":")).encode(), mtime=0)
    packed = base64.b64encode(data).decode()
    page = alone(asset("viewer.css"), whole_script(), packed)
    told = {**_context(Site("Cardsharp"), match, None, analysis, "#"), "alone": page}
    return _page("match.html", **told, branches=branches, play_on=None)


def _context(
    site: Site,
    match: DrawnMatch,
    number: int | None,
    analysis: Explained | None,
    step_link: str = "",
) -> dict[str, object]:
    step_link = step_link or ("?step=" if analysis is None else "?analysis=yes&step=")
    total = len(match.frames)
    at = total if number is None else max(1, min(number, total))
    return {
        "site": site,
        "match": match,
        "at": at,
        "frame": match.frames[at - 1] if total else None,
        "time": match.times[at - 1] if total else "",
        "table": match.table(at - 1),
        "thought": _thought(match.frames[at - 1]) if total else "",
        "turns": _turns(match),
        "facts": _facts(match),
        "jumps": _jumps(match, at),
        "alone": None,
        "seat": NOTHING,
        "step_link": step_link,
        "told": _analysis_parts(match, analysis, at, step_link),
    }


def _analysis_parts(
    match: DrawnMatch, analysis: Explained | None, at: int, step_link: str
) -> dict[str, Markup]:
    """What the analysis says of the match, and of the step at which it is shown."""
    if analysis is None:
        return dict.fromkeys(("curve", "summary", "judged"), NOTHING)
    values = {"explained": analysis, "at": at, "step_link": step_link}
    return {
        "curve": _made("curve.html", **values),
        "summary": _made("summary.html", **values),
        "judged": _judged(match, analysis, at),
    }


def _judged(match: DrawnMatch, analysis: Explained, number: int) -> Markup:
    """What the judge says of a decision; its options only where it has not weighed them itself."""
    told = analysis.decisions.get(number)
    if told is None:
        return NOTHING
    ours = match.frames[number - 1].step.ours
    own = ours is not None and ours.strategy == analysis.analysis.judge
    options = [] if own else _options(told.options, told.action)
    risk = "" if told.risk is None else percent(told.risk)
    values = {"told": told, "explained": analysis, "risk": risk, "options": options}
    return _made("judged.html", **values, chosen=told.action)


def _made(template: str, **values: object) -> Markup:
    """A piece of a page; what is put into it is escaped there."""
    return Markup(_page(template, **values))  # noqa: S704


_environment = cache(templates)


def _page(template: str, **values: object) -> str:
    return _environment().get_template(template).render(values)


def _turns(match: DrawnMatch) -> list[tuple[int, str, list[tuple[int, Frame]]]]:
    """The numbered steps by turn, with who moved in it."""
    by_turn = groupby(enumerate(match.frames, 1), lambda numbered: numbered[1].step.turn)
    turns = [(turn, list(steps)) for turn, steps in by_turn]
    return [(turn, steps[0][1].who, steps) for turn, steps in turns]


def _jumps(match: DrawnMatch, at: int) -> dict[str, int]:
    """Where the buttons lead: by step and by turn."""
    starts = [steps[0][0] for _, _, steps in _turns(match)]
    before = [start for start in starts if start < at]
    total = len(match.frames)
    return {
        "first": 1,
        "turn-back": before[-1] if before else 1,
        "back": max(1, at - 1),
        "forward": min(total, at + 1),
        "turn-forward": next((start for start in starts if start > at), total),
        "last": total,
    }


def _facts(match: DrawnMatch) -> str:
    """What there is to say of a match in one line."""
    header = match.header
    facts = [match.game.title, f"{match.record.started:%Y-%m-%d %H:%M} UTC"]
    if header.tags:
        facts.append(" ".join(header.tags))
    facts.append(_ended(match) if match.over else "live")
    return " · ".join(facts)


def _ended(match: DrawnMatch) -> str:
    found = match.outcome
    if found is None:
        return "over"
    score = "" if found.scores is None else f" {' : '.join(map(str, found.scores))}"
    if found.winner is None:
        return f"{found.result}{score}"
    return f"{match.header.name(found.winner)} won{score}"


def _thought(frame: Frame) -> Markup:
    """Our decision in a step: what was weighed, and why it was made; empty for anybody else's."""
    return NOTHING if frame.step.ours is None else thought_part(frame.step.ours)


def thought_part(thought: Thought) -> Markup:
    """A decision: what was weighed, and why it was made."""
    options = _options(thought.options, thought.action)
    return _made("thought.html", thought=thought, options=options, chosen=thought.action)


def _options(weighed: Sequence[Weighed], chosen: str) -> list[tuple[Weighed, str, int]]:
    """What was weighed, the best first: with its worth in words, and in per cent of the best."""
    shown = [
        one for place, one in enumerate(ranked(weighed)) if place < _MOST or one.action == chosen
    ]
    most = max((abs(one.value or 0.0) for one in shown), default=0.0) or 1.0
    return [(one, _worth(one), round(100 * max(0.0, one.value or 0.0) / most)) for one in shown]


def _worth(option: Weighed) -> str:
    if option.value is None:
        return ""
    return percent(option.value) if option.unit == "%" else f"{option.value:.2f}"


def summary_part(analysis: Explained, step_link: str) -> Markup:
    """Both players' accuracy and the decisions that are marked, each a link to its step."""
    return _made("summary.html", explained=analysis, step_link=step_link)
