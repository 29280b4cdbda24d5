"""A picture of strength over worlds, as SVG text."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

WIDTH, HEIGHT, MARGIN = 560, 300, 50
LOW, HIGH = 0.45, 0.75
"""The share of games at the bottom and at the top."""

_STYLE = (
    "text{font:12px sans-serif;fill:#444}.axis{stroke:#999}.grid{stroke:#ddd}"
    ".bar{stroke:#1668b0;stroke-width:1.5}.line{stroke:#1668b0;stroke-width:2;fill:none}"
    "circle{fill:#1668b0}"
)


@dataclass(frozen=True, slots=True)
class Measured:
    """The share of games won with that many worlds, and its 95 % interval."""

    worlds: int
    rate: float
    interval: tuple[float, float]


def picture(points: Sequence[Measured], title: str) -> str:
    """The curve with its intervals; worlds on a logarithmic axis."""
    first, last = log(points[0].worlds), log(points[-1].worlds)

    def across(worlds: int) -> float:
        return MARGIN + (WIDTH - 2 * MARGIN) * (log(worlds) - first) / ((last - first) or 1)

    def up(rate: float) -> float:
        share = (min(max(rate, LOW), HIGH) - LOW) / (HIGH - LOW)
        return HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * share

    drawn = [_level(up(share / 100), share) for share in range(45, 76, 5)]
    for point in points:
        spot, (low, high) = across(point.worlds), point.interval
        drawn += [
            (
                f'<line class="bar" x1="{spot:.0f}" x2="{spot:.0f}" y1="{up(low):.1f}" '
                f'y2="{up(high):.1f}"/>'
            ),
            f'<circle cx="{spot:.0f}" cy="{up(point.rate):.1f}" r="4"/>',
            (
                f'<text x="{spot:.0f}" y="{HEIGHT - MARGIN + 18}" text-anchor="middle">'
                f"{point.worlds}</text>"
            ),
        ]
    line = " ".join(f"{across(point.worlds):.0f},{up(point.rate):.1f}" for point in points)
    return "\n".join(
        [
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
                f'width="{WIDTH}" height="{HEIGHT}">'
            ),
            f'<style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/>',
            f'<text x="{WIDTH // 2}" y="24" text-anchor="middle">{title}</text>',
            *drawn,
            f'<polyline class="line" points="{line}"/>',
            f'<text x="{WIDTH // 2}" y="{HEIGHT - 8}" text-anchor="middle">worlds at most</text>',
            "</svg>",
            "",
        ]
    )


def _level(height: float, percent: int) -> str:
    return (
        f'<line class="grid" x1="{MARGIN}" x2="{WIDTH - MARGIN}" y1="{height:.1f}" '
        f'y2="{height:.1f}"/><text x="{MARGIN - 8}" y="{height + 4:.1f}" '
        f'text-anchor="end">{percent} %</text>'
    )
