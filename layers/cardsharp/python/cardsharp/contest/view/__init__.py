"""Pages, charts and bracket drawing of a contest.

Look first at `ContestOverview`, which has all that a contest's page shows, and at `contest_page`,
which renders it.
"""

from typing import TYPE_CHECKING

from cardsharp.core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from cardsharp.contest.view.bracket_layout import BracketLayout, layout_bracket, layout_rounds
    from cardsharp.contest.view.overview import ContestOverview, StandingsRow
    from cardsharp.contest.view.pages import (
        contest_page,
        running_matches_fragment,
        standalone_contest_page,
    )

__all__ = (
    "BracketLayout",
    "ContestOverview",
    "StandingsRow",
    "contest_page",
    "layout_bracket",
    "layout_rounds",
    "running_matches_fragment",
    "standalone_contest_page",
)

__getattr__ = lazy_exports(
    __name__,
    {
        "BracketLayout": "bracket_layout",
        "ContestOverview": "overview",
        "StandingsRow": "overview",
        "standalone_contest_page": "pages",
        "contest_page": "pages",
        "layout_bracket": "bracket_layout",
        "layout_rounds": "bracket_layout",
        "running_matches_fragment": "pages",
    },
)
