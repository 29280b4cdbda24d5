"""Sections of a contest's page: which there are at each stage of the contest, in which order."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple


class PageSection(NamedTuple):
    """Section of the page: the name of its template, the id of its heading, and its label."""

    name: str
    anchor: str
    label: str


class PageStage(StrEnum):
    """Stage of a contest as its page shows it, which decides the order of its sections."""

    NOT_BEGUN = "not-begun"
    PRACTICE = "practice"
    RUNNING = "running"
    OVER = "over"


SECTION_NAMES_BY_STAGE = {
    PageStage.NOT_BEGUN: ("teams", "running_now"),
    PageStage.PRACTICE: ("practice", "running_now"),
    PageStage.RUNNING: (
        *("bracket", "running_now", "standings"),
        *("charts", "pairings", "practice"),
    ),
    PageStage.OVER: (
        *("bracket", "standings", "charts"),
        *("pairings", "practice", "running_now"),
    ),
}
"""Sections of the page, the most interesting first."""

BOARD_SECTION_NAMES = {
    PageStage.NOT_BEGUN: ("teams", "running_now"),
    PageStage.PRACTICE: ("practice", "running_now"),
    PageStage.RUNNING: ("bracket", "running_now"),
    PageStage.OVER: ("bracket", "running_now"),
}
"""Sections of the view for a projector, which fit on a screen without scrolling."""


def page_sections(
    names: Iterable[str], *, is_knockout: bool, has_charts: bool, has_ratings: bool
) -> list[PageSection]:
    """Return the sections with these names; the label of an empty section is empty."""
    sections = (
        PageSection("teams", "teams", "Teams"),
        PageSection("bracket", "bracket", "Bracket" if is_knockout else "Rounds"),
        PageSection("running_now", "running", "Running now"),
        PageSection("standings", "standings", "Standings"),
        PageSection("charts", "charts", "Charts" if has_charts else ""),
        PageSection("pairings", "pairings", "Pairings"),
        PageSection("practice", "practice", "Ratings" if has_ratings else ""),
    )
    section_by_name = {section.name: section for section in sections}
    return [section_by_name[name] for name in names]
