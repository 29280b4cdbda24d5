"""The pages of a contest: `/contest` at its arena, and the same as one file."""

import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from jinja2 import BaseLoader, Environment, FileSystemLoader

from cardsharp.contest.match_host import LiveMatch, format_points
from cardsharp.contest.results import ContestRecords
from cardsharp.contest.view.bracket_layout import BracketLayout
from cardsharp.contest.view.overview import ContestOverview
from cardsharp.contest.view.progress import ContestProgress
from cardsharp.core.time_format import format_time_limit
from cardsharp.core.time_zones import to_local
from cardsharp.pages.templates import SiteInfo, standalone_page, template_environment

FOLDER = Path(__file__).with_name("page")  # where the templates lie, with what they load
EM_PIXELS = 12.0  # the size of letters in the bracket, in its own units


class ContestPageView(NamedTuple):
    """View of a contest that an arena serves.

    `contest_names` are the other contests. With `is_board` it is the view for a projector, which
    fits on a screen of 1920 by 1080 pixels without scrolling. `tag_notices` tell this viewer
    about teams that wait for wrong tags.
    """

    site: SiteInfo
    contest_names: Sequence[str] = ()
    is_board: bool = False
    current_time: datetime | None = None
    tag_notices: Sequence[str] = ()


def contest_page(
    view: ContestPageView, records: ContestRecords, running_matches: Iterable[LiveMatch] = ()
) -> str:
    """Return the page as an arena with these running matches serves it."""
    status = ContestOverview(records, running_matches)
    return _render_page(
        "contest.jinja",
        status,
        site=view.site,
        alone=None,
        others=view.contest_names,
        board=view.is_board,
        notices=view.tag_notices,
        progress=_find_progress(view, status),
    )


def running_matches_fragment(
    view: ContestPageView, records: ContestRecords, running_matches: Iterable[LiveMatch] = ()
) -> str:
    """Return notices and running matches as HTML: the parts that change with every move."""
    status = ContestOverview(records, running_matches)
    progress = _find_progress(view, status)
    return _render_page("fragment.jinja", status, progress=progress, notices=view.tag_notices)


def _find_progress(view: ContestPageView, status: ContestOverview) -> ContestProgress | None:
    return None if view.current_time is None else status.progress(view.current_time)


def format_minutes(duration: timedelta) -> str:
    """Return a duration in whole minutes as text, such as `1 h 05 min`."""
    hours, minutes = divmod(round(duration / timedelta(minutes=1)), 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"


def standalone_contest_page(records: ContestRecords) -> str:
    """Return the page as a standalone file: without arena, network or script."""
    style, site = (
        standalone_page(read_contest_style()),
        SiteInfo("Cardsharp"),
    )
    return _render_page(
        "contest.jinja",
        ContestOverview(records),
        site=site,
        alone=style,
        others=(),
        board=False,
        progress=None,
    )


def read_contest_style() -> str:
    """Return the style sheet of a contest's page, in addition to that of every page."""
    return (FOLDER / "contest.css").read_text(encoding="utf-8")


def _render_page(template: str, status: ContestOverview, **more: object) -> str:
    context = {"status": status, "names": status.names, "running": status.running_matches()}
    return _TEMPLATES.get_template(template).render(context, **more)


def _format_pairing_count(drawing: BracketLayout) -> str:
    """Return the number of pairings as text, such as `6 or 7`.

    There are two numbers while the last game of a bracket may not be needed.
    """
    game_count = sum(box.state != "needless" for box in drawing.boxes)
    unsure = any(box.is_dashed and box.state == "open" for box in drawing.boxes)
    return f"{game_count - 1} or {game_count}" if unsure else str(game_count)


def _shorten_name(name: str, max_width: float) -> str:
    """Shorten a name to fit one line; the width is estimated, as the font is unknown."""
    if _estimate_width(name) <= max_width:
        return name
    end = 0
    while _estimate_width(name[: end + 1]) <= max_width - EM_PIXELS:
        end += 1
    return f"{name[:end].rstrip()}…"


def _estimate_width(text: str) -> float:
    """Return the approximate width of a text in bold letters, in pixels."""
    return EM_PIXELS * sum(
        0.0 if unicodedata.combining(letter)
        else 1.0 if unicodedata.east_asian_width(letter) in "WF"
        else 0.4 if letter in "iljftrI.,:;'|!() "
        else 1.0 if letter in "mwMW@%"
        else 0.8 if letter.isupper()
        else 0.68
        for letter in text
    )  # fmt: skip


def contest_template_environment(*more: BaseLoader) -> Environment:
    """Return the environment of a contest's templates, with additional loaders."""
    environment = template_environment(*more, FileSystemLoader(FOLDER))
    environment.globals |= {
        "short": _shorten_name,
        "shown": format_points,
        "known": _format_pairing_count,
    }
    environment.globals["at"] = lambda length: f"{length:.1f}".removesuffix(".0")
    environment.filters |= {
        "shown": format_points,
        "local": to_local,
        "minutes": format_minutes,
        "time_limit": format_time_limit,
        "quoted": partial(quote, safe=""),
    }
    return environment


_TEMPLATES = contest_template_environment()
