"""The turn of a match in which most changed, as an SVG that plays by itself: for a README."""

from markupsafe import Markup

from cardsharp.viewer.assets import asset
from cardsharp.viewer.board import NOTHING
from cardsharp.viewer.explained import Explained
from cardsharp.viewer.shown import DrawnMatch, Frame

_WIDTH, _HEIGHT = 860, 560
_STEP = 1.6
"""Seconds that a step is shown."""

_LEFT_OUT = ("unseen", "discard")
"""Parts of a table without which it can be followed."""

_SVG = Markup(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
    'height="{height}" role="img" aria-label="{label}"><style>{style}{own}</style>'
    "<defs>{symbols}</defs>{frames}</svg>\n"
)
_FRAME = Markup(
    '<foreignObject class="frame f{number}" width="{width}" height="{height}">'
    '<div xmlns="http://www.w3.org/1999/xhtml" class="moment">'
    '<div class="board {game}" data-seat="{seat}">{parts}</div>'
    '<p class="happened"><b>{who}</b> {happened}</p></div></foreignObject>'
)
_PART = Markup('<section class="part {}">{}</section>')
_SYMBOL = Markup('<symbol id="{}" viewBox="0 0 24 24">{}</symbol>')


def moment(match: DrawnMatch, analysis: Explained | None) -> str:
    """The turn in which the worth of the match changed most; without an analysis the longest."""
    turn = _turn(match, analysis)
    steps = [
        (number, frame) for number, frame in enumerate(match.frames) if frame.step.turn == turn
    ]
    drawn = [_frame(match, place, *step) for place, step in enumerate(steps)]
    symbols = (
        _SYMBOL.format(name, Markup(lines))  # noqa: S704 - a game's own drawing
        for name, lines in match.board.symbols.items()
    )
    return _SVG.format(
        width=_WIDTH,
        height=_HEIGHT,
        label=f"{' v '.join(match.names)}: turn {turn}, card by card",
        style=Markup(asset("look.css") + asset("viewer.css")),  # noqa: S704 - our own files
        own=Markup(_played(len(steps))),  # noqa: S704 - numbers alone
        symbols=NOTHING.join(symbols),
        frames=NOTHING.join(drawn),
    )


def _turn(match: DrawnMatch, analysis: Explained | None) -> int:
    if analysis is not None:
        return analysis.analysis.swings(1)[0].turn
    turns = [frame.step.turn for frame in match.frames]
    return max(turns, key=turns.count)


def _frame(match: DrawnMatch, place: int, number: int, frame: Frame) -> Markup:
    parts = NOTHING.join(
        _PART.format(name, part)
        for name, part in match.table(number).items()
        if name not in _LEFT_OUT
    )
    # Within XHTML an SVG says what it is.
    xml = Markup(str(parts).replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"'))  # noqa: S704
    seat = "" if frame.step.seat is None else frame.step.seat
    return _FRAME.format(
        number=place,
        width=_WIDTH,
        height=_HEIGHT,
        game=match.game.name,
        seat=seat,
        parts=xml,
        who=frame.who,
        happened=frame.happened,
    )


def _played(steps: int) -> str:
    """One step after the other, without end; where motion is not wanted, the last."""
    whole = _STEP * (steps + 1)
    shown = 100 / (steps + 1)
    starts = "".join(f".f{place}{{animation-delay:{place * _STEP:.1f}s}}" for place in range(steps))
    last = f".f{steps - 1}"
    return (
        ".moment{background:var(--paper);color:var(--ink);font:15px/1.45 system-ui,sans-serif;"
        "padding:14px;border-radius:14px}.moment .happened{margin-top:12px}"
        ".frame{visibility:hidden;"
        f"animation:show {whole:.1f}s step-end infinite}}{starts}"
        f"{last}{{animation-name:stay}}"
        f"@keyframes show{{0%{{visibility:visible}}{shown:.2f}%{{visibility:hidden}}}}"
        f"@keyframes stay{{0%{{visibility:visible}}{2 * shown:.2f}%{{visibility:hidden}}}}"
        "@media (prefers-reduced-motion:reduce){.frame{animation:none}"
        f"{last}{{visibility:visible}}}}"
    )
