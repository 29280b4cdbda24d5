"""The pages as text: a list of matches, a match, and a match as one file that needs no server."""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from cardsharp.replay import Thought, Weighed
from cardsharp.strategy import percent
from cardsharp.viewer.board import NOTHING
from cardsharp.viewer.shown import Frame, Shown

ASSETS: Mapping[str, str] = {
    "style.css": "text/css; charset=utf-8",
    "match.js": "text/javascript; charset=utf-8",
    "live.js": "text/javascript; charset=utf-8",
    "list.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
"""What the pages load, with the types that they are served as."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of every page that is served: nothing inline, nothing foreign."""

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


_MOST = 8
"""Options of a decision that are shown, and the one that was chosen: Blef weighs up to 88."""


class Site(NamedTuple):
    """Where the pages are served: their name, what leads from page to page, and the assets."""

    name: str
    matches: str = "/matches"
    assets: str = "/page"
    links: tuple[tuple[str, str], ...] = ()


class Row(NamedTuple):
    """A match in a list: where it leads, and its cells by the name of their column."""

    link: str
    live: bool
    players: str
    cells: tuple[str, ...]


def asset(name: str) -> str:
    """The text of a file that pages load."""
    return files("cardsharp.viewer").joinpath("page", name).read_text(encoding="utf-8")


def list_page(
    site: Site,
    columns: Sequence[str],
    rows: Iterable[Row],
    filters: Markup = NOTHING,
    older: str = "",
) -> str:
    """A list of matches, the newest first; `older` leads to those that did not fit."""
    told = {"columns": columns, "rows": list(rows), "filters": filters, "older": older}
    return _environment().get_template("list.html").render(told, site=site, alone=None)


def match_page(site: Site, match: Shown, number: int | None = None) -> str:
    """The page of a match at the step of that number, which counts from 1; else at the last one."""
    return _environment().get_template("match.html").render(**_context(site, match, number))


def steps_document(match: Shown, start: int = 0) -> dict[str, object]:
    """The steps from one on, as the page's script reads them; the first has the whole table."""
    frames = [_frame(frame) for frame in match.frames[start:]]
    if frames and start:
        frames[0]["parts"] = {**match.table(start), **_parts(match.frames[start])}
    return {
        "from": start,
        "total": len(match.frames),
        "over": match.over,
        "steps": frames,
        "facts": _facts(match),
    }


def match_file(match: Shown) -> str:
    """The page of a match as one file, which opens from disk and loads nothing."""
    style, script = asset("style.css"), asset("match.js")
    template = _environment().get_template("match.html")
    data = json.dumps(steps_document(match), ensure_ascii=False, separators=(",", ":"))
    return template.render(
        _context(Site("Cardsharp"), match, None),
        alone={
            "policy": f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}",
            "style": Markup(style),  # noqa: S704 - our own file
            "script": Markup(script),  # noqa: S704 - the same
            "data": Markup(data.replace("<", "\\u003c")),  # noqa: S704 - cannot end its element
        },
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _context(site: Site, match: Shown, number: int | None) -> dict[str, object]:
    total = len(match.frames)
    at = total if number is None else max(1, min(number, total))
    return {
        "site": site,
        "match": match,
        "at": at,
        "frame": _shown_at(match, at),
        "table": match.table(at - 1),
        "thought": _thought(match.frames[at - 1]) if total else "",
        "turns": _turns(match),
        "facts": _facts(match),
        "jumps": _jumps(match, at),
        "alone": None,
    }


def _shown_at(match: Shown, at: int) -> Frame | None:
    return match.frames[at - 1] if match.frames else None


def _turns(match: Shown) -> list[tuple[int, str, list[tuple[int, Frame]]]]:
    """The numbered steps by turn, with who moved in it."""
    turns: list[tuple[int, str, list[tuple[int, Frame]]]] = []
    for number, frame in enumerate(match.frames, 1):
        if not turns or turns[-1][0] != frame.step.turn:
            turns.append((frame.step.turn, frame.who, []))
        turns[-1][2].append((number, frame))
    return turns


def _jumps(match: Shown, at: int) -> dict[str, int]:
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


def _facts(match: Shown) -> str:
    """What there is to say of a match in one line."""
    header, outcome = match.header, match.outcome
    facts = [match.game.title, f"{match.record.started:%Y-%m-%d %H:%M} UTC"]
    if header.tags:
        facts.append(" ".join(header.tags))
    facts.append(_ended(match, outcome) if match.over else "live")
    return " · ".join(facts)


def _ended(match: Shown, outcome: object) -> str:
    found = match.outcome
    if found is None or outcome is None:
        return "over"
    score = "" if found.scores is None else f" {' : '.join(map(str, found.scores))}"
    if found.winner is None:
        return f"{found.result}{score}"
    return f"{match.header.name(found.winner)} won{score}"


def _frame(frame: Frame) -> dict[str, object]:
    step = frame.step
    return {
        "turn": step.turn,
        "seat": step.seat,
        "who": frame.who,
        "happened": frame.happened,
        "ours": step.ours is not None,
        "parts": _parts(frame),
    }


def _parts(frame: Frame) -> dict[str, str]:
    return {**frame.parts, "thought": _thought(frame)}


def _thought(frame: Frame) -> Markup:
    """Our decision in a step: what was weighed, and why it was made; empty for anybody else's."""
    if frame.step.ours is None:
        return NOTHING
    template = _environment().get_template("thought.html")
    return Markup(template.render(thought=frame.step.ours, options=_options(frame.step.ours)))  # noqa: S704 - escaped


def _options(thought: Thought) -> list[tuple[Weighed, str, int]]:
    """What was weighed, the best first: with its worth in words, and in per cent of the best."""
    ranked = sorted(thought.options, key=lambda one: -(one.value or 0.0))
    ranked = [
        one for place, one in enumerate(ranked) if place < _MOST or one.action == thought.action
    ]
    most = max((abs(one.value or 0.0) for one in ranked), default=0.0) or 1.0
    return [(one, _worth(one), round(100 * max(0.0, one.value or 0.0) / most)) for one in ranked]


def _worth(option: Weighed) -> str:
    if option.value is None:
        return ""
    return percent(option.value) if option.unit == "%" else f"{option.value:.2f}"


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("cardsharp.viewer", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
