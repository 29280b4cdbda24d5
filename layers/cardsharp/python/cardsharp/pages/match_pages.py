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

from cardsharp.analysis.replay import StoredDecision, StoredOption
from cardsharp.pages.analysis_view import AnalysisView
from cardsharp.pages.assets import bundled_script, read_asset
from cardsharp.pages.board_renderer import NOTHING
from cardsharp.pages.rendered_match import (
    RenderedBranch,
    RenderedMatch,
    RenderedStep,
    flatten_branches,
)
from cardsharp.pages.templates import SiteInfo, standalone_page, template_environment
from cardsharp.play.game import Game
from cardsharp.play.strategy import format_percent, ranked
from cardsharp.store.match_log import MatchStatus

_MAX_OPTIONS = (
    8  # options of a decision that are shown, and the one that was chosen: Blef weighs up to 88
)


class MatchListColumn(NamedTuple):
    """A column of a list.

    The class `num` is for figures; a `spare` column is left out on narrow screens.
    """

    name: str
    css_class: str = ""


class MatchListRow(NamedTuple):
    """A match in a list: where it leads, and a cell for each column; Markup is taken as HTML."""

    href: str
    is_live: bool
    players: str
    cells: tuple[str, ...]


def match_list_page(
    site: SiteInfo,
    columns: Sequence[MatchListColumn],
    rows: Iterable[MatchListRow],
    filters: Markup = NOTHING,
    older: str = "",
) -> str:
    """Return a page of matches, the newest first; `older` links to the next page."""
    context = {"columns": columns, "rows": list(rows), "filters": filters, "older": older}
    return _page("list.html", **context, site=site, alone=None)


def filters_fragment(day: date | None, status: MatchStatus | None) -> Markup:
    """Render the filters of a match list: the day and the status."""
    return _render_fragment("filters.html", day=day, status=status, states=[*MatchStatus])


def message_page(site: SiteInfo, message: str) -> str:
    """Return a page with a message instead of content."""
    return _page("message.html", message=message, site=site, alone=None)


def login_page(site: SiteInfo, path: str, reason: str = "") -> str:
    """A page that asks for the password, which is sent to `path`, and says why it is asked for."""
    return _page("door.html", site=site, path=path, why=reason, alone=None)


class ContinueForm(NamedTuple):
    """Data of the form that continues a match: the CSRF token and the choice of opponents."""

    csrf_token: str
    opponent_names: Callable[[Game], Sequence[str]]


def match_page(  # noqa: PLR0913 - the page, and what may be done on it
    site: SiteInfo,
    match: RenderedMatch,
    step_number: int | None = None,
    analysis: AnalysisView | None = None,
    seat: Markup = NOTHING,
    *,
    branches: Sequence[RenderedBranch] = (),
    continue_form: ContinueForm | None = None,
) -> str:
    """Return the page of a match at a step, counted from 1; without a number at the last one.

    Without script the page shows the analysis only if it is passed. `seat` has the choices of a
    user who plays on the page. The page lists `branches`, and `continue_form` starts more.
    """
    context = {**_context(site, match, step_number, analysis), "seat": seat}
    return _page("match.html", **context, branches=branches, play_on=continue_form)


def steps_json(match: RenderedMatch, start: int = 0) -> dict[str, object]:
    """Return the steps from `start` on for the page's script; the first has the full board."""
    frames: list[dict[str, object]] = [
        {
            "turn": frame.step.turn,
            "seat": frame.step.seat,
            "who": frame.player_name,
            "happened": frame.description_without_player,
            "ours": frame.step.decision is not None,
            "parts": {**frame.changed_parts, "thought": _thought(frame)},
            "at": at,
        }
        for frame, at in zip(match.steps[start:], match.step_times[start:], strict=True)
    ]
    if frames and start:
        frames[0]["parts"] = {**match.board_at(start), "thought": _thought(match.steps[start])}
    return {
        "from": start,
        "total": len(match.steps),
        "over": match.is_over,
        "steps": frames,
        "facts": _facts(match),
    }


def analysis_json(match: RenderedMatch, analysis: AnalysisView | None) -> dict[str, object]:
    """The analysis of a match, as the page's script reads it; empty where there is none."""
    if analysis is None:
        return {}
    parts = _analysis_parts(match, analysis, len(match.steps), "#")
    return {
        "curve": parts["curve"],
        "summary": parts["summary"],
        "worths": analysis.curve_values_as_text,
        "judged": {
            step_number: _judged(match, analysis, step_number) for step_number in analysis.decisions
        },
    }


def standalone_match_page(
    match: RenderedMatch,
    analysis: AnalysisView | None = None,
    branches: Sequence[RenderedBranch] = (),
) -> str:
    """A match's page as one file that loads nothing; of branches the steps from their beginning."""
    document = {
        **steps_json(match),
        "analysis": analysis_json(match, analysis),
        "branches": {
            rendered_branch.match.record.match_id: {
                **steps_json(rendered_branch.match, rendered_branch.branch.step - 1),
                "of": rendered_branch.branch.of,
            }
            for rendered_branch in flatten_branches(branches)
        },
    }
    data = gzip.compress(json.dumps(document, separators=(",", ":")).encode(), mtime=0)
    packed = base64.b64encode(data).decode()
    page = standalone_page(read_asset("viewer.css"), bundled_script(), packed)
    context = {**_context(SiteInfo("Cardsharp"), match, None, analysis, "#"), "alone": page}
    return _page("match.html", **context, branches=branches, play_on=None)


def _context(
    site: SiteInfo,
    match: RenderedMatch,
    step_number: int | None,
    analysis: AnalysisView | None,
    step_link: str = "",
) -> dict[str, object]:
    step_link = step_link or ("?step=" if analysis is None else "?analysis=yes&step=")
    total = len(match.steps)
    at = total if step_number is None else max(1, min(step_number, total))
    return {
        "site": site,
        "match": match,
        "at": at,
        "frame": match.steps[at - 1] if total else None,
        "time": match.step_times[at - 1] if total else "",
        "table": match.board_at(at - 1),
        "thought": _thought(match.steps[at - 1]) if total else "",
        "turns": _turns(match),
        "facts": _facts(match),
        "jumps": _jumps(match, at),
        "alone": None,
        "seat": NOTHING,
        "step_link": step_link,
        "told": _analysis_parts(match, analysis, at, step_link),
    }


def _analysis_parts(
    match: RenderedMatch, analysis: AnalysisView | None, at: int, step_link: str
) -> dict[str, Markup]:
    """Return the fragments of the analysis for the match and for the current step."""
    if analysis is None:
        return dict.fromkeys(("curve", "summary", "judged"), NOTHING)
    values = {"explained": analysis, "at": at, "step_link": step_link}
    return {
        "curve": _render_fragment("curve.html", **values),
        "summary": _render_fragment("summary.html", **values),
        "judged": _judged(match, analysis, at),
    }


def _judged(match: RenderedMatch, analysis: AnalysisView, step_number: int) -> Markup:
    """Return the judge's evaluation of a decision as HTML, empty if the step has none.

    The judge's options are left out if the judge itself made the decision, because the step
    already lists them.
    """
    decision = analysis.decisions.get(step_number)
    if decision is None:
        return NOTHING
    step_decision = match.steps[step_number - 1].step.decision
    is_judge_strategy = (
        step_decision is not None and step_decision.strategy == analysis.analysis.judge
    )
    options = [] if is_judge_strategy else _options(decision.options, decision.action)
    risk = "" if decision.risk is None else format_percent(decision.risk)
    values = {"told": decision, "explained": analysis, "risk": risk, "options": options}
    return _render_fragment("judged.html", **values, chosen=decision.action)


def _render_fragment(template: str, **values: object) -> Markup:
    """A piece of a page; what is put into it is escaped there."""
    return Markup(_page(template, **values))  # noqa: S704


_environment = cache(template_environment)


def _page(template: str, **values: object) -> str:
    return _environment().get_template(template).render(values)


def _turns(match: RenderedMatch) -> list[tuple[int, str, list[tuple[int, RenderedStep]]]]:
    """The numbered steps by turn, with who moved in it."""
    by_turn = groupby(enumerate(match.steps, 1), lambda numbered: numbered[1].step.turn)
    turns = [(turn, list(steps)) for turn, steps in by_turn]
    return [(turn, steps[0][1].player_name, steps) for turn, steps in turns]


def _jumps(match: RenderedMatch, at: int) -> dict[str, int]:
    """Return the step to which each navigation button leads, by step and by turn."""
    starts = [steps[0][0] for _, _, steps in _turns(match)]
    earlier_starts = [start for start in starts if start < at]
    total = len(match.steps)
    return {
        "first": 1,
        "turn-back": earlier_starts[-1] if earlier_starts else 1,
        "back": max(1, at - 1),
        "forward": min(total, at + 1),
        "turn-forward": next((start for start in starts if start > at), total),
        "last": total,
    }


def _facts(match: RenderedMatch) -> str:
    """Return the summary of a match in one line: game, time, tags and result."""
    header = match.header
    facts = [match.game.title, f"{match.record.started_at:%Y-%m-%d %H:%M} UTC"]
    if header.tags:
        facts.append(" ".join(header.tags))
    facts.append(_outcome_text(match) if match.is_over else "live")
    return " · ".join(facts)


def _outcome_text(match: RenderedMatch) -> str:
    outcome = match.outcome
    if outcome is None:
        return "over"
    score = "" if outcome.scores is None else f" {' : '.join(map(str, outcome.scores))}"
    if outcome.winner is None:
        return f"{outcome.result}{score}"
    return f"{match.header.name(outcome.winner)} won{score}"


def _thought(frame: RenderedStep) -> Markup:
    """Our decision in a step: what was weighed, and why it was made; empty for anybody else's."""
    return NOTHING if frame.step.decision is None else decision_fragment(frame.step.decision)


def decision_fragment(decision: StoredDecision) -> Markup:
    """A decision: what was weighed, and why it was made."""
    options = _options(decision.options, decision.action)
    return _render_fragment(
        "thought.html", thought=decision, options=options, chosen=decision.action
    )


def _options(weighed: Sequence[StoredOption], chosen: str) -> list[tuple[StoredOption, str, int]]:
    """Return the options to show, best first: each with its value as text and its bar length.

    The bar is in per cent of the largest absolute value. The chosen option is always included.
    """
    displayed = [
        option
        for rank, option in enumerate(ranked(weighed))
        if rank < _MAX_OPTIONS or option.action == chosen
    ]
    max_value = max((abs(option.value or 0.0) for option in displayed), default=0.0) or 1.0
    return [
        (option, _worth(option), round(100 * max(0.0, option.value or 0.0) / max_value))
        for option in displayed
    ]


def _worth(option: StoredOption) -> str:
    if option.value is None:
        return ""
    return format_percent(option.value) if option.unit == "%" else f"{option.value:.2f}"


def summary_fragment(analysis: AnalysisView, step_link: str) -> Markup:
    """Both players' accuracy and the decisions that are marked, each a link to its step."""
    return _render_fragment("summary.html", explained=analysis, step_link=step_link)
