"""Measured points over two axes as pictures: drawn by matplotlib, kept as figures in JSON.

What the pictures in docs/ show lies in research/figures, so that they can be drawn again without
the hours that the measuring took: `cardsharp research pictures`.
"""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from pydantic import BaseModel, ConfigDict, ValidationError

from cardsharp.errors import ConfigError

FIGURES = Path(__file__).with_name("figures")
DOCS = Path(__file__).parents[1] / "docs"

Point = tuple[float, float, float, float]
"""Where on the x axis, the figure that was measured, and the ends of its 95 % interval."""


class Picture(BaseModel):
    """Points with their intervals; `diagonal` draws the line on which both axes say the same."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    x: str
    y: str
    points: tuple[Point, ...]
    logarithmic: bool = False
    diagonal: bool = False

    def write(self, file: Path) -> None:
        """Keep the figures in a .json, or draw them into a file of any other kind.

        Raises:
            ConfigError: there is no matplotlib to draw with.
        """
        if file.suffix == ".json":
            file.write_text(self.model_dump_json() + "\n", encoding="utf-8")
        else:
            _draw(self, file)


def pictures(
    *, folder: Annotated[Path, Parameter(help="Where the pictures are written.")] = DOCS
) -> None:
    """Draw the pictures of docs/ again, from the figures that are kept.

    Raises:
        ConfigError: a file of figures cannot be read, or there is no matplotlib.
    """
    for kept in sorted(FIGURES.glob("*.json")):
        try:
            picture = Picture.model_validate_json(kept.read_text(encoding="utf-8"))
        except ValidationError as error:
            raise ConfigError(f"{kept} holds no figures: {error}") from None
        picture.write(folder / f"{kept.stem}.svg")


def _draw(picture: Picture, file: Path) -> None:
    try:
        # Large, and nothing but pictures needs it.
        import matplotlib as mpl  # noqa: PLC0415
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ModuleNotFoundError:
        raise ConfigError(
            "Pictures need matplotlib: `make research-test` installs it; figures as .json do not."
        ) from None
    # Text stays text, and the same figures give the same file.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "cardsharp"}):
        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        axes = figure.subplots()
        across, up, low, high = zip(*picture.points, strict=True)
        if picture.diagonal:
            axes.axline((0, 0), slope=1, color="0.6", linestyle="--")
        below = [middle - end for middle, end in zip(up, low, strict=True)]
        above = [end - middle for middle, end in zip(up, high, strict=True)]
        axes.errorbar(across, up, yerr=(below, above), fmt="o-", capsize=3)
        if picture.logarithmic:
            axes.set_xscale("log")
            axes.set_xticks(across, [f"{mark:g}" for mark in across], minor=False)
            axes.minorticks_off()
        axes.set(title=picture.title, xlabel=picture.x, ylabel=picture.y)
        axes.grid(color="0.9")
        figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
