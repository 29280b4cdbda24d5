"""The pages of a contest: `/contest` at its arena, and the same as one file."""

import unicodedata
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

from jinja2 import BaseLoader, Environment, FileSystemLoader

from cardsharp.contest.drawing import Drawing
from cardsharp.contest.records import Records
from cardsharp.contest.status import Status
from cardsharp.contest.tables import Playing, shown
from cardsharp.time_zones import to_local
from cardsharp.viewer.base import Site, alone, templates

FOLDER = Path(__file__).with_name("page")  # where the templates lie, with what they load
EM = 12.0  # the size of letters in the bracket, in its own units


def page(
    site: Site, records: Records, running: Iterable[Playing] = (), others: Sequence[str] = ()
) -> str:
    """The page as the arena serves it that has these matches running, and `others` as contests."""
    status = Status(records, running)
    return _rendered("contest.jinja", status, site=site, alone=None, others=others)


def running_part(
    _site: Site, records: Records, running: Iterable[Playing] = (), _others: Sequence[str] = ()
) -> str:
    """The part of the page that changes with every move, and the version of all the rest."""
    return _rendered("running.jinja", Status(records, running))


def file_page(records: Records) -> str:
    """The page as a file that needs nothing else: no arena, no network, no script."""
    style, site = alone((FOLDER / "contest.css").read_text(encoding="utf-8")), Site("Cardsharp")
    return _rendered("contest.jinja", Status(records), site=site, alone=style, others=())


def _rendered(template: str, status: Status, **more: object) -> str:
    told = {"status": status, "names": status.names, "running": status.running()}
    return _PAGES.get_template(template).render(told, **more)


def _known(drawing: Drawing) -> str:
    """How many pairings there are; of a bracket also those to come, which may be one fewer."""
    number = sum(box.state != "needless" for box in drawing.boxes)
    unsure = any(box.dashed and box.state == "open" for box in drawing.boxes)
    return f"{number - 1} or {number}" if unsure else str(number)


def _short(name: str, room: float) -> str:
    """As much of a name as has room on one line; the font is not known, so it is a guess."""
    if _width(name) <= room:
        return name
    end = 0
    while _width(name[: end + 1]) <= room - EM:
        end += 1
    return f"{name[:end].rstrip()}…"


def _width(text: str) -> float:
    """About how wide a text is in bold letters."""
    return EM * sum(
        0.0 if unicodedata.combining(letter)
        else 1.0 if unicodedata.east_asian_width(letter) in "WF"
        else 0.4 if letter in "iljftrI.,:;'|!() "
        else 1.0 if letter in "mwMW@%"
        else 0.8 if letter.isupper()
        else 0.68
        for letter in text
    )  # fmt: skip


def environment(*more: BaseLoader) -> Environment:
    """The templates of a contest's pages, and those of other places that use them."""
    found = templates(*more, FileSystemLoader(FOLDER))
    found.globals |= {"short": _short, "shown": shown, "known": _known}
    found.globals["at"] = lambda length: f"{length:.1f}".removesuffix(".0")
    found.filters |= {"shown": shown, "local": to_local, "quoted": partial(quote, safe="")}
    return found


_PAGES = environment()
