"""The turn of a match in which most changed, as an SVG that plays by itself: for a README."""

from collections.abc import Mapping

from markupsafe import Markup

from cardsharp.pages.analysis_view import AnalysisView
from cardsharp.pages.assets import BASE_ASSETS
from cardsharp.pages.rendered_match import RenderedMatch, RenderedStep
from cardsharp.pages.templates import template_environment

_PICTURE_VALUES = {"width": 860, "height": 560, "seconds": 1.6}  # of the picture, and of a step
_EXCLUDED_PARTS = ("unseen", "discard")  # parts of a table without which it can be followed


def render_highlight_svg(match: RenderedMatch, analysis: AnalysisView | None) -> str:
    """Return an SVG of the turn that changed the value most; without an analysis the longest."""
    turns = [frame.step.turn for frame in match.steps]
    turn = (
        max(turns, key=turns.count)
        if analysis is None
        else analysis.analysis.largest_swings(1)[0].turn
    )
    frames = [
        _frame_values(match, step_index, frame)
        for step_index, frame in enumerate(match.steps)
        if frame.step.turn == turn
    ]
    context = {
        **_PICTURE_VALUES,
        "label": f"{' v '.join(match.side_names)}: turn {turn}, card by card",
        "style": _mark_trusted(BASE_ASSETS.read("look.css") + BASE_ASSETS.read("viewer.css")),
        "symbols": {name: _mark_trusted(lines) for name, lines in match.renderer.symbols.items()},
        "game": match.game.name,
        "steps": len(frames),
        "frames": frames,
    }
    return template_environment().get_template("moment.svg").render(context) + "\n"


def _mark_trusted(text: str) -> Markup:
    """Mark an asset or a drawing of the project as safe markup."""
    return Markup(text)  # noqa: S704 - nobody else's


def _frame_values(
    match: RenderedMatch, step_index: int, frame: RenderedStep
) -> Mapping[str, object]:
    """Return the template values of one step's frame.

    Inside XHTML each SVG needs its namespace.
    """
    xml = '<svg xmlns="http://www.w3.org/2000/svg"'
    parts = [
        (name, _mark_trusted(str(part).replace("<svg", xml)))
        for name, part in match.board_at(step_index).items()
        if name not in _EXCLUDED_PARTS
    ]
    seat = "" if frame.step.seat is None else frame.step.seat
    return {
        "seat": seat,
        "parts": parts,
        "who": frame.player_name,
        "happened": frame.description_without_player,
    }
