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
from cardsharp.core.time_format import format_start
from cardsharp.pages.analysis_view import AnalysisView
from cardsharp.pages.assets import BASE_ASSETS, bundled_script
from cardsharp.pages.board_renderer import EMPTY_MARKUP
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
    filters: Markup = EMPTY_MARKUP,
    older: str = "",
) -> str:
    """Return a page of matches, the newest first; `older` links to the next page."""
    context = {"columns": columns, "rows": list(rows), "filters": filters, "older": older}
    return _render_page("list.html", **context, site=site, alone=None)


def filters_fragment(day: date | None, status: MatchStatus | None) -> Markup:
    """Render the filters of a match list: the day and the status."""
    return _render_fragment("filters.html", day=day, status=status, states=[*MatchStatus])


def message_page(site: SiteInfo, message: str, *, links_to_matches: bool = True) -> str:
    """Return a page with a message instead of content, and a link to all matches."""
    context = {"message": message, "links_to_matches": links_to_matches}
    return _render_page("message.html", **context, site=site, alone=None)


def login_page(site: SiteInfo, path: str, reason: str = "") -> str:
    """A page that asks for the password, which is sent to `path`, and says why it is asked for."""
    return _render_page("door.html", site=site, path=path, why=reason, alone=None)


class ContinueForm(NamedTuple):
    """Data of the form that continues a match: the CSRF token and the choice of opponents."""

    csrf_token: str
    opponent_names: Callable[[Game], Sequence[str]]


def match_page(  # noqa: PLR0913 - the page, and what may be done on it
    site: SiteInfo,
    match: RenderedMatch,
    step_number: int | None = None,
    analysis: AnalysisView | None = None,
    seat: Markup = EMPTY_MARKUP,
    *,
    branches: Sequence[RenderedBranch] = (),
    continue_form: ContinueForm | None = None,
) -> str:
    """Return the page of a match at a step, counted from 1; without a number at the last one.

    Without script the page shows the analysis only if it is passed. `seat` has the choices of a
    user who plays on the page. The page lists `branches`, and `continue_form` starts more.
    """
    context = {**_build_match_context(site, match, step_number, analysis), "seat": seat}
    return _render_page("match.html", **context, branches=branches, play_on=continue_form)


def steps_json(match: RenderedMatch, start: int = 0) -> dict[str, object]:
    """Return the steps from `start` on for the page's script; the first has the full board."""
    frames: list[dict[str, object]] = [
        {
            "turn": frame.step.turn,
            "seat": frame.step.seat,
            "who": frame.player_name,
            "happened": frame.description_without_player,
            "ours": frame.step.decision is not None,
            "parts": {**frame.changed_parts, "thought": _render_decision(frame)},
            "at": at,
        }
        for frame, at in zip(match.steps[start:], match.step_times[start:], strict=True)
    ]
    if frames and start:
        frames[0]["parts"] = {
            **match.board_at(start),
            "thought": _render_decision(match.steps[start]),
        }
    return {
        "from": start,
        "total": len(match.steps),
        "over": match.is_over,
        "steps": frames,
        "facts": _summarize_match(match),
    }


def analysis_json(match: RenderedMatch, analysis: AnalysisView | None) -> dict[str, object]:
    """The analysis of a match, as the page's script reads it; empty where there is none."""
    if analysis is None:
        return {}
    parts = _render_analysis(match, analysis, len(match.steps), "#")
    return {
        "curve": parts["curve"],
        "summary": parts["summary"],
        "worths": analysis.curve_values_as_text,
        "judged": {
            step_number: _render_judged_decision(match, analysis, step_number)
            for step_number in analysis.decisions
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
    page = standalone_page(BASE_ASSETS.read("viewer.css"), bundled_script(), packed)
    context = {
        **_build_match_context(SiteInfo("Cardsharp"), match, None, analysis, "#"),
        "alone": page,
    }
    return _render_page("match.html", **context, branches=branches, play_on=None)


def _build_match_context(
    site: SiteInfo,
    match: RenderedMatch,
    step_number: int | None,
    analysis: AnalysisView | None,
    link_prefix: str = "",
) -> dict[str, object]:
    link_prefix = link_prefix or ("?step=" if analysis is None else "?analysis=yes&step=")
    total = len(match.steps)
    at = total if step_number is None else max(1, min(step_number, total))
    return {
        "site": site,
        "match": match,
        "at": at,
        "frame": match.steps[at - 1] if total else None,
        "time": match.step_times[at - 1] if total else "",
        "table": match.board_at(at - 1),
        "thought": _render_decision(match.steps[at - 1]) if total else "",
        "turns": _group_steps_by_turn(match),
        "facts": _summarize_match(match),
        "jumps": _find_navigation_steps(match, at),
        "alone": None,
        "seat": EMPTY_MARKUP,
        "step_link": link_prefix,
        "told": _render_analysis(match, analysis, at, link_prefix),
    }


def _render_analysis(
    match: RenderedMatch, analysis: AnalysisView | None, at: int, step_link: str
) -> dict[str, Markup]:
    """Render the fragments of the analysis for the match and for the current step."""
    if analysis is None:
        return dict.fromkeys(("curve", "summary", "judged"), EMPTY_MARKUP)
    values = {"explained": analysis, "at": at, "step_link": step_link}
    return {
        "curve": _render_fragment("curve.html", **values),
        "summary": _render_fragment("summary.html", **values),
        "judged": _render_judged_decision(match, analysis, at),
    }


def _render_judged_decision(
    match: RenderedMatch, analysis: AnalysisView, step_number: int
) -> Markup:
    """Render the judge's evaluation of a decision, empty if the step has none.

    The judge's options are left out if the judge itself made the decision, because the step
    already lists them.
    """
    decision = analysis.decisions.get(step_number)
    if decision is None:
        return EMPTY_MARKUP
    step_decision = match.steps[step_number - 1].step.decision
    is_judge_strategy = (
        step_decision is not None and step_decision.strategy == analysis.analysis.judge
    )
    options = [] if is_judge_strategy else _rank_options(decision.options, decision.action)
    risk = "" if decision.risk is None else format_percent(decision.risk)
    values = {"told": decision, "explained": analysis, "risk": risk, "options": options}
    return _render_fragment("judged.html", **values, chosen=decision.action)


def _render_fragment(template: str, **values: object) -> Markup:
    """Render a piece of a page; its values are escaped by the template."""
    return Markup(_render_page(template, **values))  # noqa: S704


_environment = cache(template_environment)  # at most one entry


def _render_page(template: str, **values: object) -> str:
    return _environment().get_template(template).render(values)


def _group_steps_by_turn(
    match: RenderedMatch,
) -> list[tuple[int, str, list[tuple[int, RenderedStep]]]]:
    """Return the numbered steps of each turn, with the turn's number and player."""
    by_turn = groupby(enumerate(match.steps, 1), lambda numbered: numbered[1].step.turn)
    turns = [(turn, list(steps)) for turn, steps in by_turn]
    return [(turn, steps[0][1].player_name, steps) for turn, steps in turns]


def _find_navigation_steps(match: RenderedMatch, at: int) -> dict[str, int]:
    """Return the step to which each navigation button leads, by step and by turn."""
    starts = [steps[0][0] for _, _, steps in _group_steps_by_turn(match)]
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


def _summarize_match(match: RenderedMatch) -> str:
    """Return the summary of a match in one line: game, time, tags and result."""
    header = match.header
    facts = [match.game.title, format_start(match.record.started_at)]
    if header.tags:
        facts.append(" ".join(header.tags))
    facts.append(_describe_outcome(match) if match.is_over else "live")
    return " · ".join(facts)


def _describe_outcome(match: RenderedMatch) -> str:
    outcome = match.outcome
    if outcome is None:
        return "over"
    score = "" if outcome.scores is None else f" {' : '.join(map(str, outcome.scores))}"
    if outcome.winner is None:
        return f"{outcome.result}{score}"
    return f"{match.header.player_name(outcome.winner)} won{score}"


def _render_decision(frame: RenderedStep) -> Markup:
    """Render our decision in a step; empty for a step of another player."""
    return EMPTY_MARKUP if frame.step.decision is None else decision_fragment(frame.step.decision)


def decision_fragment(decision: StoredDecision) -> Markup:
    """Return a decision as HTML: the weighed options, the choice, and its reason."""
    options = _rank_options(decision.options, decision.action)
    return _render_fragment(
        "thought.html", thought=decision, options=options, chosen=decision.action
    )


def options_fragment(decision: StoredDecision) -> Markup:
    """Return the weighed options of a decision as an HTML table; "" if there are none."""
    options = _rank_options(decision.options, decision.action)
    if not options:
        return EMPTY_MARKUP
    return _render_fragment("options.html", options=options, chosen=decision.action)


def _rank_options(
    options: Sequence[StoredOption], chosen: str
) -> list[tuple[StoredOption, str, int]]:
    """Return the options to show, best first: each with its value as text and its bar length.

    The bar is in per cent of the largest absolute value. The chosen option is always included.
    """
    displayed = [
        option
        for rank, option in enumerate(ranked(options))
        if rank < _MAX_OPTIONS or option.action == chosen
    ]
    max_value = max((abs(option.value or 0.0) for option in displayed), default=0.0) or 1.0
    return [
        (option, _format_value(option), round(100 * max(0.0, option.value or 0.0) / max_value))
        for option in displayed
    ]


def _format_value(option: StoredOption) -> str:
    if option.value is None:
        return ""
    text = format_percent(option.value) if option.unit == "%" else f"{option.value:.2f}"
    return text.replace("-", "\N{MINUS SIGN}")


def summary_fragment(analysis: AnalysisView, step_link: str) -> Markup:
    """Return the HTML of an analysis in short: accuracy and marked decisions.

    The accuracy is both players'; each decision is a link to its step.
    """
    return _render_fragment("summary.html", explained=analysis, step_link=step_link)
