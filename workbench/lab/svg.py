"""Pictures as SVG text: lines and points over two axes."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 640, 480
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 40, 60

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: what it measures, its ends, and where it is marked."""

    label: str
    low: float
    high: float
    marks: Sequence[float]

    def share(self, value: float) -> float:
        """How far along the axis `value` is, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Picture:
    """Two axes, and what is drawn between them."""

    title: str
    x: Axis
    y: Axis

    def draw(self, *shapes: str) -> str:
        """The whole picture as an SVG document."""
        body = "\n".join((*self._frame(), *shapes))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'font-family="sans-serif" font-size="13">\n'
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n{body}\n</svg>\n'
        )

    def line(self, points: Sequence[Point], colour: str, *, dashed: bool = False) -> str:
        """A line through points."""
        path = " ".join("{:.1f},{:.1f}".format(*self._at(*point)) for point in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'

    def dot(self, point: Point, colour: str, half_height: float = 0) -> str:
        """A dot, with a bar of that half height for its error."""
        x, y = self._at(*point)
        _, top = self._at(point[0], min(self.y.high, point[1] + half_height))
        _, bottom = self._at(point[0], max(self.y.low, point[1] - half_height))
        return (
            f'<line x1="{x:.1f}" y1="{top:.1f}" x2="{x:.1f}" y2="{bottom:.1f}" '
            f'stroke="{colour}"/><circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
        )

    def _at(self, x: float, y: float) -> Point:
        across = LEFT + self.x.share(x) * (WIDTH - LEFT - RIGHT)
        return across, HEIGHT - BOTTOM - self.y.share(y) * (HEIGHT - TOP - BOTTOM)

    def _frame(self) -> list[str]:
        lines = [_text(WIDTH / 2, 24, self.title, size=16)]
        for mark in self.x.marks:
            x, low = self._at(mark, self.y.low)
            lines += [_grid(x, low, x, TOP), _text(x, low + 20, f"{mark:g}")]
        for mark in self.y.marks:
            left, y = self._at(self.x.low, mark)
            lines += [_grid(left, y, WIDTH - RIGHT, y), _text(left - 22, y + 5, f"{mark:g}")]
        lines.append(_text(WIDTH / 2, HEIGHT - 15, self.x.label))
        turned = f'transform="rotate(-90 18 {HEIGHT / 2:g})"'
        lines.append(_text(18, HEIGHT / 2, self.y.label, more=turned))
        return lines


def _grid(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#ddd"/>'


def _text(x: float, y: float, text: str, *, size: int = 13, more: str = "") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-size="{size}"'
    return f"<text {place} {more}>{escape(text)}</text>"
