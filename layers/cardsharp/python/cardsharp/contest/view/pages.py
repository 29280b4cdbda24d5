"""The pages of a contest: `/contest` at its arena, and the same as one file."""

import unicodedata
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

from jinja2 import BaseLoader, Environment, FileSystemLoader

from cardsharp.contest.match_host import LiveMatch, format_points
from cardsharp.contest.results import ContestRecords
from cardsharp.contest.view.bracket_layout import BracketLayout
from cardsharp.contest.view.overview import ContestOverview
from cardsharp.core.time_zones import to_local
from cardsharp.pages.templates import SiteInfo, standalone_page, template_environment

FOLDER = Path(__file__).with_name("page")  # where the templates lie, with what they load
EM_PIXELS = 12.0  # the size of letters in the bracket, in its own units


def contest_page(
    site: SiteInfo,
    records: ContestRecords,
    running_matches: Iterable[LiveMatch] = (),
    contest_names: Sequence[str] = (),
) -> str:
    """Return the page as an arena with these running matches serves it.

    `contest_names` are the other contests.
    """
    status = ContestOverview(records, running_matches)
    return _rendered("contest.jinja", status, site=site, alone=None, others=contest_names)


def running_matches_fragment(
    _site: SiteInfo,
    records: ContestRecords,
    running: Iterable[LiveMatch] = (),
    _contest_names: Sequence[str] = (),
) -> str:
    """Return the part of the page that changes with every move, and the page's version."""
    return _rendered("running.jinja", ContestOverview(records, running))


def standalone_contest_page(records: ContestRecords) -> str:
    """Return the page as a standalone file: without arena, network or script."""
    style, site = (
        standalone_page((FOLDER / "contest.css").read_text(encoding="utf-8")),
        SiteInfo("Cardsharp"),
    )
    return _rendered("contest.jinja", ContestOverview(records), site=site, alone=style, others=())


def _rendered(template: str, status: ContestOverview, **more: object) -> str:
    context = {"status": status, "names": status.names, "running": status.running_matches()}
    return _PAGES.get_template(template).render(context, **more)


def _pairing_count(drawing: BracketLayout) -> str:
    """Return the number of pairings in words; the last game of a bracket may not be needed."""
    game_count = sum(box.state != "needless" for box in drawing.boxes)
    unsure = any(box.is_dashed and box.state == "open" for box in drawing.boxes)
    return f"{game_count - 1} or {game_count}" if unsure else str(game_count)


def _short(name: str, room: float) -> str:
    """Shorten a name to fit one line; the width is estimated, as the font is unknown."""
    if _width(name) <= room:
        return name
    end = 0
    while _width(name[: end + 1]) <= room - EM_PIXELS:
        end += 1
    return f"{name[:end].rstrip()}…"


def _width(text: str) -> float:
    """About how wide a text is in bold letters."""
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
    environment.globals |= {"short": _short, "shown": format_points, "known": _pairing_count}
    environment.globals["at"] = lambda length: f"{length:.1f}".removesuffix(".0")
    environment.filters |= {
        "shown": format_points,
        "local": to_local,
        "quoted": partial(quote, safe=""),
    }
    return environment


_PAGES = contest_template_environment()
