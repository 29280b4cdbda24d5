"""The turn of a match in which most changed, as an SVG that plays by itself: for a README."""

from collections.abc import Mapping

from markupsafe import Markup

from cardsharp.viewer.assets import asset
from cardsharp.viewer.base import templates
from cardsharp.viewer.explained import Explained
from cardsharp.viewer.shown import DrawnMatch, Frame

_SIZE = {"width": 860, "height": 560, "seconds": 1.6}  # of the picture, and of a step
_LEFT_OUT = ("unseen", "discard")  # parts of a table without which it can be followed


def moment(match: DrawnMatch, analysis: Explained | None) -> str:
    """The turn in which the worth of the match changed most; without an analysis the longest."""
    turns = [frame.step.turn for frame in match.frames]
    turn = max(turns, key=turns.count) if analysis is None else analysis.analysis.swings(1)[0].turn
    frames = [
        _shown(match, number, frame)
        for number, frame in enumerate(match.frames)
        if frame.step.turn == turn
    ]
    told = {
        **_SIZE,
        "label": f"{' v '.join(match.names)}: turn {turn}, card by card",
        "style": _ours(asset("look.css") + asset("viewer.css")),
        "symbols": {name: _ours(lines) for name, lines in match.board.symbols.items()},
        "game": match.game.name,
        "steps": len(frames),
        "frames": frames,
    }
    return templates().get_template("moment.svg").render(told) + "\n"


def _ours(text: str) -> Markup:
    """A file or a drawing of our own."""
    return Markup(text)  # noqa: S704 - nobody else's


def _shown(match: DrawnMatch, number: int, frame: Frame) -> Mapping[str, object]:
    """What a step's frame shows; within XHTML an SVG says what it is."""
    xml = '<svg xmlns="http://www.w3.org/2000/svg"'
    parts = [
        (name, _ours(str(part).replace("<svg", xml)))
        for name, part in match.table(number).items()
        if name not in _LEFT_OUT
    ]
    seat = "" if frame.step.seat is None else frame.step.seat
    return {"seat": seat, "parts": parts, "who": frame.who, "happened": frame.happened}
