"""Web pages of the matches of any game; the server renders them.

Look first at `match_page`, the page of a match as steps to go through, and at `BoardRenderer`, by
which a game draws its table on that page (`load_board_renderer` in its game.py). `render_match`
makes the page's steps from a stored match.
"""

from typing import TYPE_CHECKING

from cardsharp.core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from cardsharp.pages.analysis_view import AnalysisView, build_analysis_view
    from cardsharp.pages.assets import BASE_ASSETS, HEADERS, AssetFolder, AssetSet
    from cardsharp.pages.board_renderer import BoardRenderer
    from cardsharp.pages.match_pages import match_list_page, match_page, standalone_match_page
    from cardsharp.pages.rendered_match import RenderedMatch, render_match
    from cardsharp.pages.templates import SiteInfo, standalone_page, template_environment

__all__ = (
    "BASE_ASSETS",
    "HEADERS",
    "AnalysisView",
    "AssetFolder",
    "AssetSet",
    "BoardRenderer",
    "RenderedMatch",
    "SiteInfo",
    "build_analysis_view",
    "match_list_page",
    "match_page",
    "render_match",
    "standalone_match_page",
    "standalone_page",
    "template_environment",
)

__getattr__ = lazy_exports(
    __name__,
    {
        "BASE_ASSETS": "assets",
        "HEADERS": "assets",
        "AnalysisView": "analysis_view",
        "AssetFolder": "assets",
        "AssetSet": "assets",
        "BoardRenderer": "board_renderer",
        "RenderedMatch": "rendered_match",
        "SiteInfo": "templates",
        "build_analysis_view": "analysis_view",
        "match_list_page": "match_pages",
        "match_page": "match_pages",
        "render_match": "rendered_match",
        "standalone_match_page": "match_pages",
        "standalone_page": "templates",
        "template_environment": "templates",
    },
)
